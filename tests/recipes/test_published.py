from __future__ import annotations

from typing import Any

import pytest

from unweave.latents import FSQ, Gaussian
from unweave.recipes import RECIPES, Recipe, compose, known_settings, parameters_of
from unweave.recipes.published import set_by

# Locatello et al. 2019, Tables 3 and 4; Rhodes & Lee 2021, appendix B; the authors' code of QLAE and Tripod;
# disent 0.8.0 for InfoVAE, DFC-VAE and triplets.
PUBLISHED = {
    "ae": {"reconstruction": 1},
    "vae": {"reconstruction": 1, "kl": 1},
    "beta_vae": {"reconstruction": 1, "kl": 4},
    "annealed_vae": {"reconstruction": 1, "capacity": 1000},
    "factor_vae": {"reconstruction": 1, "kl": 1, "total_correlation_discriminator": 30},
    "beta_tcvae": {"reconstruction": 1, "kl": 1, "total_correlation": 3},
    "dip_vae_i": {"reconstruction": 1, "kl": 1, "dip": 5},
    "dip_vae_ii": {"reconstruction": 1, "kl": 1, "dip": 5},
    "jl1_vae": {"reconstruction": 1, "kl": 4, "jacobian_l1": 0.1},
    "jl2_vae": {"reconstruction": 1, "kl": 4, "jacobian_l2": 0.1},
    "info_vae": {"reconstruction": 1, "kl": 1.5, "mmd": 3.5},
    "dfc_vae": {"reconstruction": 0.5, "feature_reconstruction": 0.5, "kl": 1},
    "control_vae": {"reconstruction": 1, "controlled_kl": 1},
    "triplet_vae": {"reconstruction": 1, "kl": 1, "triplet": 100},
    "triplet_ae": {"reconstruction": 1, "triplet": 100},
    "ada_triplet_vae": {"reconstruction": 1, "kl": 1, "triplet": 100},
    "ada_triplet_ae": {"reconstruction": 1, "triplet": 100},
    "ada_ae": {"reconstruction": 1},
    "ada_gvae": {"reconstruction": 1, "kl": 1},
    "ada_ml_vae": {"reconstruction": 1, "kl": 1},
    "qlae": {"reconstruction": 1, "quantisation": 0.01, "commitment": 0.01},
    "tripod_naive": {
        "reconstruction": 1,
        "quantisation": 0.01,
        "commitment": 0.01,
        "kernel_multiinformation": 1e-6,
        "hessian_penalty": 1e-6,
    },
    "tripod": {"reconstruction": 1, "kernel_multiinformation": 1e-4, "normalised_hessian": 1e-2},
    "tripod_without_nhp": {"reconstruction": 1, "kernel_multiinformation": 1e-4},
    "tripod_without_klm": {"reconstruction": 1, "normalised_hessian": 1e-2},
    "tripod_finer": {"reconstruction": 1, "kernel_multiinformation": 1e-4, "normalised_hessian": 1e-2},
    "pca": {},
    "ica": {},
}


@pytest.mark.parametrize("name", RECIPES)
def test_terms_and_weights_are_the_published_ones(name: str) -> None:
    recipe = compose(name, {})
    assert recipe.recipe == name
    assert {w.name: w.weight for w in recipe.terms} == PUBLISHED[name]
    assert Recipe(**recipe.model_dump(mode="json")) == recipe


@pytest.mark.parametrize(
    ("name", "fields"),
    [
        ("beta_vae", {"batch": 64, "steps": 300_000}),
        ("qlae", {"batch": 128, "steps": 200_000}),
        ("tripod", {"batch": 64, "steps": 250_000}),
    ],
)
def test_training_settings_are_the_published_ones(name: str, fields: dict[str, object]) -> None:
    recipe = compose(name, {})
    assert {key: getattr(recipe, key) for key in fields} == fields


