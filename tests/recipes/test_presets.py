from __future__ import annotations

import pytest

from unweave.data import identity_of
from unweave.errors import InputError
from unweave.recipes import RECIPES
from unweave.recipes.presets import FAST, fitting_beta
from unweave.training.configuration import Configuration, configure

ROOMS = identity_of("rooms3d", size=32)


def fast(recipe: str, **settings: object) -> Configuration:
    return configure(recipe, ROOMS, {"fast": True, **settings})[0]


@pytest.mark.parametrize("recipe", FAST)
def test_every_preset_makes_a_shorter_run_than_the_published_settings(recipe: str) -> None:
    made, published = fast(recipe), configure(recipe, ROOMS, {})[0]
    assert made.base == published.base == recipe
    assert made.steps <= published.steps / 5
    rates = [made.optimiser.schedule.at(step, made.steps, made.optimiser.lr) for step in (0, made.steps - 1)]
    assert rates[0] > published.optimiser.lr
    assert rates[1] <= rates[0]


def test_what_is_given_takes_precedence_under_any_of_its_names() -> None:
    given = fast("beta_vae", steps=500, lr=2e-3, net="mlp", **{"kl.weight": 2.0})
    assert (given.steps, given.optimiser.lr, given.optimiser.schedule.kind) == (500, 2e-3, "constant")
    assert (given.net.name, given.terms[1].weight) == ("mlp", 2.0)
    assert fast("beta_vae", terms={"kl": 7.0}).terms[1].weight == 7.0
    assert fast("beta_vae", **{"optimiser.lr": 5e-4}).optimiser.lr == 5e-4
    assert fast("beta_vae", **{"kl.schedule": "constant"}).terms[1].schedule.kind == "constant"
    assert fast("qlae", weight_decay=0.5).optimiser.weight_decay == 0.5


def test_the_decay_of_a_whole_run_does_not_depend_on_its_steps() -> None:
    for steps in (6_000, 12_000, 48_000):
        optimiser = fast("qlae", steps=steps).optimiser
        rates = [optimiser.schedule.at(step, steps, optimiser.lr) for step in range(steps)]
        assert optimiser.weight_decay * sum(rates) == pytest.approx(4.0, rel=1e-3)
    constant = fast("qlae", lr=1e-3, steps=8_000).optimiser
    assert constant.weight_decay == pytest.approx(4.0 / 8)


def test_beta_fits_the_pixels_and_stays_a_number_in_the_configuration() -> None:
    assert [fitting_beta((1, size, size)) for size in (16, 32, 64, 128)] == [0.25, 1.0, 4.0, 4.0]
    assert configure("beta_vae", ROOMS, {"beta": "auto"})[0].terms[1].weight == 3.0
    assert configure("beta_vae", ROOMS, {"beta": "auto"})[0].name == configure("beta_vae", ROOMS, {"beta": 3})[0].name
    grey = identity_of("dsprites", size=16)
    assert [each.weight for each in configure("beta_tcvae", grey, {"beta": "auto"})[0].terms if each.weight] == [1, 1]


def test_weights_of_a_preset_fit_the_pixels() -> None:
    for data, times in ((ROOMS, 3), (identity_of("dsprites", size=32), 1), (identity_of("dsprites"), 4)):
        kl = configure("beta_vae", data, {"fast": True})[0].terms[1]
        assert (kl.schedule.start, kl.weight) == (64.0 * times, 8.0 * times)
    kl = fast("beta_vae", beta=5.0, **{"kl.start": 7.0, "kl.schedule": "linear"}).terms[1]
    assert (kl.schedule.start, kl.weight) == (7.0, 5.0)


def test_where_there_is_no_preset_a_sentence_says_which_there_are() -> None:
    with pytest.raises(InputError, match="no fast preset of pca: there are those of vae, beta_vae"):
        fast("pca")
    with pytest.raises(InputError, match="recipes with a parameter beta"):
        configure("qlae", ROOMS, {"beta": "auto"})
    with pytest.raises(InputError, match="with reduction=mean, set beta"):
        configure("beta_vae", ROOMS, {"beta": "auto", "reduction": "mean"})
    with pytest.raises(InputError, match=r"with reduction=mean, set kl.start, beta\."):
        fast("ada_gvae", reduction="mean")
    mean = fast("ada_gvae", reduction="mean", beta=0.001, **{"kl.schedule": "constant"})
    assert mean.terms[1].weight == 0.001
    with pytest.raises(InputError, match="fast must be true or false"):
        configure("beta_vae", ROOMS, {"fast": 3})
    assert FAST.keys() <= RECIPES.keys()
