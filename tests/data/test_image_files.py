from __future__ import annotations

import io
import os
import zipfile
from pathlib import Path

import h5py
import numpy as np
import pytest

from unweave.data.files.own_sources import read_image_file
from unweave.errors import InputError

IMAGES = np.random.default_rng(0).integers(0, 256, (12, 8, 8, 3), dtype=np.uint8)
FACTORS = np.array([[i // 4, i % 4] for i in range(12)])


def promising(*shape: int) -> bytes:
    """An .npy file whose header promises this shape, with 100 bytes under it."""
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"descr": "|u1", "fortran_order": False, "shape": shape})
    return stream.getvalue() + bytes(100)


def test_arrays_in_fortran_order_are_read(tmp_path: Path) -> None:
    for save in (np.savez, np.savez_compressed):
        save(tmp_path / "a.npz", images=np.asfortranarray(IMAGES), factors=np.asfortranarray(FACTORS))
        found = read_image_file(tmp_path / "a.npz")
        assert np.array_equal(found.images, IMAGES)
        assert found.factors is not None
        assert np.array_equal(found.factors, FACTORS)
        assert found.notes == ()


def test_what_is_not_used_is_named(tmp_path: Path) -> None:
    others = {f"more{number}": np.zeros(3) for number in range(6)}
    np.savez(tmp_path / "a.npz", imgs=IMAGES, labels=FACTORS, meta=np.array({"a": 1}, dtype=object), **others)  # type: ignore[arg-type]
    found = read_image_file(tmp_path / "a.npz")
    assert found.notes == ("not used from a.npz: meta, more0, more1, more2, more3 and 2 more",)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["images"], file["factors"], file["labels"] = IMAGES, FACTORS, ["a"] * 12
        file.create_group("group")
    assert read_image_file(tmp_path / "a.h5").notes == ("not used from a.h5: group, labels",)


@pytest.mark.parametrize("key", ["factors", "labels", "images"])
def test_pickled_images_and_factors_are_refused_with_the_reason(tmp_path: Path, key: str) -> None:
    contents = {"images": IMAGES, "factors": FACTORS} | {key: np.array([[1], ["a"]], dtype=object)}
    if key == "labels":
        del contents["factors"]
    np.savez(tmp_path / "a.npz", **contents)  # type: ignore[arg-type]
    with pytest.raises(InputError, match=f"{key} holds Python objects, which are not safe to open. Save it as"):
        read_image_file(tmp_path / "a.npz")
    np.save(tmp_path / "a.npy", contents[key])
    with pytest.raises(InputError, match="holds Python objects, which are not safe to open"):
        read_image_file(tmp_path / "a.npy")


def test_strings_of_hdf5_are_words_and_rows_of_variable_length_refused(tmp_path: Path) -> None:
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["images"], file["labels"] = IMAGES, ["disc", "böx", "disc"] * 4
    found = read_image_file(tmp_path / "a.h5")
    assert found.factors is not None
    assert found.factors.tolist() == ["disc", "böx", "disc"] * 4
    with h5py.File(tmp_path / "b.h5", "w") as file:
        file["images"] = IMAGES
        file.create_dataset("labels", (12,), dtype=h5py.vlen_dtype(np.int64))
    with pytest.raises(InputError, match="labels has entries of variable length"):
        read_image_file(tmp_path / "b.h5")


def test_a_header_that_promises_too_much_is_a_sentence_before_any_memory_is_taken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.npy").write_bytes(promising(30_000, 64, 64, 1000))
    with zipfile.ZipFile(tmp_path / "a.npz", "w") as archive:
        archive.writestr("images.npy", promising(30_000, 64, 64, 1000))
    for name in ("a.npy", "a.npz"):
        with pytest.raises(InputError, match=r"is damaged: its header claims 114\.4 GiB, but it has 100 bytes"):
            read_image_file(tmp_path / name)
    (tmp_path / "a.npy").write_bytes(promising(10**30, 64, 64))
    with pytest.raises(InputError, match=r"claims more than 10\^24 bytes"):
        read_image_file(tmp_path / "a.npy")
    np.savez_compressed(tmp_path / "b.npz", images=IMAGES)
    monkeypatch.setattr(os, "sysconf", lambda name: 2)
    with pytest.raises(InputError, match=r"images needs 2\.2 KiB, but this machine has 4 bytes of memory\. Save it as"):
        read_image_file(tmp_path / "b.npz")


def test_damaged_files_are_sentences(tmp_path: Path) -> None:
    np.savez_compressed(tmp_path / "a.npz", images=IMAGES, factors=FACTORS)
    np.save(tmp_path / "a.npy", IMAGES)
    with h5py.File(tmp_path / "a.h5", "w") as file:
        file["images"], file["factors"] = IMAGES, FACTORS
    rng = np.random.default_rng(0)
    for kind in ("npz", "npy", "h5"):
        content = (tmp_path / f"a.{kind}").read_bytes()
        for number in range(60):
            damaged = bytearray(content)
            if number % 3:
                for place in rng.integers(0, min(400, len(damaged)) if number % 2 else len(damaged), 3):
                    damaged[place] = rng.integers(256)
            else:
                del damaged[rng.integers(len(damaged)) :]
            (tmp_path / f"b.{kind}").write_bytes(bytes(damaged))
            try:
                read_image_file(tmp_path / f"b.{kind}")
            except InputError as error:
                assert f"b.{kind}" in str(error)  # noqa: PT017  what cannot be read is named, what can is fine