def test_nets_are_the_published_ones() -> None:
    nets = {name: compose(name, {}).net.name for name in ("beta_vae", "qlae", "tripod", "tripod_naive", "pca")}
    assert nets == {"beta_vae": "conv64", "qlae": "qlae", "tripod": "tripod", "tripod_naive": "tripod", "pca": "linear"}


def test_optimisers_are_those_of_the_code_or_those_of_the_tables() -> None:
    """Locatello et al. 2019, Table 4; QLAE's and Tripod's code; Hsu et al. 2024, Table 4. None is mixed."""
    vae = compose("beta_vae", {}).optimiser
    assert (vae.name, vae.lr, vae.beta1, vae.beta2, vae.eps) == ("adam", 1e-4, 0.9, 0.999, 1e-8)
    for name in ("tripod", "tripod_naive", "tripod_without_nhp", "tripod_without_klm", "tripod_finer"):
        code, paper = (compose(name, {"protocol": protocol}) for protocol in ("code", "paper"))
        assert (code.optimiser.name, code.optimiser.lr, code.optimiser.beta2) == ("adam", 2e-4, 0.999)
        assert (code.optimiser.weight_decay, code.optimiser.clip, code.steps, code.batch) == (0.0, 1.0, 250_000, 64)
        assert (paper.optimiser.name, paper.optimiser.lr, paper.optimiser.beta2) == ("adamw", 1e-3, 0.99)
        assert (paper.optimiser.clip, paper.steps, paper.batch) == (None, 200_000, 64)
    code, paper = (compose("qlae", {"protocol": protocol}) for protocol in ("code", "paper"))
    assert (code.optimiser.name, code.optimiser.lr, code.optimiser.beta2) == ("adamw", 1e-3, 0.999)
    assert (code.optimiser.weight_decay, code.optimiser.clip, code.batch) == (0.1, 1.0, 128)
    assert (paper.optimiser.beta2, paper.optimiser.clip, paper.batch) == (0.99, None, 64)
    assert compose("qlae", {"weight_decay": 0.001}).optimiser.weight_decay == 0.001


def test_two_latents_a_factor_where_the_paper_has_them() -> None:
    assert compose("tripod", {}, factors=6).latent == FSQ(size=12, levels=12)
    assert compose("tripod", {}, factors=None).latent.size == 10
    assert compose("tripod", {"latents": 5}, factors=6).latent.size == 5
    assert compose("beta_vae", {}, factors=6).latent == Gaussian(size=10)
    assert compose("tripod_finer", {}).latent.model_dump()["levels"] == 144


def test_ramps_are_a_third_of_the_run() -> None:
    (_, kl, jacobian) = compose("jl1_vae", {}).terms
    for weighted, final in ((kl, 4.0), (jacobian, 0.1)):
        assert weighted.schedule.at(50_000, 300_000, weighted.weight) == pytest.approx(final / 2)
        assert weighted.schedule.at(100_000, 300_000, weighted.weight) == pytest.approx(final)


def test_parameters_are_shown_with_their_defaults() -> None:
    assert parameters_of("beta_vae") == {"beta": 4.0, "latents": 10}


@pytest.mark.parametrize("name", RECIPES)
def test_what_a_parameter_sets_is_stated(name: str) -> None:
    """Compared with what changes when the recipe is called with another value."""
    others = {"estimator": "stratified", "divergence": "one_way", "weight_decay": 0.5}
    for parameter, default in parameters_of(name).items():
        if parameter in ("protocol", "alpha"):  # they set several
            assert set_by(name, parameter) == ""
            continue
        usual = 4 if default is None else default
        other = others.get(parameter) or usual + 1
        before, after = (compose(name, {parameter: value}).model_dump(mode="json") for value in (default, other))
        paths = known_settings(before)
        changed = {key for key, path in paths.items() if _at(before, path) != _at(after, path)}
        assert changed == {set_by(name, parameter)}, parameter


def _at(made: Any, path: tuple[Any, ...]) -> Any:
    for step in path:
        made = made[step] if isinstance(step, int) else made.get(step)
    return made
