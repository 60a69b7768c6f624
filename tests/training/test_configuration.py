from __future__ import annotations

from typing import Any

import pytest
import torch

import unweave
from tests.training.small import bars, pictures
from unweave.errors import InputError
from unweave.latents import Gaussian
from unweave.recipes import Recipe, term
from unweave.terms import KL, Reconstruction
from unweave.training.configuration import Configuration, DataIdentity, changed_of, configure


def test_the_name_is_a_function_of_everything_that_is_learned() -> None:
    data = bars()
    base = configure("beta_vae", data, {})[0]
    assert configure("beta_vae", data, {"beta": 4.0, "steps": 300_000})[0].name == base.name
    assert configure("beta_vae", data, {"device": "cpu", "threads": 3, "log_steps": 7})[0].name == base.name
    others: list[dict[str, Any]] = [{"beta": 5.0}, {"seed": 1}, {"steps": 10}, {"lr": 1e-3}, {"kl.schedule": "cosine"}]
    others += [{"precision": "bf16-mixed"}, {"snapshots": 3}, {"latents": 9}, {"net": "mlp"}]
    names = {configure("beta_vae", data, settings)[0].name for settings in others}
    assert len(names | {base.name}) == len(others) + 1


def test_the_name_stays_what_it_is() -> None:
    """A change of this number orphans every run that was ever made: it belongs under its heading in the changelog."""
    assert configure("beta_vae", bars(), {})[0].name == "5f9b9934df605bc4"


def test_a_configuration_survives_being_written() -> None:
    for recipe in unweave.RECIPES:
        made = configure(recipe, bars(), {})[0]
        again = Configuration(**made.model_dump(mode="json"))
        assert again == made
        assert again.name == made.name


def test_data_is_told_by_its_images() -> None:
    same, other = pictures(), pictures()
    other[33, 0, 0] = 9
    assert DataIdentity.of(unweave.load(same)) == DataIdentity.of(unweave.load(pictures()))
    assert DataIdentity.of(unweave.load(same)).fingerprint != DataIdentity.of(unweave.load(other)).fingerprint
    assert DataIdentity.of(unweave.load("xysquares", size=16)).options == {"size": 16}


def test_a_recipe_of_ones_own_is_taken_as_it_is() -> None:
    own = Recipe(recipe="mine", latent=Gaussian(size=3), terms=(term(Reconstruction()), term(KL(), 2.0)), net="mlp")
    made = configure(own, bars(), {"seed": 3})[0]
    assert (made.recipe, made.seed, made.terms) == ("mine", 3, own.terms)
    with pytest.raises(InputError, match="batch: a Recipe of your own is complete"):
        configure(own, bars(), {"batch": 3})


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"devices": 3}, "a batch of 64 cannot be parted among 3 devices"),
        ({"steps": 3, "snapshots": 4}, "4 snapshots cannot be taken in 3 steps"),
        ({"sed": 3}, "unknown setting of beta_vae 'sed': did you mean 'seed'"),
        ({"checkpoint_second": 3}, "did you mean 'checkpoint_seconds'"),
        ({"seed": 2**32}, "seed must be less than"),
    ],
)
def test_wrong_settings_are_sentences(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        configure("beta_vae", bars(), settings)


def test_what_is_no_data_is_a_sentence() -> None:
    with pytest.raises(InputError, match=r"data must be a data set, as unweave.load gives, got Tensor"):
        configure("beta_vae", torch.zeros(3), {})  # type: ignore[arg-type]


def test_pairs_need_factors_and_an_even_batch() -> None:
    with pytest.raises(InputError, match="has no factors to pair images by"):
        configure("ada_gvae", unweave.load(pictures()), {})
    with pytest.raises(InputError, match="batch must be even, got 9"):
        configure("ada_gvae", bars(), {"batch": 9})
    with pytest.raises(InputError, match="between 0 and 3 factors of this space can change"):
        configure("ada_gvae", bars(), {"changed": 4})
    made = configure("ada_gvae", bars(), {})[0]
    assert changed_of(made, bars()) == (1, 2)
    assert changed_of(configure("ada_gvae", bars(), {"changed": 3})[0], bars()) == 3


def test_ones_own_factors_are_part_of_the_data() -> None:
    points = torch.arange(72)[:, None] % 4
    first, second = (DataIdentity.of(unweave.load(pictures(), factors=table)) for table in (points, points.flip(0)))
    assert first.fingerprint != second.fingerprint


def test_a_part_may_be_set_to_none() -> None:
    assert configure("qlae", bars(), {"optimiser.clip": None})[0].optimiser.clip is None
    with pytest.raises(InputError, match="pairs that differ in nothing"):
        configure("ada_gvae", bars(), {"changed": 0})
