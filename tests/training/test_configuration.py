from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
import torch

import unweave
from tests.training.small import bars, pictures
from unweave.data import identity_of
from unweave.errors import InputError, Unavailable
from unweave.latents import Gaussian
from unweave.recipes import Recipe, compose, term
from unweave.terms import KL, Reconstruction
from unweave.training import configuration
from unweave.training.configuration import (
    Configuration,
    changed_of,
    configure,
    read_configuration,
    write_configuration,
)


def name_of(recipe: Any, settings: dict[str, Any]) -> str:
    return configure(recipe, bars(), settings)[0].name


def test_the_name_is_a_function_of_everything_that_is_learned() -> None:
    base = name_of("beta_vae", {})
    assert name_of("beta_vae", {"beta": 4.0, "steps": 300_000}) == base
    assert name_of("beta_vae", {"device": "cpu", "threads": 1, "log_steps": 7}) == base
    others: list[dict[str, Any]] = [{"beta": 5.0}, {"seed": 1}, {"steps": 10}, {"lr": 1e-3}, {"kl.schedule": "cosine"}]
    others += [{"precision": "bf16-mixed"}, {"snapshots": 3}, {"latents": 9}, {"net": "mlp"}, {"net.width": 0.5}]
    others += [{"start": "pytorch"}, {"standardised": True, "likelihood": "gaussian"}, {"likelihood": "gaussian"}]
    names = {name_of("beta_vae", settings) for settings in others}
    assert len(names | {base}) == len(others) + 1


def test_the_same_method_under_two_names_is_one_run() -> None:
    assert name_of("vae", {}) == name_of("beta_vae", {"beta": 1}) == name_of("beta_tcvae", {"beta": 1})
    assert name_of("tripod", {"terms": {"normalised_hessian": 0}}) == name_of("tripod_without_nhp", {})
    own = Recipe(recipe="mine", latent=Gaussian(), terms=(term(Reconstruction()), term(KL())))
    assert name_of(own, {}) == name_of("vae", {})


def test_the_name_stays_what_it_is() -> None:
    """A change of this number orphans every run that was ever made: list it in the changelog under its heading."""
    assert configure("beta_vae", unweave.load("xysquares"), {})[0].name == "9487e99d41e89f26"


def test_a_configuration_survives_being_written(tmp_path: Path) -> None:
    for recipe in unweave.RECIPES:
        made = configure(recipe, bars(), {})[0]
        again = Configuration(**made.model_dump(mode="json"))
        assert again == made
        assert again.name == made.name
    write_configuration(tmp_path, made)
    assert read_configuration(tmp_path) == made
    with pytest.raises(InputError, match="has a different configuration"):
        write_configuration(tmp_path, configure("tripod", bars(), {"seed": 1})[0])
    (tmp_path / "configuration.json").write_text('{"recipe": "vae"}')
    with pytest.raises(Unavailable, match="is damaged, or was written by another version"):
        read_configuration(tmp_path)


def test_an_identity_in_place_of_the_data_gives_the_same_configuration() -> None:
    for recipe in ("tripod", "ada_gvae"):
        opened = configure(recipe, unweave.load("xysquares", size=32), {})[0]
        planned = configure(recipe, identity_of("xysquares", size=32), {})[0]
        assert planned == opened
        assert planned.name == opened.name


def test_a_recipe_is_composed_once_for_all_seeds_and_data(monkeypatch: pytest.MonkeyPatch) -> None:
    composed = []

    def counted(*given: Any, **settings: Any) -> Recipe:
        composed.append(given)
        return compose(*given, **settings)

    monkeypatch.setattr(configuration, "compose", counted)
    names = set()
    for strength in (0.123, 0.456):  # used nowhere else, so that nothing is cached yet
        for data in ("dsprites", "rooms3d"):
            for seed in range(50):
                settings = {"beta": strength, "seed": seed}
                names.add(configure("beta_vae", identity_of(data, size=64), settings)[0].name)
    assert len(names) == 200
    assert len(composed) <= 4  # once per strength and number of factors


