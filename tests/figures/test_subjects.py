from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import unweave
from tests.training.small import trained
from unweave import Run
from unweave.data import identity_of
from unweave.errors import InputError
from unweave.figures.drawing.subjects import latent_values, methods_of, moved, names_of, ordered_latents, title_of
from unweave.latents import Gaussian
from unweave.recipes import Recipe, term
from unweave.recipes.composition import Source
from unweave.terms import KL, Reconstruction
from unweave.training import configure


def configured(recipe: Source, **settings: Any) -> Run:
    """Return what a title reads of a run, without training it."""
    configuration, _ = configure(recipe, identity_of("xysquares"), settings)  # six factors
    run = Run.__new__(Run)
    run.configuration, run.step = configuration, 20_000
    return run


@pytest.mark.parametrize(
    ("recipe", "settings", "shown"),
    [
        ("beta_vae", {}, "β-VAE"),
        ("beta_vae", {"beta": 2.0, "lr": 1e-3, "net.width": 0.5, "batch": 8}, "β-VAE (KL 2)"),
        ("beta_vae", {"latents": 4, "start": "jl1", "likelihood": "gaussian"}, "β-VAE (latents 4)"),
        (
            "beta_vae",
            {"beta": 2.0, "latents": 4, "reconstruction.weight": 3.0, "terms": {"jacobian_l1": 0.1}},
            "β-VAE + jacobian L1 (reconstruction 3, KL 2, jacobian L1 0.1, …)",
        ),
        ("beta_vae", {"terms": {"jacobian_l1": 0.1}}, "β-VAE + jacobian L1 (jacobian L1 0.1)"),  # and no "kl 4"
        ("beta_vae", {"terms": {"kl": 0}}, "β-VAE − KL"),
        ("ae", {"latent": "fsq", "reconstruction.weight": 2.0}, "AE + FSQ (reconstruction 2)"),
        ("qlae", {}, "QLAE"),  # with two latents per factor
        ("qlae", {"latents": 10}, "QLAE (latents 10)"),
        ("pca", {"latents": 3}, "PCA (latents 3)"),
    ],
)
def test_a_title_has_the_settings_that_differ_from_the_recipes(
    recipe: str, settings: dict[str, Any], shown: str
) -> None:
    steps = "" if recipe == "pca" else ", 20,000 steps"
    assert (
        title_of(configured(recipe, **settings, seed=3), data=unweave.load("xysquares"))
        == f"{shown} on XYSquares, seed 3{steps}"
    )


def test_the_number_of_latents_is_left_out_where_its_default_is_unknown() -> None:
    assert title_of(configured("qlae", latents=10)) == "QLAE on XYSquares, seed 0, 20,000 steps"


def test_a_recipe_of_ones_own_shows_its_weights() -> None:
    own = Recipe(recipe="mine", latent=Gaussian(size=3), terms=(term(Reconstruction()), term(KL(), 2.0)))
    assert title_of(configured(own, lr=0.1), "latents by KL") == (
        "mine (KL 2) on XYSquares, seed 0, 20,000 steps: latents by KL"
    )


def test_a_trained_run_has_a_title(tmp_path: Path) -> None:
    title = title_of(trained(tmp_path, steps=2))
    assert title == "β-VAE on own images, seed 0, 2 steps"


def test_runs_are_named_by_what_tells_them_apart(tmp_path: Path) -> None:
    first, second = (trained(tmp_path, steps=2, seed=seed, latents=2) for seed in (0, 1))
    other = trained(tmp_path, "ae", steps=2, latents=2)
    wider = trained(tmp_path, steps=2, seed=1, latents=3)
    assert names_of([first, other]) == ["β-VAE", "AE"]
    assert names_of([first, second]) == ["β-VAE\nseed 0", "β-VAE\nseed 1"]
    assert names_of([second, wider]) == [f"β-VAE\n{run.name[:6]}" for run in (second, wider)]
    first.label = "mine"
    assert names_of([first, second]) == ["mine", "β-VAE"]


def test_methods_name_the_weights_in_which_runs_of_a_recipe_differ(tmp_path: Path) -> None:
    weak, strong = (trained(tmp_path, steps=2, beta=beta, latents=2) for beta in (1, 8))
    again = trained(tmp_path, steps=2, beta=8, latents=2, seed=1)
    other = trained(tmp_path, "ae", steps=2, latents=2)
    assert methods_of([weak, strong, again, other]) == ["beta_vae (kl 1)", "beta_vae (kl 8)", "beta_vae (kl 8)", "ae"]
    assert methods_of([strong, again]) == ["beta_vae", "beta_vae"]


def test_values_are_those_of_the_run_and_are_described(plain: Run, gaussian: Run, quantised: Run) -> None:
    for run, count, phrase in (
        (plain, 11, "1 % to 99 % quantile of the data"),
        (gaussian, 11, "±2 standard deviations of the prior"),
        (quantised, 10, "each level once"),
    ):
        values, text = latent_values(run)
        assert torch.equal(values, run.traversal_values(steps=11))
        assert (values.shape[1], text) == (count, phrase)
    values, text = latent_values(quantised, steps=5, over="quantile")
    assert (values.shape[1], text) == (5, "1 % to 99 % quantile of the data")


def test_fewer_steps_than_levels_are_evenly_spaced(quantised: Run) -> None:
    values, text = latent_values(quantised, steps=4)
    levels = quantised.model.values
    assert levels is not None
    assert torch.equal(values, levels[:, [0, 3, 6, 9]])
    assert text == "4 of 10 levels"


def test_one_latent_is_moved() -> None:
    codes = moved(torch.tensor([1.0, 2.0, 3.0]), 1, torch.tensor([7.0, 8.0]))
    assert codes.tolist() == [[1.0, 7.0, 3.0], [1.0, 8.0, 3.0]]


def test_orders_have_names(gaussian: Run, quantised: Run, plain: Run) -> None:
    assert ordered_latents(gaussian)[1] == "KL"
    assert ordered_latents(gaussian, "kl") == ordered_latents(gaussian)
    assert ordered_latents(quantised)[1] == "entropy"
    assert ordered_latents(quantised, "entropy") == ordered_latents(quantised)
    assert ordered_latents(plain) == ordered_latents(plain, "spread")
    std = gaussian.summary.std
    assert ordered_latents(gaussian, "spread") == (sorted(range(4), key=lambda j: -std[j]), "standard deviation")
    with pytest.raises(InputError, match="order=entropy needs quantised latents"):
        ordered_latents(gaussian, "entropy")
