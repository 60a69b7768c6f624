"""Published means and standard deviations of the channels of data sets, for images in [0, 1]; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

TABLE_A2 = "Michlo et al. 2023, Table A2"
DISENT = "Disent, the code of Michlo et al. 2023"


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
