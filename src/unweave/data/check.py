"""Is a data set the published one? Its files, number of images and channels, beside what is published of them."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import torch

from unweave.data.distances import ChannelStatistics, channel_statistics
from unweave.data.files import data_folder
from unweave.data.files.downloads import RemoteFile, checksum
from unweave.data.interface.factor_data import FactorData
from unweave.data.interface.lookup import identity_of
from unweave.data.published_constants import PUBLISHED_CONSTANTS, Constants

EXACT, SAMPLED = 1e-5, 2e-3  # largest difference of a constant of all images, and of a sample of them
State = Literal["as published", "not as published", "no checksum published", "not there"]


@dataclass(frozen=True)
class FileCheck:
    """A published file on disk, and its checksum, as in "md5:…", if it is there."""

    path: Path
    state: State
    checksum: str = ""


@dataclass(frozen=True)
class DataCheck:
    """What was found of a data set, and what is published."""

    images: int
    files: tuple[FileCheck, ...]
    channels: ChannelStatistics
    published: Constants | None
    other_options: dict[str, Any]  # options of the published constants in which this data differs

    @property
    def off(self) -> float | None:
        """The largest difference of a constant from the published one; None if there is none to compare with."""
        if self.published is None or self.other_options:
            return None
        pairs = ((self.channels.mean, self.published.mean), (self.channels.std, self.published.std))
        return max(float((here - torch.tensor(there, dtype=here.dtype)).abs().max()) for here, there in pairs)

    @property
    def agrees(self) -> bool:
        """Whether no file and no constant differs from what is published."""
        tolerance = EXACT if self.channels.exact else SAMPLED
        wrong = any(file.state == "not as published" for file in self.files)
        return not wrong and (self.off is None or self.off <= tolerance)


def check_data(data: FactorData, generator: torch.Generator) -> DataCheck:
    """Compare a named data set with what is published of it; files are read completely.

    Sets of more than a million images, and those with random images, are sampled for the constants of their channels.
    """
    folder = data_folder(data.card.files_of or data.name)
    published = PUBLISHED_CONSTANTS.get(data.loaded_as or "")
    others: dict[str, Any] = {}
    if published is not None and data.loaded_as is not None:
        expected, here = identity_of(data.loaded_as, **published.options).options, data.identity.options
        names = dict.fromkeys([*expected, *here])
        others = {name: expected.get(name) for name in names if expected.get(name) != here.get(name)}
    return DataCheck(
        images=data.num_images,
        files=tuple(_check_file(folder / file.name, file) for file in data.card.files),
        channels=channel_statistics(data, generator),
        published=published,
        other_options=others,
    )


def _check_file(path: Path, file: RemoteFile) -> FileCheck:
    if not path.exists():
        return FileCheck(path, "not there")
    if file.checksum is None:
        return FileCheck(path, "no checksum published", f"sha256:{checksum(path, 'sha256')}")
    algorithm = file.checksum.partition(":")[0]
    found = f"{algorithm}:{checksum(path, algorithm)}"
    return FileCheck(path, "as published" if found == file.checksum else "not as published", found)
