from __future__ import annotations

from typing import Any

import pytest

from unweave.errors import InputError
from unweave.latents import Gaussian
from unweave.recipes import Recipe, compose, known_settings, term
from unweave.terms import KL, BlurredReconstruction, NormalisedHessian, Reconstruction
from unweave.terms.schedules import Schedule


def own_recipe(*, strength: float = 2.0) -> Recipe:
    """A recipe of the user's own."""
    return Recipe(recipe="mine", latent=Gaussian(size=3), terms=(term(Reconstruction()), term(KL(), strength)))


FINISHED = own_recipe(strength=7.0)


def weights(recipe: Recipe) -> dict[str, float]:
    return {weighted.name: weighted.weight for weighted in recipe.terms}


def test_parts_are_set_with_dots() -> None:
    settings = {
        "kl.schedule": "cosine",
        "kl.over": 0.5,
        "kl.reduction": "mean",
        "lr": 1e-3,
        "lr.schedule": "linear",
        "lr.over": 0.1,
        "optimiser.beta1": 0.5,
        "latent.size": 4,
        "net.width": 0.5,
        "batch": 8,
    }
    recipe = compose("beta_vae", settings)
    kl = recipe.terms[1]
    assert (kl.schedule.kind, kl.schedule.over, kl.weight) == ("cosine", 0.5, 4.0)
    assert kl.term == KL(reduction="mean")
    assert (recipe.optimiser.lr, recipe.optimiser.beta1, recipe.latent.size, recipe.batch) == (1e-3, 0.5, 4, 8)
    assert recipe.optimiser.schedule == Schedule(kind="linear", over=0.1)
    assert recipe.net.model_dump() == {"name": "conv64", "activation": "relu", "width": 0.5}


def test_terms_are_added_changed_and_removed() -> None:
    recipe = compose("ae", {"latent": "fsq", "terms": {"kernel_multiinformation": 1e-4, "jacobian_l1": 0.1}})
    assert weights(recipe) == {"reconstruction": 1.0, "kernel_multiinformation": 1e-4, "jacobian_l1": 0.1}
    assert recipe.recipe == "ae+fsq+jacobian_l1+kernel_multiinformation"
    removed = compose("beta_vae", {"terms": {"kl": 0}})
    assert (weights(removed), removed.recipe) == ({"reconstruction": 1.0}, "beta_vae-kl")
    fsq = {"latent": "fsq", "terms": {"quantisation": 0}}
    assert list(weights(compose("qlae", fsq))) == ["reconstruction", "commitment"]
    assert compose("jl1_vae", {"grouping": "mlvae"}).recipe == "jl1_vae+pairs"


def test_a_term_of_weight_zero_is_no_part_of_a_recipe() -> None:
    tcvae, vae = compose("beta_tcvae", {"beta": 1}), compose("vae", {})
    assert tcvae.terms == vae.terms


def test_the_augmented_loss_has_the_published_weight() -> None:
    """Michlo et al. 2023, eq. 11 and sec. 6.1: a radius of 31 and α = 63² = 3969."""
    recipe = compose("beta_vae", {"blur": 31, "likelihood": "gaussian", "reduction": "mean", "standardised": True})
    assert weights(recipe) == {"reconstruction": 1.0, "kl": 4.0, "blurred_reconstruction": 3969.0}
    assert recipe.terms[2].term == BlurredReconstruction(radius=31, reduction="mean")
    assert recipe.terms[0].term == Reconstruction(reduction="mean")
    with pytest.raises(InputError, match="blur must be a radius in pixels"):
        compose("beta_vae", {"blur": 0})


def test_recipes_of_ones_own_take_settings_like_named_ones() -> None:
    for source in (own_recipe, "tests.recipes.test_composing:own_recipe"):
        made = compose(source, {"strength": 5, "steps": 10, "kl.schedule": "linear"})
        assert (made.steps, weights(made)["kl"], made.terms[1].schedule.kind) == (10, 5.0, "linear")
    for finished in (FINISHED, "tests.recipes.test_composing:FINISHED"):
        made = compose(finished, {"steps": 10, "batch": 4})
        assert (made.steps, made.batch, weights(made)["kl"]) == (10, 4, 7.0)
    with pytest.raises(InputError, match="unknown setting of mine 'stps': did you mean 'steps'"):
        compose(FINISHED, {"stps": 3})
    with pytest.raises(InputError, match="must return a Recipe, got dict"):
        compose(dict, {})  # type: ignore[arg-type]


