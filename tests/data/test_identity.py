"""Identities of data: declared versions that are tied to pixels, and plain values of options."""

from __future__ import annotations

import hashlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from tests.data.test_sets import DRAWN
from unweave.data.factor_data import DataIdentity, code_of, digest, plain
from unweave.errors import InputError
from unweave.names import label_of

PIXELS = {  # version, then hashes of 200 images at 64 × 64 and at 32 × 32
    "dsprites": ("1", "03a300d415add8f2", "215b27a4be15ad22"),
    "color_dsprites": ("1", "9e545e369bc8d5c8", "bc09c940f4e4d487"),
    "noisy_dsprites": ("1", "3d4463096452a56f", "7b4b22477a614bb0"),
    "scream_dsprites": ("1", "6ae0935cd914b020", "dcf7d1a5e78cf9b6"),
    "three_dots": ("1", "02fd53ac73b17833", "69829e4870adb270"),
    "four_dots": ("1", "e53651dddc43f9c0", "01bc8ddf0747f055"),
    "xysquares": ("1", "0cefa6f2e9d581bf", "c4663a4b90d064d2"),
    "rooms3d": ("1", "a42c9b6779297bb5", "1e9b2c17bce1814f"),
    "dsprites_pictures": ("1", "3503714f901187ac", "ce14e7aee32a0aea"),
    "xyobject": ("1", "4587e9c44895916f", "6e5bc31f0542be32"),
    "xyobject_shaded": ("1", "4587e9c44895916f", "6e5bc31f0542be32"),  # the same images
    "shapes3d_drawn": ("1", "573ed14889d9e394", "62cf6f380343e833"),
}


def identity(**changes: Any) -> DataIdentity:
    return DataIdentity(**{"name": "own", "shape": (1, 8, 8), "num_images": 3, "fingerprint": "f", **changes})


def test_where_data_is_stored_does_not_identify_it() -> None:
    here, there = (identity(source={"path": path, "options": {}}) for path in ("/a/photos", "/b/other.npz"))
    assert here == there
    assert hash(here) == hash(there)
    assert here.canonical() == {
        "name": "own",
        "options": {},
        "shape": [1, 8, 8],
        "num_images": 3,
        "fingerprint": "f",
    }
    assert here != identity(fingerprint="g")
    assert DataIdentity(**here.model_dump(mode="json")).source == here.source


@pytest.mark.parametrize(
    ("path", "label"), [("/a/photos", "photos"), ("/a/photos.v2", "photos.v2"), ("/a/Faces.NPZ", "Faces")]
)
def test_the_label_of_own_data_is_the_name_of_its_file_or_folder(path: str, label: str) -> None:
    assert identity(source={"path": path, "options": {}}).label == label
    assert identity().label == "own images"
    assert identity(name="xysquares").label == "xysquares"


def test_options_become_plain_values() -> None:
    given = {"a": np.int64(3), "b": (1, 2.5), "c": Path("x/y"), "d": np.float32(0.5), "e": np.bool_(True), "f": None}
    assert plain("o", given) == {"a": 3, "b": [1, 2.5], "c": "x/y", "d": 0.5, "e": True, "f": None}
    assert type(plain("o", np.bool_(True))) is bool
    with pytest.raises(InputError, match="option images of a data set must be a number, a string"):
        plain("images", np.zeros(3))


def test_parts_of_a_digest_are_kept_apart() -> None:
    assert digest("ab", "c") != digest("a", "bc")
    assert digest("a") == hashlib.sha256(b"1:a").hexdigest()[:16]


def test_code_is_the_content_of_the_module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "a_module_of_mine.py").write_text("x = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("a_module_of_mine")
    assert code_of("a_module_of_mine") == digest(b"x = 1\n")
    del sys.modules["a_module_of_mine"]
    assert code_of("a_module_that_is_not_there") == ""


def pixels_of(name: str, **options: Any) -> str:
    data = unweave.load(name, **options)
    index = torch.linspace(0, data.num_images - 1, 200, dtype=torch.float64).long()
    return hashlib.sha256(data.rows(index, torch.Generator().manual_seed(0)).numpy().tobytes()).hexdigest()[:16]


@pytest.mark.parametrize("name", DRAWN)
def test_pixels_do_not_change_without_a_new_version(name: str) -> None:
    """If this fails, pixels have changed: give the set a new ``version``, and only then change the table."""
    version = unweave.load(name).version
    assert (version, pixels_of(name), pixels_of(name, size=32)) == PIXELS[name]


def test_own_data_is_called_by_its_file_or_folder() -> None:
    assert label_of("dsprites", None) == "dsprites"
    assert label_of("own", {"path": "/a/bars.npy"}) == "bars"
    assert label_of("own", {"path": "/a/photos.v2"}) == "photos.v2"
    assert label_of("own", None) == "own images"


def test_a_filter_identifies_sprites_that_it_changes() -> None:
    name = unweave.data.identity_of
    assert name("dsprites", size=32).options == {"size": 32}  # as runs were named before there were filters
    assert name("dsprites", filter="lanczos") == name("dsprites")  # nothing is reduced
    assert name("color_dsprites", size=32, filter="box").options == {"size": 32, "filter": "box"}
    small = unweave.load("dsprites", size=32, filter="lanczos")
    point = torch.tensor([[2, 5, 7, 11, 13]])
    sprite = Image.fromarray(unweave.load("dsprites").images(point)[0, 0].numpy())
    expected = np.asarray(sprite.resize((32, 32), Image.Resampling.LANCZOS))
    assert np.array_equal(small.images(point)[0, 0].numpy(), expected)
    assert unweave.data.open_data(small.identity).identity == small.identity