def test_recipes_of_ones_own_take_settings() -> None:
    own = Recipe(recipe="mine", latent=Gaussian(size=3), terms=(term(Reconstruction()), term(KL(), 2.0)))
    made = configure(own, bars(), {"seed": 3, "batch": 4, "steps": 7})[0]
    assert (made.recipe, made.seed, made.terms, made.batch, made.steps) == ("mine", 3, own.terms, 4, 7)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"devices": 3}, "a batch size of 64 is not divisible by 3 devices"),
        ({"steps": 3, "snapshots": 4}, "4 snapshots do not fit into 3 steps"),
        ({"sed": 3}, "unknown setting of beta_vae 'sed': did you mean 'seed'"),
        ({"kl.schedul": "linear"}, "'kl.schedul': did you mean 'kl.schedule'"),
        ({"checkpoint_second": 3}, "did you mean 'checkpoint_seconds'"),
        ({"seed": 2**32}, "seed must be less than"),
        ({"seed": True}, "seed must not be a boolean"),
        ({"threads": 9999}, "threads must be at most the number of cores"),
        ({"augment": "blur"}, "augment must map settings to values, as in {'blur': 2}, got 'blur'"),
        ({"blur": 3, "blurred_reconstruction.kernel": "nowhere:kernel"}, "the module 'nowhere' cannot be imported"),
    ],
)
def test_wrong_settings_are_sentences(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        configure("beta_vae", bars(), settings)


def test_what_is_no_data_is_a_sentence() -> None:
    with pytest.raises(InputError, match=r"data must be a data set, as unweave.load returns, got Tensor"):
        configure("beta_vae", torch.zeros(3), {})  # type: ignore[arg-type]


def test_pairs_need_factors_and_an_even_batch() -> None:
    with pytest.raises(InputError, match="needs an image of every combination of factors"):
        configure("ada_gvae", unweave.load(pictures()), {})
    with pytest.raises(InputError, match="batch must be even, got 9"):
        configure("ada_gvae", bars(), {"batch": 9})
    with pytest.raises(InputError, match="number of factors that can change"):
        configure("ada_gvae", bars(), {"changed": 4})
    with pytest.raises(InputError, match="nothing to learn from pairs that do not differ"):
        configure("ada_gvae", bars(), {"changed": 0})
    made = configure("ada_gvae", bars(), {})[0]
    assert changed_of(made, bars()) == (1, 2)
    assert changed_of(configure("ada_gvae", bars(), {"changed": 3})[0], bars()) == 3


def test_a_part_may_be_set_to_none() -> None:
    assert configure("qlae", bars(), {"optimiser.clip": None})[0].optimiser.clip is None


def test_the_source_of_ones_own_parts_is_part_of_the_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    source = "from unweave.terms import KL\n\n\nclass Own(KL):\n    '''A term of one's own.'''\n"
    names = []
    for text in (source, source + "    # changed\n", source):
        (tmp_path / "own_terms_for_test.py").write_text(text)
        sys.modules.pop("own_terms_for_test", None)
        made, _ = configure("vae", bars(), {"terms": {"own_terms_for_test:Own": 1.0}})
        names.append(made.name)
    assert names[0] == names[2] != names[1]
    write_configuration(tmp_path, made)
    sys.modules.pop("own_terms_for_test", None)
    (tmp_path / "own_terms_for_test.py").unlink()
    with pytest.raises(Unavailable, match="uses code of your own that is not found here"):
        read_configuration(tmp_path)


def test_another_seed_gives_the_configuration_and_name_that_it_would_be_given() -> None:
    first, _ = configure("beta_vae", identity_of("rooms3d"), {"beta": 2.0, "seed": 7})
    for seed in (0, 7, 4_000_000_000):
        other, _ = configure("beta_vae", identity_of("rooms3d"), {"beta": 2.0, "seed": seed})
        assert first.with_seed(seed) == other
        assert first.name_with_seed(seed) == first.with_seed(seed).name == other.name
