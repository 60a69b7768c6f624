"""Fabricated files in the exact formats of published ones: tiny, and filled with noise."""

from __future__ import annotations

import hashlib
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import h5py
import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from unweave.data import SETS
from unweave.factors import Categorical, FactorSpace

Noise = NDArray[np.uint8]


def noise(*shape: int) -> Noise:
    return np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)


class Shelf:
    """A data folder in which fabricated files pass for published ones."""

    def __init__(self, root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.root, self.monkeypatch = root, monkeypatch

    def put(self, name: str, contents: list[bytes], space: FactorSpace | None = None) -> list[Path]:
        """Write the files of a set, and let their checksums and the given grid be the published ones."""
        data, folder = SETS[name], self.root / name
        folder.mkdir(parents=True, exist_ok=True)
        paths, files = [], []
        for file, content in zip(data.card.files, contents, strict=True):
            paths.append(folder / file.name)
            paths[-1].write_bytes(content)
            digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
            files.append(replace(file, checksum=digest, size=len(content)))
        card = replace(data.card, files=tuple(files), space=space or data.card.space)
        self.monkeypatch.setattr(data, "card", card)
        return paths


def written(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


def h5(images: Noise) -> bytes:
    def write(stream: io.BytesIO) -> None:
        with h5py.File(stream, "w") as file:
            file.create_dataset("images", data=images, compression="gzip")
            file["labels"] = np.zeros((len(images), 6))

    return written(write)


def channels_first(images: Noise) -> torch.Tensor:
    return torch.from_numpy(images).permute(0, 3, 1, 2)


SMALL = FactorSpace.of(hue=3, shape=Categorical(2), x=2)


def tar(members: dict[str, bytes]) -> bytes:
    def write(stream: io.BytesIO) -> None:
        with tarfile.open(fileobj=stream, mode="w:gz", compresslevel=1) as archive:
            for name, content in members.items():
                member = tarfile.TarInfo(name)
                member.size = len(content)
                archive.addfile(member, io.BytesIO(content))

    return written(write)


def kept_files(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir() if path.suffix != ".lock")
