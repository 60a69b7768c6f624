"""Data sets: images as a function of factors, drawn here, read from published files, or one's own."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor

from unweave.data.cars3d import Cars3D
from unweave.data.dsprites import DSprites
from unweave.data.dsprites_variants import ColorDSprites, NoisyDSprites, ScreamDSprites
from unweave.data.factor_data import Batch, Card, FactorData
from unweave.data.files import data_folder, fetch
from unweave.data.mpi3d import MPI3DMulti, MPI3DReal, MPI3DRealComplex, MPI3DRealistic, MPI3DToy
from unweave.data.natural import Natural
from unweave.data.nvidia3d import Falcor3D, Isaac3D
from unweave.data.own import OwnImages, load_own
from unweave.data.rooms3d import Rooms3D
from unweave.data.shapes3d import Shapes3D
from unweave.data.smallnorb import SmallNORB
from unweave.data.three_dots import ThreeDots
from unweave.data.xysquares import XYSquares
from unweave.errors import InputError, unknown

__all__ = ["SETS", "Batch", "Card", "FactorData", "OwnImages", "data_folder", "fetch_set", "load", "set_named"]

SETS: dict[str, type[FactorData]] = {
    data.name: data
    for data in (
        DSprites,
        ColorDSprites,
        NoisyDSprites,
        ScreamDSprites,
        ThreeDots,
        XYSquares,
        Rooms3D,
        Natural,
        Shapes3D,
        Cars3D,
        SmallNORB,
        MPI3DToy,
        MPI3DRealistic,
        MPI3DReal,
        MPI3DRealComplex,
        MPI3DMulti,
        Falcor3D,
        Isaac3D,
    )
}


def load(source: str | Path | NDArray[np.generic] | Tensor, **options: Any) -> FactorData:
    """A data set by name, or one's own images.

    A string with a slash or a dot in it, a path, an array or a tensor is one's own: see :func:`load_own`. Options go to
    the set: ``unweave data show NAME`` lists them.
    """
    if not isinstance(source, str) or any(mark in source for mark in "/\\.~"):
        return load_own(source, **_checked(load_own, "your own images", options))
    kind = set_named(source)
    data = kind(**_checked(kind.__init__, source, options))
    data.options = options
    return data


def set_named(name: str) -> type[FactorData]:
    """The class of a data set, or an error that lists the nearest names."""
    if name not in SETS:
        error = unknown("data set", name, SETS)
        if Path(name).exists():
            raise InputError(f"{error} To load your own images from it, write './{name}'.")
        raise error
    return SETS[name]


def options_of(function: Any) -> dict[str, Any]:
    """The options of a set and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    return {p.name: p.default for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}


def fetch_set(name: str) -> list[Path]:
    """Download the published files of a set, those that are not here yet, and verify them."""
    card = set_named(name).card
    return [fetch(file, data_folder(card.files_of or name)) for file in card.files]


def _checked(function: Any, name: str, options: dict[str, Any]) -> dict[str, Any]:
    known = options_of(function)
    for option in options:
        if option not in known:
            raise unknown(f"option of {name}", option, known)
    return options
