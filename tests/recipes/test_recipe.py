from __future__ import annotations

from typing import Any

import pytest

from unweave.errors import InputError
from unweave.latents import FSQ, Gaussian
from unweave.recipes import RECIPES, Optimiser, Recipe, Weighted, compose, term
from unweave.terms import KL, Capacity, Reconstruction
from unweave.terms.schedules import Schedule

PARTS: dict[str, Any] = {
    "recipe": "mine",
    "latent": Gaussian(size=3),
    "terms": (term(Reconstruction()), term(KL(), 2.0)),
}


def test_a_recipe_of_ones_own_from_the_same_parts() -> None:
    own = Recipe(**PARTS)
    own.check()
    assert own.terms[1] == Weighted(term=KL(), weight=2.0)
    assert own.net.model_dump() == {"name": "conv64", "activation": "relu", "width": 1.0}
    assert Recipe(**own.model_dump(mode="json")) == own


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"terms": (term(Reconstruction()), term(Reconstruction()))}, "the term reconstruction is listed twice"),
        ({"latent": FSQ()}, "the term kl cannot be combined with the latent fsq"),
        ({"changed": 2}, "changed has no effect without pairs"),
        ({"standardised": True}, "standardised images .* no Bernoulli likelihood: set likelihood=gaussian"),
        ({"start": "jl1", "latent": FSQ(), "terms": (term(Reconstruction()),)}, "start=jl1 .* needs the gaussian"),
        (
            {"steps": 10, "terms": (term(Reconstruction()), term(KL(), 1, Schedule(kind="linear", after=10)))},
            "the term kl: its schedule begins at step 10 of 10, after the end",
        ),
        (
            {"steps": 10, "optimiser": Optimiser(schedule=Schedule(kind="delayed", after=50))},
            "the learning rate: its schedule begins at step 50 of 10",
        ),
    ],
)
def test_parts_that_cannot_be_combined_are_refused(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Recipe(**{**PARTS, **changes}).check()


def test_what_depends_on_the_total_number_of_steps_is_named() -> None:
    ramp = (term(Reconstruction()), term(KL(), 1.0, Schedule(kind="linear", over=0.5)))
    assert Recipe(**PARTS).needs_total() is None
    assert Recipe(**{**PARTS, "terms": ramp}).needs_total() == "the schedule of the term kl"
    absolute = (term(Reconstruction()), term(KL(), 1.0, Schedule(kind="linear", over=500)))
    assert Recipe(**{**PARTS, "terms": absolute}).needs_total() is None
    capacity = (term(Reconstruction()), term(Capacity()))
    assert Recipe(**{**PARTS, "terms": capacity}).needs_total() == "the schedule of the term capacity"
    rate = Optimiser(schedule=Schedule(kind="cosine", start=1e-3, over=1.0))
    assert Recipe(**{**PARTS, "optimiser": rate}).needs_total() == "the schedule of the learning rate"


@pytest.mark.parametrize(
    ("label", "settings", "base"),
    [
        ("vae", {}, "vae"),
        ("vae", {"terms": {"jacobian_l1": 0.1, "kl": 0}}, "vae"),
        ("vae-mine", {"latent": "deterministic", "terms": {"kl": 0}}, "vae-mine"),
        ("vae+kl-mine", {}, "vae+kl-mine"),
        ("my-kl", {}, "my-kl"),
        ("-", {}, "-"),
    ],
)
def test_the_base_of_a_recipe_is_its_label_without_changes(label: str, settings: dict[str, Any], base: str) -> None:
    recipe = RECIPES["vae"]().model_copy(update={"recipe": label})
    assert compose(recipe, settings).base == base
    assert (compose(recipe, settings).recipe == label) == (not settings)
