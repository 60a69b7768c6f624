"""What every data set promises, in one table; a set that is missing from it fails."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch

import unweave
from unweave.data import SETS, FactorData, fetch_set, options_of
from unweave.errors import InputError

DRAWN = [
    "dsprites",
    "color_dsprites",
    "noisy_dsprites",
    "scream_dsprites",
    "dsprites_pictures",
    "three_dots",
    "four_dots",
    "xysquares",
    "xyobject",
    "xyobject_shaded",
    "rooms3d",
    "shapes3d_drawn",
]
FROM_FILES = [
    "natural",
    "shapes3d",
    "cars3d",
    "smallnorb",
    "mpi3d_toy",
    "mpi3d_realistic",
    "mpi3d_real",
    "mpi3d_real_complex",
    "mpi3d_multi",
    "falcor3d",
    "isaac3d",
]


def test_the_table_has_every_set() -> None:
    assert sorted(DRAWN + FROM_FILES) == sorted(SETS)


@pytest.mark.parametrize("name", SETS)
def test_a_card_says_what_one_must_know(name: str) -> None:
    data = SETS[name]
    assert data.name == name
    card = data.card
    assert all([card.title, card.licence, card.citation, card.home.startswith("http")])
    assert "size" in options_of(data.__init__)
    assert bool(card.files) == (name in FROM_FILES or name == "dsprites")
    for file in card.files:
        assert file.url.startswith("http")
        if file.checksum:
            algorithm, _, digest = file.checksum.partition(":")
            assert len(digest) == {"md5": 32, "sha256": 64, "git": 40}[algorithm]


@pytest.mark.parametrize("name", DRAWN)
def test_drawn_sets_keep_the_contract(name: str, generator: torch.Generator) -> None:
    data = unweave.load(name)
    assert isinstance(data, FactorData)
    assert data.shape == data.card.shape
    batch = data.sample(9, generator)
    assert batch.factors is not None
    assert batch.images.dtype == torch.uint8
    assert batch.images.shape == (9, *data.shape)
    assert batch.images.is_contiguous()
    chance = [torch.Generator().manual_seed(4) for _ in range(3)]
    first = data.images(batch.factors, chance[0])
    assert torch.equal(first, data.images(batch.factors, chance[1]))
    assert torch.equal(first, data.rows(data.space.index(batch.factors), chance[2]))
    assert data.images(batch.factors[:0], generator).shape == (0, *data.shape)
    assert str(data.space) in repr(data)
    small = unweave.load(name, size=32)
    assert small.sample(2, generator).images.shape == (2, data.shape[0], 32, 32)


@pytest.mark.parametrize("name", DRAWN)
def test_factors_show_in_the_image(name: str) -> None:
    data = unweave.load(name)
    point = torch.tensor([size // 3 for size in data.space.sizes])
    for axis, size in enumerate(data.space.sizes):
        ends = data.space.traverse(point, axis)[[0, size // 2]]
        one, other = (data.images(row[None], torch.Generator().manual_seed(0)) for row in ends)
        assert not torch.equal(one, other)


def test_nothing_is_drawn_from_the_global_state(generator: torch.Generator) -> None:
    before = torch.get_rng_state()
    for name in DRAWN:
        unweave.load(name, size=32).sample(3, generator)
    images = torch.zeros(4, 8, 8, dtype=torch.uint8)
    unweave.load(images).sample(2, generator)
    with pytest.raises(InputError, match="sampling needs a generator"):
        unweave.load(images).sample(2, None)  # type: ignore[arg-type]
    assert torch.equal(torch.get_rng_state(), before)


def test_samples_can_be_narrowed(generator: torch.Generator) -> None:
    batch = unweave.load("dsprites").sample(500, generator, where={"shape": [0, 2]}, correlation={("x", "y"): 0.9})
    assert batch.factors is not None
    assert set(batch.factors[:, 0].tolist()) == {0, 2}
    assert torch.corrcoef(batch.factors[:, 3:].double().T)[0, 1] > 0.8


def sample_badly(n: Any, generator: Any) -> None:
    unweave.load("xysquares").sample(n, generator)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: unweave.load("dsprits"), "unknown data set 'dsprits': did you mean 'dsprites'"),
        (lambda: unweave.load("imagenet"), "expected one of cars3d, color_dsprites"),
        (lambda: unweave.load("rooms3d", sise=3), "unknown setting of rooms3d 'sise': did you mean 'size'"),
        (lambda: unweave.load("rooms3d", size=0), "size in pixels must be a whole number of at least 4"),
        (
            lambda: unweave.load("xysquares").images(torch.tensor([[8, 0, 0, 0, 0, 0]])),
            "'x0' is out of range: got 8",
        ),
        (lambda: unweave.load("xysquares").images([[8, 0, 0, 0, 0, 0]]), "'x0' is out of range: got 8"),
        (lambda: unweave.load("xysquares").images([[0, 0], [0]]), "rows of the same length"),
        (lambda: sample_badly(2, None), r"pass a torch\.Generator, got None"),
        (lambda: sample_badly(2, 7), r"pass a torch\.Generator, got 7"),
        (lambda: sample_badly(2.5, torch.Generator()), "number of images must be a whole number"),
        (lambda: unweave.load("xysquares").images(torch.zeros(6, dtype=torch.int64)), r"factors must be \(B, K\)"),
        (lambda: unweave.load("xysquares").rows(torch.tensor([8**6])), "positions must be between 0 and 262143"),
        (lambda: unweave.load("xysquares").rows(torch.tensor([0.5])), "positions must be integers"),
        (lambda: fetch_set("dsprits"), "did you mean 'dsprites'"),
    ],
)
def test_impossible_requests_are_a_sentence(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InputError, match=message):
        call()


def test_a_folder_named_without_a_slash_is_hinted_at(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "photos").mkdir()
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match=r"write '\./photos'"):
        unweave.load("photos")