def test_terms_with_second_derivatives_get_a_smooth_net_unless_told() -> None:
    assert compose("tripod", {"net": "conv64"}).net.settings["activation"] == "gelu"
    assert compose("ae", {"terms": {"normalised_hessian": 1.0}}).net.settings["activation"] == "gelu"
    assert compose("tripod_naive", {"net": "qlae"}).net.settings["activation"] == "gelu"
    assert compose("tripod", {"net": "conv64", "net.activation": "silu"}).net.settings["activation"] == "silu"
    assert compose("tripod", {"net": "conv64", "net.activation": "relu"}).net.settings["activation"] == "relu"
    assert compose("tripod", {"net": {"name": "mlp", "activation": "tanh"}}).net.settings["activation"] == "tanh"
    assert compose("beta_vae", {}).net.settings["activation"] == "relu"
    smooth = Recipe(recipe="r", latent=Gaussian(), terms=(term(Reconstruction()), term(NormalisedHessian())))
    assert compose(smooth, {}).net.settings["activation"] == "relu"  # a finished Recipe is left as it is


@pytest.mark.parametrize(
    ("name", "settings", "message"),
    [
        ("betavae", {}, "unknown recipe 'betavae': did you mean 'beta_vae'"),
        ("ae", {"terms": {"kl": 1.0}}, "the term kl cannot be combined with the latent deterministic: .*Gaussian"),
        ("tripod", {"terms": {"quantisation": 1.0}}, "the term quantisation cannot be combined with the latent fsq"),
        ("ae", {"grouping": "gvae"}, "adaptive grouping .* needs the posterior of the gaussian latent"),
        ("ae", {"grouping": "gva"}, "unknown grouping 'gva': did you mean 'gvae'"),
        ("beta_vae", {"grouping": "gvae"}, "beta_vae with grouping=gvae is the recipe ada_gvae"),
        ("ada_gvae", {"grouping": "mlvae"}, "is the recipe ada_ml_vae"),
        ("dip_vae_i", {"dip.kind": "ii"}, "turns one named recipe into another"),
        ("ae", {"latent": "codebook"}, "learns its values through the term quantisation"),
        ("beta_vae", {"terms": {"reconstruction": 0}}, "no term reconstructs the images"),
        ("beta_vae", {"terms": {"kl": "much"}}, "the weight of the term kl must be a number, got 'much'"),
        ("beta_vae", {"beta": "high"}, "beta_vae: beta must be a valid number"),
        ("beta_vae", {"latents": True}, "beta_vae: latents must not be a boolean, got True"),
        ("beta_vae", {"batch": True}, "batch must not be a boolean"),
        ("tripod", {"protocol": "table"}, "protocol must be 'code' or 'paper'"),
        ("beta_tcvae", {"beta": 0.5}, "beta must be at least 1"),
        ("beta_vae", {"kl.schedule": "cubic"}, "kind must be 'constant'"),
        ("beta_vae", {"kl.schedul": "linear"}, "unknown setting of beta_vae 'kl.schedul': did you mean 'kl.schedule'"),
        ("beta_vae", {"kl.over": 0.5}, "kl.over has no effect on a constant schedule: set kl.schedule to linear"),
        ("beta_vae", {"kl.schedule": "delayed", "kl.over": 0.5}, "kl.over has no effect on a delayed schedule"),
        ("beta_vae", {"lr.start": 1e-3}, "lr.start has no effect on a constant schedule"),
        ("beta_vae", {"kl.schedule": "linear", "kl.after": 50, "steps": 40}, "begins at step 50 of 40, after the end"),
        ("beta_vae", {"changed": 1}, "changed has no effect without pairs"),
        ("beta_vae", {"terms": {"kl": 0}, "kl.reduction": "mean"}, "kl.reduction has no effect: the weight .* kl is 0"),
        ("beta_vae", {"terms": {"kl": 2}, "kl.weight": 3}, "kl.weight is given twice: --term sets it as well"),
        ("beta_vae", {"beta": 2, "kl.weight": 3}, "kl.weight is given twice: beta sets it as well"),
        ("beta_vae", {"beta": 2, "terms": {"kl": 3}}, "kl.weight is given twice: beta sets it as well"),
        ("beta_vae", {"latents": 5, "latent.size": 4}, "latent.size is given twice: latents sets it as well"),
        ("beta_vae", {"lr": 0.2, "optimiser.lr": 0.1}, "optimiser.lr is given twice: lr sets it as well"),
        ("ae", {"blur": 3, "blurred_reconstruction.weight": 5}, "is given twice: blur sets it as well"),
        ("beta_vae", {"optimiser.clipped": "decayed"}, "optimiser.clipped has no effect without clipping"),
        ("beta_vae", {"jacobian.weight": 1}, "unknown setting of beta_vae 'jacobian.weight'"),
        ("beta_vae", {"latent.levels": 3}, "unknown setting of beta_vae 'latent.levels'"),
        ("beta_vae", {"net.actvation": "gelu"}, "'net.actvation': did you mean 'net.activation'"),
        ("beta_vae", {"net.activation": "sine"}, "activation must be 'relu'"),
        ("beta_vae", {"kl.schedule": "linear", "kl.start": -5.0}, "start must be greater than or equal to 0"),
        ("ae", {"reconstruction.weight": 0.0}, "no term reconstructs the images"),
        ("ae", {"terms": 3}, "terms must map names to weights"),
        ("ae", {"latent": "json:dumps"}, "latent 'json:dumps' must be a subclass"),
        ("qlae", {"latents": 0}, "size must be greater than or equal to 1"),
        ("beta_vae", {"optimiser.lrr": 1}, "'optimiser.lrr': did you mean 'optimiser.lr'"),
        ("ada_gvae", {"grouping.divergnce": 1}, "did you mean 'grouping.divergence'"),
        ("pca", {"steps": 5}, "pca is fitted in closed form: steps cannot be changed"),
        ("pca", {"net": "conv64"}, "net cannot be changed"),
        ("ica", {"terms": {"kl": 1.0}}, "ica is fitted in closed form: terms cannot be changed"),
        ("pca", {"latent": "fsq"}, "latent cannot be changed"),
        ("beta_vae", {"batch": 1}, "batch must be greater than or equal to 2"),
    ],
)
def test_what_does_not_fit_is_refused_with_the_reason(name: str, settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        compose(name, settings)


def test_an_added_term_takes_a_schedule_and_its_own_settings_come_first() -> None:
    added = compose(
        "beta_vae", {"terms": {"jacobian_l1": 0.1}, "jacobian_l1.schedule": "linear", "jacobian_l1.over": 0.5}
    )
    assert added.terms[2].schedule == Schedule(kind="linear", over=0.5)
    capacity = compose("annealed_vae", {"capacity.over": 0.5}).terms[1]
    assert capacity.term.model_dump()["over"] == 0.5
    assert compose("tripod", {"optimiser.clip": None}).optimiser.clip is None


def test_every_known_setting_can_be_set_to_its_own_value() -> None:
    """The list of known settings and what composing accepts are the same."""
    for name in ("jl1_vae", "tripod", "ada_gvae", "factor_vae"):
        made = compose(name, {}).model_dump(mode="json")
        for key, path in known_settings(made).items():
            *parents, last = path
            value: Any = made
            for step in parents:
                value = value[step]
            if last not in value:
                continue  # it came later, and its default is not written
            value = value[last]
            if last in ("start", "after", "over") or key in ("changed", "optimiser.clipped"):
                continue  # some have no effect, and are refused
            assert compose(name, {key: value}) == compose(name, {}), key


@pytest.mark.parametrize(
    ("name", "settings", "term", "expected"),
    [
        ("beta_vae", {"beta": 2, "kl.schedule": "linear"}, "kl", (2, "linear", {})),
        ("qlae", {"protocol": "paper", "lr": 1e-4}, "commitment", (0.01, "constant", {})),
        (
            "annealed_vae",
            {"gamma": 10.0, "capacity": 15.0, "capacity.over": 0.5},
            "capacity",
            (10, "constant", {"maximum": 15, "over": 0.5}),
        ),
        ("factor_vae", {"gamma": 1, "kl.weight": 2}, "kl", (2, "constant", {})),
        (
            "jl1_vae",
            {"beta": 1.0, "gamma": 0.025, "jacobian_l1.columns": 1, "jacobian_l1.share": 0.25},
            "jacobian_l1",
            (0.025, "linear", {"columns": 1, "share": 0.25}),
        ),
        (
            "tripod",
            {"nhp": 1e-4, "normalised_hessian.share": 0.05, "net": "conv64"},
            "normalised_hessian",
            (1e-4, "constant", {"share": 0.05}),
        ),
    ],
)
def test_settings_that_only_look_alike_are_both_set(
    name: str, settings: dict[str, Any], term: str, expected: tuple[float, str, dict[str, Any]]
) -> None:
    (found,) = (weighted for weighted in compose(name, settings).terms if weighted.name == term)
    weight, schedule, fields = expected
    assert (found.weight, found.schedule.kind) == (weight, schedule)
    assert fields.items() <= found.term.model_dump().items()
