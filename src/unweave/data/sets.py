"""The data sets by name, and loading one: by name, from the user's own files and arrays, or from an identity."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from torch import Tensor
from torch.utils.data import Dataset

from unweave.data.cars3d import Cars3D
from unweave.data.dsprites import DSprites
from unweave.data.dsprites_variants import ColorDSprites, DSpritesPictures, NoisyDSprites, ScreamDSprites
from unweave.data.factor_data import DataIdentity, FactorData, code_of, plain
from unweave.data.files import data_folder
from unweave.data.files.downloads import fetch
from unweave.data.files.hub import PREFIX, load_hub
from unweave.data.files.own_sources import load_own
from unweave.data.mpi3d import MPI3DMulti, MPI3DReal, MPI3DRealComplex, MPI3DRealistic, MPI3DToy
from unweave.data.natural import Natural
from unweave.data.nvidia3d import Falcor3D, Isaac3D
from unweave.data.own import OwnImages
from unweave.data.rooms3d import Rooms3D
from unweave.data.shapes3d import Shapes3D
from unweave.data.shapes3d_drawn import Shapes3DDrawn
from unweave.data.smallnorb import SmallNORB
from unweave.data.three_dots import FourDots, ThreeDots
from unweave.data.xyobject import XYObject, XYObjectShaded
from unweave.data.xysquares import XYSquares
from unweave.errors import UNKNOWN, InputError, MissingExtra, Unavailable, first_line, unknown
from unweave.factors import FactorSpace
from unweave.key_values import parse_data
from unweave.names import OWN
from unweave.own_code import imported
from unweave.settings import key_in, keyword_settings

SETS: dict[str, type[FactorData]] = {
    data.name: data
    for data in (
        DSprites,
        ColorDSprites,
        NoisyDSprites,
        ScreamDSprites,
        DSpritesPictures,
        ThreeDots,
        FourDots,
        XYSquares,
        XYObject,
        XYObjectShaded,
        Rooms3D,
        Shapes3DDrawn,
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
ELSEWHERE = re.compile(r"[^\W\d][\w.]*:[^\W\d][\w.]*")  # module:name
Maker = Callable[..., FactorData]
Source = str | Path | NDArray[np.generic] | Tensor | Dataset[Any]


def load(source: Source, **options: Any) -> FactorData:
    """Load a data set by name, or your own images.

    ``module:name`` is a :class:`FactorData` class in a module of your own, or a function that returns one. A string
    with a slash or a dot in it, a path, an array, a tensor or a torch Dataset is your own images: see
    :func:`~unweave.data.files.own_sources.load_own`. ``hf:OWNER/NAME`` is a data set of the Hugging Face hub: see
    :func:`~unweave.data.files.hub.load_hub`. Options go to the set; ``unweave data show NAME`` lists them. They can
    also be written behind the name, as in ``"xysquares,size=32"``.

    Examples:
        >>> import numpy as np, unweave
        >>> print(unweave.load("xysquares", spacing=4).space)
        x0 8 · y0 8 · x1 8 · y1 8 · x2 8 · y2 8
        >>> pictures = np.zeros((6, 16, 16), dtype=np.uint8)
        >>> labels = [[x, light] for x in range(3) for light in range(2)]
        >>> print(unweave.load(pictures, factors=labels, names=["x", "light"]).space)
        x 3 · light 2
    """
    return prepared(described(source, **options))


def described(source: Source, **options: Any) -> FactorData:
    """Return a data set as :func:`load` does, but a named one is neither opened nor drawn before :func:`prepared`."""
    if isinstance(source, str):
        source, options = parse_data(source, options)
    if not _is_name(source):
        on_hub = isinstance(source, str) and source.startswith(PREFIX)
        opener, what = (load_hub, str(source)) if on_hub else (load_own, "your own images")
        known = keyword_settings(opener, what).model_fields
        for option in options:  # their values are arrays and tables, which the function checks
            if option not in known:
                raise unknown(f"setting of {what}", option, known, setting=option)
        return load_hub(str(source), **options) if on_hub else load_own(source, **options)
    return _describe(key_in(SETS, str(source)), options)


def prepared(data: FactorData) -> FactorData:
    """Open or draw the images of a data set that was :func:`described`, and return it."""
    with _explained(data.loaded_as or data.name):
        data.prepare()
    return data


def identity_of(source: Source, **options: Any) -> DataIdentity:
    """Return the identity of what :func:`load` would load.

    A named set is neither opened nor drawn, and its identity is cached, so this takes microseconds. Your own images
    are read completely.
    """
    if isinstance(source, str):
        source, options = parse_data(source, options)
    if not _is_name(source):
        return load(source, **options).identity
    source = key_in(SETS, str(source))
    maker = _maker(source)
    kept = json.dumps({name: plain(name, value) for name, value in options.items()}, sort_keys=True)
    with _explained(str(source)):
        state = maker.state(options) if isinstance(maker, type) and issubclass(maker, FactorData) else None
    return _identity(str(source), maker, kept, state)


@lru_cache(maxsize=4096)
def _identity(name: str, maker: Maker, options: str, state: Hashable) -> DataIdentity:
    return _describe(name, json.loads(options)).identity


@lru_cache(maxsize=4096)
def space_of(identity: DataIdentity) -> FactorSpace | None:
    """Return the factors of the data of an identity, None if they are unknown; a named set is not opened."""
    data = open_data(identity) if identity.name == OWN else _describe(identity.name, _as_stored(identity))
    return data.space if data.has_factors else None


def open_data(identity: DataIdentity, **changes: Any) -> FactorData:
    """Load the data of an identity, and verify that it is the same data, unless some of its options are changed."""
    source = identity.source
    if identity.name == OWN:
        if source is None:
            raise InputError("the images were an array in memory and cannot be opened again: pass the data.")
        place = source["path"] if source["path"].startswith(PREFIX) else Path(source["path"])
        if isinstance(place, Path) and not place.exists():
            raise Unavailable(f"the images are no longer at {place}: move them back, or pass the data.")
        data: FactorData = load(place, **{**OwnImages.newer, **source["options"], **changes})
    else:
        data = load(identity.name, **{**_as_stored(identity), **changes})
    if data.identity != identity and not changes:
        where = f" at {source['path']}" if source else ""
        raise Unavailable(
            f"the data {identity.label}{where} is not the same as before: its fingerprint is "
            f"{data.identity.fingerprint} and was {identity.fingerprint}. Restore it, or pass the data."
        )
    return data


def _as_stored(identity: DataIdentity) -> dict[str, Any]:
    """Return the options of a named set, with those that say where its files are, and what newer ones were before."""
    maker = _maker(identity.name)
    if not (isinstance(maker, type) and issubclass(maker, FactorData)):
        return dict(identity.options)
    return {**maker.newer, **identity.options, **(identity.source["options"] if identity.source else {})}


def set_named(name: str) -> type[FactorData]:
    """Return the class of a data set; unknown names are rejected with the closest match.

    Examples:
        >>> from unweave.data import set_named
        >>> set_named("shapes3d").card.space.names
        ('floor_hue', 'wall_hue', 'object_hue', 'scale', 'shape', 'orientation')
    """
    if (key := key_in(SETS, name)) not in SETS:
        raise _with_path(unknown("data set", name, SETS), name)
    return SETS[key]


def options_of(function: Any) -> dict[str, Any]:
    """Return the options of a set and their defaults."""
    parameters = inspect.signature(function).parameters.values()
    named = (inspect.Parameter.KEYWORD_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    return {p.name: p.default for p in parameters if p.kind in named and p.name != "self"}


def fetch_set(name: str) -> list[Path]:
    """Download and verify the published files of a set that are not present yet.

    Examples:
        >>> from unweave.data import fetch_set
        >>> fetch_set("xysquares")  # is drawn and has no files
        []
    """
    card = set_named(name).card
    return [fetch(file, data_folder(card.files_of or name)) for file in card.files]


def _is_name(source: object) -> bool:
    if not isinstance(source, str) or source.startswith(PREFIX):
        return False
    return bool(ELSEWHERE.fullmatch(source)) or not any(mark in source for mark in "/\\.~")


def _maker(name: str) -> Maker:
    if ":" not in name:
        return set_named(name)
    try:
        maker = imported("data set", name)
        if not callable(maker):
            raise InputError(f"{_expected(name)}, got {type(maker).__name__}.")
        inspect.signature(maker)
    except InputError as error:
        raise _with_path(error, name) from error.__cause__
    except (TypeError, ValueError) as error:  # some built-in callables have no signature
        raise InputError(f"{_expected(name)}; the arguments of {maker!r} cannot be read.") from error
    found: Maker = maker
    return found


def _expected(name: str) -> str:
    return f"data set {name!r} must be a FactorData class or a function that returns a FactorData"


def _with_path(error: InputError, name: str) -> InputError:
    """Return the error, with advice if there is a file or folder of that name, in place of a list of all sets."""
    if not Path(name).exists():
        return error
    said = f"unknown data set {name!r}." if error.code == UNKNOWN and not error.meant else str(error)
    return error.reworded(f"{said} To load your own images from it, write './{name}'.")


@contextmanager
def _explained(name: str) -> Iterator[None]:
    """Turn what the user's own code raises into an InputError that names it."""
    try:
        yield
    except (InputError, Unavailable, MissingExtra):
        raise
    except Exception as error:
        if ":" not in name:
            raise
        raise InputError(f"data set {name!r} failed: {first_line(error, named=True)}.") from error


def _describe(name: str, options: dict[str, Any]) -> FactorData:
    """Make a data set without opening its images."""
    maker = _maker(name)
    keyword_settings(maker, name, required=True)(**options)  # raises; a set is given its options as they were written
    with _explained(name):
        data = maker(**options)
    if not isinstance(data, FactorData):
        raise InputError(f"{_expected(name)}, got {type(data).__name__}.")
    known = options_of(maker)
    every = {**known, **options, **data.resolved}
    unsaid = {key for key, before in data.newer.items() if key in known and every[key] == before}
    data.options = {key: plain(key, every[key]) for key in known if key not in unsaid and key not in data.places}
    data.loaded_as = name
    data.code = code_of(maker.__module__) if ":" in name else ""
    return data
