"""The promises of every data set in one table; a set that is missing from it fails."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from unweave.data import SETS, DataIdentity, FactorData, fetch_set, identity_of, open_data, options_of
from unweave.data.dsprites import NPZ, DSprites
from unweave.errors import InputError, Unavailable

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
IMAGES = np.random.default_rng(0).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
MODULE = """
import torch
from unweave import FactorData, FactorSpace
from unweave.data import Card, load

class Shapes(FactorData):
    name = "shapes"
    card = Card("lines", FactorSpace.of(x=4, y=4), (1, 8, 8), "mine", "mine", "https://example.org")
    version = "7"

    def __init__(self, *, size=8, needed):
        self.shape = (1, size, size)

    def prepare(self):
        raise RuntimeError("opened")

def squares(width=8):
    return load("xysquares", size=width)

def mine():
    return load(torch.zeros(3, 8, 8, dtype=torch.uint8))

def nothing():
    return 3

def failing(size=8):
    raise ValueError(f"no images of {size} pixels")

NUMBER = 3
"""


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


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    name = f"sets_of_{tmp_path.name}"  # another name for each test, because modules are kept
    (tmp_path / f"{name}.py").write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path)
    return name


@pytest.mark.parametrize("name", SETS)
def test_the_identity_of_a_named_set_is_written_without_opening_it(name: str, empty_data_root: Path) -> None:
    identity = identity_of(name)
    assert not empty_data_root.exists()
    card = SETS[name].card
    assert identity.name == name
    assert identity.shape == card.shape
    assert identity.num_images == (card.space.size if card.space else 100_000)
    assert identity.source is None
    assert identity.options["size"] == card.shape[-1]  # also where the default is computed


@pytest.mark.parametrize("name", ["dsprites", "xysquares", "noisy_dsprites"])
def test_the_identity_is_that_of_the_loaded_set_and_opens_it_again(name: str) -> None:
    data = unweave.load(name, size=16)
    assert data.identity == identity_of(name, size=16) != identity_of(name)
    again = open_data(DataIdentity(**data.identity.model_dump(mode="json")))
    assert again.identity == data.identity
    generators = [torch.Generator().manual_seed(1) for _ in range(2)]
    assert torch.equal(*(d.sample(5, g).images for d, g in zip((data, again), generators, strict=True)))


def test_options_that_mean_the_same_are_one_identity() -> None:
    assert identity_of("xysquares") == identity_of("xysquares", square=8, spacing=8, grid=np.int64(8))
    assert identity_of("xysquares") != identity_of("xysquares", spacing=4)
    assert identity_of("shapes3d") == identity_of("shapes3d", size=64)
    with pytest.raises(InputError, match="did you mean 'spacing'"):
        identity_of("xysquares", spacin=4)
    with pytest.raises(InputError, match="size must not be a boolean"):
        identity_of("xysquares", size=True)
    with pytest.raises(InputError, match="palette must be 'rainbow'"):
        identity_of("xyobject", palette="x")


def test_an_identity_is_made_once() -> None:
    assert identity_of("dsprites", size=32) is identity_of("dsprites", size=32)


def test_official_and_drawn_dsprites_are_told_apart_without_opening(empty_data_root: Path) -> None:
    drawn, painted = identity_of("dsprites"), identity_of("color_dsprites")
    (empty_data_root / "dsprites").mkdir(parents=True)
    (empty_data_root / "dsprites" / NPZ.name).touch()
    assert (drawn.fingerprint, identity_of("dsprites").fingerprint) == ("drawn-v1", "official-v1")
    assert identity_of("color_dsprites") != painted
    assert DSprites().origin == "official"


def test_natural_pictures_are_told_by_their_pixels(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a").mkdir()
    Image.fromarray(IMAGES[0]).resize((40, 30)).save(tmp_path / "a" / "1.png")
    monkeypatch.chdir(tmp_path)
    first = identity_of("natural", folder="a", size=8)
    assert first == unweave.load("natural", folder=tmp_path / "a", size=8).identity
    (tmp_path / "a").rename(tmp_path / "b")
    assert first == identity_of("natural", folder="./b/", size=8) != identity_of("natural", folder="b", size=9)
    assert first != identity_of("natural", size=8)
    with pytest.raises(InputError, match="there is no folder"):
        open_data(first)
    assert open_data(identity_of("natural", folder="b", size=8)).identity == first
    Image.fromarray(IMAGES[1]).resize((40, 30)).save(tmp_path / "b" / "1.png")
    assert identity_of("natural", folder="b", size=8) != first


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    (tmp_path / "photos").mkdir()
    for number, image in enumerate(IMAGES):
        Image.fromarray(image).save(tmp_path / "photos" / f"{number}.png")
    (tmp_path / "photos" / "factors.csv").write_text("x\n" + "\n".join(str(i % 3) for i in range(12)))
    return tmp_path / "photos"


def test_own_data_is_the_same_however_it_is_written_and_wherever_it_lies(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos.parent)
    first = unweave.load("./photos").identity
    assert (first.name, first.label, first.num_images) == ("own", "photos", 12)
    for other in ("photos/", str(photos), f"{photos}/../photos"):
        assert identity_of(other) == first
    array = unweave.load(IMAGES, factors=np.arange(12)[:, None] % 3, names=["x"])
    assert array.identity == first
    assert first != unweave.load(IMAGES).identity
    assert first != unweave.load(IMAGES, factors=np.arange(12)[:, None] % 3, names=["y"]).identity
    kinds = {"x": "cyclic"}
    assert first != unweave.load(IMAGES, factors=np.arange(12)[:, None] % 3, names=["x"], kinds=kinds).identity
    photos.rename(photos.parent / "moved")
    assert unweave.load("./moved").identity == first


def test_own_data_is_opened_again_unless_it_moved_or_changed(photos: Path) -> None:
    identity = unweave.load(photos, size=4).identity
    identity = DataIdentity(**identity.model_dump(mode="json"))
    assert open_data(identity).shape == (3, 4, 4)
    Image.new("RGB", (8, 8)).save(photos / "3.png")
    with pytest.raises(Unavailable, match=r"photos at .* is not the same as before: its fingerprint is"):
        open_data(identity)
    photos.rename(photos.parent / "moved")
    with pytest.raises(Unavailable, match=r"no longer at .*photos: move them back, or pass the data"):
        open_data(identity)
    with pytest.raises(InputError, match="an array in memory and cannot be opened again: pass the data"):
        open_data(unweave.load(IMAGES).identity)
    with pytest.raises(InputError, match="an array in memory"):
        open_data(unweave.load(photos.parent / "moved", factors=np.arange(12)[:, None] % 3).identity)


def test_a_set_of_another_module_is_loaded_by_name(module: str) -> None:
    identity = identity_of(f"{module}:Shapes", needed=3)
    assert identity.name == f"{module}:Shapes"
    assert identity.options == {"size": 8, "needed": 3}
    assert identity.fingerprint.startswith("v7-")
    with pytest.raises(InputError, match=f"data set '{module}:Shapes' failed: RuntimeError: opened"):
        unweave.load(f"{module}:Shapes", needed=3)
    squares = unweave.load(f"{module}:squares", width=16)
    assert squares.shape == (3, 16, 16)
    assert squares.identity.options == {"width": 16}
    assert open_data(squares.identity).identity == squares.identity
    assert open_data(identity_of(f"{module}:mine")).num_images == 3
    for name, options, message in [
        ("Shapes", {}, "needed is missing"),
        ("Shapes", {"siz": 3, "needed": 3}, "did you mean 'size'"),
        ("nothing", {}, "must be a FactorData class or a function that returns a FactorData, got int"),
        ("absent", {}, "has no 'absent'"),
        ("NUMBER", {}, "must be a FactorData class or a function that returns a FactorData, got int"),
        ("torch", {}, "must be a FactorData class or a function that returns a FactorData, got module"),
        ("failing", {"size": 4}, f"data set '{module}:failing' failed: ValueError: no images of 4 pixels"),
    ]:
        with pytest.raises(InputError, match=message):
            unweave.load(f"{module}:{name}", **options)
    with pytest.raises(InputError, match="cannot be imported"):
        unweave.load("a_module_that_is_not_there:Shapes")


@pytest.mark.parametrize("call", [unweave.load, identity_of])
@pytest.mark.parametrize("name", ["os:path", "math:pi", "builtins:dict"])
def test_what_is_not_a_maker_is_a_sentence(call: Callable[[str], object], name: str) -> None:
    with pytest.raises(InputError, match=f"data set '{name}' must be a FactorData class or a function"):
        call(name)


def test_a_folder_with_a_colon_is_told_to_be_written_with_a_slash(
    photos: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(photos.parent)
    photos.rename("od:d")
    with pytest.raises(InputError, match=r"cannot be imported .* To load your own images from it, write './od:d'\."):
        unweave.load("od:d")
    assert unweave.load("./od:d").num_images == 12


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("photos", r"^unknown data set 'photos'\. To"),
        ("shapes", r"^unknown data set 'shapes': did you mean 'shapes3d'.* To"),
    ],
)
def test_a_folder_with_the_name_of_no_set_is_offered_instead_of_all_sets(
    photos: Path, monkeypatch: pytest.MonkeyPatch, name: str, said: str
) -> None:
    monkeypatch.chdir(photos.parent)
    photos.rename(name)
    with pytest.raises(InputError, match=f"{said} load your own images from it, write './{name}'\\.$"):
        unweave.load(name)


def test_the_source_of_a_module_is_part_of_the_identity(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(tmp_path)
    fingerprints = set()
    for number in range(2):
        (tmp_path / f"edited{number}.py").write_text(f"{MODULE}\n# {number}\n")
        fingerprints.add(identity_of(f"edited{number}:Shapes", needed=1).fingerprint)
    assert len(fingerprints) == 2


def test_a_set_that_load_did_not_make_is_told_by_some_of_its_images() -> None:
    class Plain(FactorData):
        name, card, shape = "plain", SETS["xysquares"].card, (1, 4, 4)

        def __init__(self, grey: int) -> None:
            self._grey = grey

        def _draw(self, factors: torch.Tensor, generator: torch.Generator | None) -> torch.Tensor:
            return torch.full((len(factors), 1, 4, 4), self._grey, dtype=torch.uint8)

    assert Plain(1).identity == Plain(1).identity != Plain(2).identity
    assert Plain(1).identity.name == "plain"
