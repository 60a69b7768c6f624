"""Is a data set the published one? Its files, number of images and channels, beside what is published of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch

from unweave.data.distances import ChannelStatistics, channel_statistics
from unweave.data.factor_data import FactorData
from unweave.data.files import data_folder
from unweave.data.files.downloads import RemoteFile, checksum
from unweave.data.sets import identity_of

EXACT, SAMPLED = 1e-5, 2e-3  # largest difference of a constant of all images, and of a sample of them
State = Literal["as published", "not as published", "no checksum published", "not there"]
TABLE_A2 = "Michlo et al. 2023, Table A2"
DISENT = "Disent, the code of Michlo et al. 2023"


@dataclass(frozen=True)
class FileCheck:
    """A published file on disk, and its checksum, as in "md5:…", if it is there."""

    path: Path
    state: State
    checksum: str = ""


@dataclass(frozen=True)
class DataCheck:
    """The check of a data set: what was found of it beside what is published."""

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
        """Return whether no file and no constant differs from what is published."""
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


@dataclass(frozen=True)
class Constants:
    """The mean over all images of each channel's mean, and of its unbiased deviation within an image."""

    mean: tuple[float, ...]
    std: tuple[float, ...]
    source: str = TABLE_A2
    options: Mapping[str, Any] = field(default_factory=dict)  # of the images, where they are not the defaults here


PUBLISHED_CONSTANTS = {
    "cars3d": Constants(
        (0.897667614997663, 0.889165802006751, 0.885147515814868),
        (0.225031955315030, 0.239946127898126, 0.247921063196844),
    ),
    "shapes3d": Constants(
        (0.502584966788819, 0.578759756608967, 0.603449973185958),
        (0.294081404355556, 0.344397908751721, 0.366168598152475),
    ),
    "smallnorb": Constants(
        (0.752091840108860,), (0.095638790168273,), options={"half": "training", "hide_instance": False}
    ),
    "dsprites": Constants((0.042494423521890,), (0.195166458806261,)),
    "xysquares": Constants((0.015625,) * 3, (0.124034734589209,) * 3),
    "xyobject": Constants((0.009818761549013,) * 3, (0.052632363725246,) * 3, DISENT),
    "xyobject_shaded": Constants((0.009818761549013,) * 3, (0.052632363725246,) * 3, DISENT),
    "mpi3d_toy": Constants(
        (0.226815938312315, 0.223539852024967, 0.226660599346247),
        (0.078541120626696, 0.073193016580774, 0.079076390005043),
        DISENT,
    ),
    "mpi3d_realistic": Constants(
        (0.182401643963588, 0.207230632411079, 0.182055100800326),
        (0.095111635592872, 0.101288811018018, 0.094282444695252),
        DISENT,
    ),
    "mpi3d_real": Constants(
        (0.131111540993741, 0.167464493724889, 0.140517252018076),
        (0.101374098455780, 0.100878243383758, 0.105341210431876),
        DISENT,
    ),
}
