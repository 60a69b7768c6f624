from __future__ import annotations

import pytest

from unweave.errors import InputError
from unweave.latents import FSQ, Gaussian
from unweave.recipes import RECIPES, Recipe, Weighted, compose, parameters_of, term
from unweave.schedules import Schedule
from unweave.terms import KL, Reconstruction

# Locatello et al. 2019, Tables 3 and 4; Rhodes & Lee 2021, appendix B; the authors' code of QLAE and Tripod.
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
        ("beta_vae", {"batch": 64, "steps": 300_000, "net": "conv64"}),
        ("qlae", {"batch": 128, "steps": 200_000, "net": "qlae"}),
        ("tripod", {"batch": 64, "steps": 250_000, "net": "tripod"}),
    ],
)
def test_training_settings_are_the_published_ones(name: str, fields: dict[str, object]) -> None:
    recipe = compose(name, {})
    assert {key: getattr(recipe, key) for key in fields} == fields


def test_optimisers_are_the_published_ones() -> None:
    vae, qlae, tripod = (compose(name, {}).optimiser for name in ("beta_vae", "qlae", "tripod"))
    assert (vae.name, vae.lr, vae.beta1, vae.beta2, vae.eps) == ("adam", 1e-4, 0.9, 0.999, 1e-8)
    assert (qlae.name, qlae.lr, qlae.weight_decay, qlae.clip) == ("adamw", 1e-3, 0.1, 1.0)
    assert (tripod.lr, tripod.weight_decay, tripod.clip) == (2e-4, 0.0, 1.0)


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


def test_parts_are_set_with_dots() -> None:
    settings = {
        "kl.schedule": "cosine",
        "kl.over": 0.5,
        "kl.reduction": "mean",
        "lr": 1e-3,
        "optimiser.beta1": 0.5,
        "latent.size": 4,
        "batch": 8,
    }
    recipe = compose("beta_vae", settings)
    kl = recipe.terms[1]
    assert (kl.schedule.kind, kl.schedule.over, kl.weight) == ("cosine", 0.5, 4.0)
    assert kl.term == KL(reduction="mean")
    assert (recipe.optimiser.lr, recipe.optimiser.beta1, recipe.latent.size, recipe.batch) == (1e-3, 0.5, 4, 8)


def test_terms_are_added_changed_and_left_out() -> None:
    recipe = compose("ae", {"latent": "fsq", "terms": {"kernel_multiinformation": 1e-4, "jacobian_l1": 0.1}})
    assert {w.name: w.weight for w in recipe.terms} == {
        "reconstruction": 1.0,
        "kernel_multiinformation": 1e-4,
        "jacobian_l1": 0.1,
    }
    assert [w.name for w in compose("beta_vae", {"terms": {"kl": 0}}).terms] == ["reconstruction"]
    fsq = {"latent": "fsq", "terms": {"quantisation": 0}}
    assert [w.name for w in compose("qlae", fsq).terms] == ["reconstruction", "commitment"]
    assert compose("vae", {"grouping": "mlvae"}).grouping is not None


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("ae", {"terms": {"kl": 1.0}}, "the term kl does not go with the latent deterministic: .*Gaussian posterior"),
        ("tripod", {"terms": {"quantisation": 1.0}}, "the term quantisation does not go with the latent fsq"),
        ("ae", {"grouping": "gvae"}, "adaptive grouping .* needs the gaussian latent"),
        ("ae", {"latent": "codebook"}, "learns its values by the term quantisation"),
        ("beta_vae", {"terms": {"reconstruction": 0}}, "nothing asks for a reconstruction"),
        ("beta_vae", {"beta": "high"}, "weight must be a valid number"),
        ("beta_tcvae", {"beta": 0.5}, "beta must be at least 1"),
        ("beta_vae", {"kl.schedule": "cubic"}, "kind must be 'constant'"),
        ("beta_vae", {"jacobian.weight": 1}, "unknown setting of beta_vae 'jacobian.weight'"),
        ("beta_vae", {"latent.levels": 3}, "unknown setting of the gaussian latent 'levels'"),
        ("beta_vae", {"kl.start": -5.0}, "start must be greater than or equal to 0"),
        ("ae", {"reconstruction.weight": 0.0}, "nothing asks for a reconstruction"),
        ("ae", {"terms": 3}, "terms takes weights by name"),
        ("ae", {"latent": "json:dumps"}, "latent 'json:dumps' is no kind of latent"),
        ("qlae", {"latents": 0}, "size must be greater than or equal to 1"),
        ("beta_vae", {"optimiser.lrr": 1}, "unknown setting of the optimiser 'lrr': did you mean 'lr'"),
        ("ada_gvae", {"grouping.knd": 1}, "unknown setting of .*grouping.* 'knd': did you mean 'kind'"),
        ("pca", {"steps": 5}, "takes no other steps"),
        ("pca", {"net": "conv64"}, "pca is fitted in one go, and takes no other net"),
        ("ica", {"terms": {"kl": 1.0}}, "ica is fitted in one go, and takes no other terms"),
        ("pca", {"latent": "fsq"}, "takes no other latent"),
        ("beta_vae", {"batch": 1}, "batch must be greater than or equal to 2"),
    ],
)
def test_what_cannot_be_combined_is_refused_with_the_reason(
    name: str, settings: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=message):
        compose(name, settings)


def test_a_recipe_of_ones_own_from_the_same_parts() -> None:
    own = Recipe(recipe="mine", latent=Gaussian(size=3), terms=(term(Reconstruction()), term(KL(), 2.0)))
    own.check()
    assert own.terms[1] == Weighted(term=KL(), weight=2.0)
    twice = Recipe(recipe="mine", latent=Gaussian(), terms=(term(Reconstruction()), term(Reconstruction())))
    with pytest.raises(InputError, match="the term reconstruction is there twice"):
        twice.check()


def test_parameters_are_shown_with_their_defaults() -> None:
    assert parameters_of("beta_vae") == {"beta": 4.0, "latents": 10}


def test_an_added_term_takes_a_schedule_and_its_own_settings_come_first() -> None:
    added = compose(
        "beta_vae", {"terms": {"jacobian_l1": 0.1}, "jacobian_l1.schedule": "linear", "jacobian_l1.over": 0.5}
    )
    assert added.terms[2].schedule == Schedule(kind="linear", over=0.5)
    capacity = compose("annealed_vae", {"capacity.over": 0.5}).terms[1]
    assert capacity.term.model_dump()["over"] == 0.5
    assert compose("dip_vae_i", {"dip.kind": "ii"}).terms[2].term.model_dump()["kind"] == "ii"
    assert compose("tripod", {"optimiser.clip": None}).optimiser.clip is None
