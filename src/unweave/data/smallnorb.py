"""smallNORB: grey photographs of 50 toys under 6 lights from 162 directions (LeCun et al. 2004)."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.factor_data import Card
from unweave.data.files.downloads import RemoteFile
from unweave.data.files.pictures import Filter
from unweave.data.files.published_set import CHUNK, Published, Rows
from unweave.errors import InputError, Unavailable
from unweave.factors import Categorical, Cyclic, FactorSpace

ADDRESS = "https://cs.nyu.edu/~ylclab/data/norb-v1.0-small"
TRAINING = "smallnorb-5x46789x9x18x6x2x96x96-training"
TESTING = "smallnorb-5x01235x9x18x6x2x96x96-testing"
DTYPES: dict[int, np.dtype[Any]] = {
    0x1E3D4C55: np.dtype("u1"),
    0x1E3D4C54: np.dtype("<i4"),
}  # by the magic number of the format
INSTANCES = {"training": (4, 6, 7, 8, 9), "testing": (0, 1, 2, 3, 5), "both": tuple(range(10))}


def _file(half: str, part: str, size: int, sha256: str) -> RemoteFile:
    name = f"{half}-{part}.mat.gz"
    return RemoteFile(name, f"{ADDRESS}/{name}", size, f"sha256:{sha256}")


FILES = (
    _file(TRAINING, "dat", 131_896_188, "5ffd6272a07d32695ee1082a26a41a93a37aab8c28da047f8c34ed348d214873"),
    _file(TRAINING, "cat", 348, "2784e542c1922060691090952b6cd6278879a216c90f81476f0f00256d42cdaa"),
    _file(TRAINING, "info", 71_052, "de7eb932ebe7a4ee16217fead60660d0eb3d23632c2f4d1c51f88c501c17bf32"),
    _file(TESTING, "dat", 130_799_817, "cf7104eed3e51174d2f65b66d1e5878b9da233b886f161b0d88f4510ba2c7474"),
    _file(TESTING, "cat", 347, "ecaf6d5bb8c3bc5eab9cf0258f6d2198dd474e016e374836fc097f2e5ff509ff"),
    _file(TESTING, "info", 10_428, "16adf314226327ee006d1a44db8cfef52773c06c829951d5653a9f6f310248a2"),
)


def _grid(instances: int) -> FactorSpace:
    return FactorSpace.of(
        category=Categorical(5),
        instance=Categorical(instances),
        elevation=9,
        azimuth=Cyclic(18),
        lighting=Categorical(6),
    )


class SmallNORB(Published):
    """The images of the left camera.

    Papers differ in which toys they use and in whether the toy is a factor:

    - by default both halves are used and the toy is drawn at random: 4 factors, as in Locatello et al. 2019;
    - ``half="training", hide_instance=False`` is the training half with the toy as a factor, as in Michlo et al. 2023.

    Args:
        size: The height and width that images are resized to; by default 64.
        filter: How they are resized.
        half: Which of the published halves are used.
        hide_instance: Whether the toy is drawn at random, and not a factor.
    """

    name = "smallnorb"
    pixels = 96
    card = Card(
        title="grey photographs of toys: category, elevation, azimuth and lighting",
        space=FactorSpace.of(category=Categorical(5), elevation=9, azimuth=Cyclic(18), lighting=Categorical(6)),
        shape=(1, 64, 64),
        licence="research use",
        citation="LeCun, Huang and Bottou, Learning Methods for Generic Object Recognition with Invariance to Pose and "
        "Lighting, CVPR 2004",
        home="https://cs.nyu.edu/~ylclab/data/norb-v1.0-small/",
        files=FILES,
    )

    def __init__(
        self,
        *,
        size: int | None = None,
        filter: Filter | None = "bilinear",
        half: Literal["both", "training", "testing"] = "both",
        hide_instance: bool = True,
    ) -> None:
        if not isinstance(half, str) or half not in INSTANCES:
            raise InputError(f"smallnorb: half must be both, training or testing, got {half!r}.")
        if not isinstance(hide_instance, bool):
            raise InputError(f"smallnorb: hide_instance must be true or false, got {hide_instance!r}.")
        self._half = half
        self._instances = INSTANCES[half]
        self._grid = _grid(len(self._instances))
        self.stochastic = hide_instance
        self.array_name = half
        super().__init__(size=size, filter=filter)

    @property
    def files(self) -> tuple[RemoteFile, ...]:
        """The files of one half, or of both."""
        return {"both": self.card.files, "training": self.card.files[:3], "testing": self.card.files[3:]}[self._half]

    @property
    def grid(self) -> FactorSpace:
        """The grid with the instance, whether it is hidden or not."""
        return self._grid

    @property
    def space(self) -> FactorSpace:
        """The factors, without the instance if it is hidden."""
        return super().space if self.stochastic else self._grid

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        if self.stochastic:
            instance = torch.randint(len(self._instances), (len(factors), 1), generator=generator)
            factors = torch.cat([factors[:, :1], instance, factors[:, 1:]], dim=1)
        return torch.from_numpy(self._images[self._grid.index(factors).numpy()])

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        return self._draw(self.space.at(index), generator)

    def _convert(self, files: list[Path], out: Rows) -> None:
        for half in (files[start : start + 3] for start in range(0, len(files), 3)):
            try:
                (_, categories), (_, info) = (next(_matrix_rows(path, None)) for path in half[1:])
                labels = np.column_stack([categories, info]).astype(np.int64)  # category, instance, elevation, …
                labels[:, 3] //= 2  # azimuths are numbered 0, 2, … 34
                for rows, stereo in _matrix_rows(half[0], CHUNK):
                    here = labels[rows]
                    wanted = np.isin(here[:, 1], self._instances)
                    here[:, 1] = np.searchsorted(self._instances, here[:, 1])
                    if wanted.any():
                        index = self._grid.index(torch.from_numpy(here[wanted])).numpy()
                        out.put(index, stereo[wanted, 0])
            except Unavailable:
                raise
            except (EOFError, OSError, KeyError, ValueError, zlib.error) as error:
                raise Unavailable(f"{half[0]} or its labels are damaged, or not files of smallNORB: {error}") from error


def _matrix_rows(path: Path, rows: int | None) -> Iterator[tuple[slice, NDArray[np.generic]]]:
    """Read a matrix in the format of NORB: magic number, number of axes, at least three sizes, then the entries."""
    with gzip.open(path, "rb") as stream:
        magic, axes = np.frombuffer(_exactly(stream, 8), "<i4")
        sizes = np.frombuffer(_exactly(stream, 4 * max(3, axes)), "<i4")[:axes].tolist()
        dtype = DTYPES[int(magic)]
        row_bytes = int(np.prod(sizes[1:])) * dtype.itemsize
        for start in range(0, sizes[0], rows or sizes[0]):
            stop = min(start + (rows or sizes[0]), sizes[0])
            entries = np.frombuffer(_exactly(stream, (stop - start) * row_bytes), dtype)
            yield slice(start, stop), entries.reshape(stop - start, *sizes[1:])


def _exactly(stream: gzip.GzipFile, count: int) -> bytes:
    data = stream.read(count)
    if len(data) != count:
        raise EOFError("the file ends early")
    return data
