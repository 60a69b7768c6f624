"""FactorData, the interface of every data set: images as a function of factors, and the identity of a data set."""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from numbers import Integral, Real
from pathlib import Path
from types import MappingProxyType
from typing import Any, ClassVar, NamedTuple

import numpy as np
import torch
from pydantic import Field
from torch import Tensor

from unweave.data.files.downloads import RemoteFile
from unweave.errors import InputError, whole
from unweave.factors import FactorSpace, Whole, as_integers, check_generator
from unweave.lazy_imports import later
from unweave.names import label_of
from unweave.settings import Settings

FINGERPRINTED = 64  # images, evenly spaced, that identify a data set that load() did not make
NOTHING: Mapping[str, Any] = MappingProxyType({})


@dataclass(frozen=True)
class Card:
    """Facts about a data set for its users: source, licence, files.

    Examples:
        >>> from unweave.data import set_named
        >>> set_named("dsprites").card.licence
        'Apache-2.0'
    """

    title: str  # one line
    space: FactorSpace | None  # None where the factors are not known
    shape: tuple[int, int, int]  # (C, H, W) by default
    licence: str
    citation: str
    home: str  # where the file comes from, or where the drawing was described
    files: tuple[RemoteFile, ...] = ()  # empty for a set that is drawn
    files_of: str = ""  # the set whose folder holds the files, if it is another one


class Sample(NamedTuple):
    """Random images (B, C, H, W) uint8 and their factors (B, K), None where the factors are not known.

    Examples:
        >>> import torch
        >>> import unweave
        >>> images, factors = unweave.load("xysquares", size=16, square=2).sample(3, torch.Generator().manual_seed(0))
        >>> images.shape, factors.shape
        (torch.Size([3, 3, 16, 16]), torch.Size([3, 6]))
    """

    images: Tensor
    factors: Tensor | None


class FactorData:
    """Images uint8 (B, C, H, W) as a function of factors (B, K).

    A subclass sets ``name``, ``card`` and ``shape`` and implements :meth:`_draw` or :meth:`_read`. Slow work
    (reading files, drawing a grid) belongs in :meth:`prepare`, not in ``__init__``, so that the identity of the set can
    be computed without it. A change that alters pixels must change ``version``.

    Examples:
        >>> import torch, unweave
        >>> data = unweave.load("xysquares")
        >>> print(data.space)
        x0 8 · y0 8 · x1 8 · y1 8 · x2 8 · y2 8
        >>> images, factors = data.sample(4, torch.Generator().manual_seed(0))
        >>> images.shape, factors.shape
        (torch.Size([4, 3, 64, 64]), torch.Size([4, 6]))
        >>> data.images(factors).equal(images)
        True
    """

    name: str
    card: Card
    shape: tuple[int, int, int]  # (C, H, W)
    version: str = "1"  # of the pixels; part of the identity
    has_images: bool = True  # whether there are images, and not only rows of factors
    stochastic: bool = False  # whether images are random given the factors
    finite_table: bool = False  # whether the images are a finite table, to be sampled without repetition for scoring
    notes: tuple[str, ...] = ()  # what the user should know about how the data was read
    places: tuple[str, ...] = ()  # options that say where files are; not part of the identity
    newer: Mapping[str, Any] = NOTHING  # options that came after runs had been named, and what these runs had
    resolved: Mapping[str, Any] = NOTHING  # values of the options whose default is computed

    # set by load()
    loaded_as: str | None = None  # the name to load it by
    options: Mapping[str, Any] = NOTHING  # every option and its value
    code: str = ""  # a hash of the module of a set defined elsewhere

    @classmethod
    def state(cls, options: Mapping[str, Any]) -> Hashable:
        """Return the state on disk that the identity depends on besides the options; must be cheap to compute."""
        return None

    def prepare(self) -> None:
        """Read, convert or draw what the images are made from; :func:`load` calls this once."""

    def fingerprint(self) -> str:
        """Return what distinguishes the images from those of other versions; must not open them."""
        return f"v{self.version}"

    @property
    def source(self) -> dict[str, Any] | None:
        """The location of the user's own files, or None: see :class:`DataIdentity`."""
        return None

    @cached_property
    def identity(self) -> DataIdentity:
        """The identity of the data, computed once.

        A set that was not made by :func:`load` is identified by a few of its images and the source code of its class.
        """
        fingerprint = f"{self.fingerprint()}-{self.code}".rstrip("-") if self.loaded_as else self._sampled_fingerprint()
        return DataIdentity(
            name=self.loaded_as or self.name,
            options=dict(self.options),
            shape=self.shape,
            num_images=self.num_images,
            fingerprint=fingerprint,
            source=self.source,
        )

    def _sampled_fingerprint(self) -> str:
        last = min(self.num_images, 2**62) - 1
        index = torch.from_numpy(np.linspace(0, last, min(last + 1, FINGERPRINTED)).astype(np.int64))
        images = self.rows(index, torch.Generator().manual_seed(0))
        module = type(self).__module__
        return digest(images.numpy().tobytes(), "" if module.startswith("unweave.") else code_of(module))

    @property
    def has_factors(self) -> bool:
        """Return whether the images have known factors on a grid."""
        return self.card.space is not None

    @property
    def can_intervene(self) -> bool:
        """Return whether every point of the grid has an image."""
        return self.has_factors

    @property
    def space(self) -> FactorSpace:
        """The grid of factors; raises an InputError if the factors are not known."""
        if self.card.space is None:
            raise InputError(f"{self.name} has no factors, only images, but this needs data with known factors.")
        return self.card.space

    @property
    def factor_names(self) -> tuple[str, ...]:
        """The names of the factors, also of those that are not on a grid; none if they are not known."""
        return self.space.names if self.has_factors else ()

    @property
    def labels(self) -> Tensor | None:
        """The factors (N, K) of all images where these are a finite table, else None."""
        return None

    @property
    def num_images(self) -> int:
        """The number of images, counting one for each point of the grid."""
        return self.space.size

    def exist(self, factors: Tensor) -> Tensor:
        """Return which of the points (B, K) have an image, (B,) booleans."""
        return torch.ones(len(factors), dtype=torch.bool)

    def images(self, factors: Whole, generator: torch.Generator | None = None) -> Tensor:
        """Return the images (B, C, H, W) uint8 of points ``factors`` (B, K); a stochastic set needs the generator."""
        factors = self.space.check(factors)
        if factors.ndim != 2:
            raise InputError(f"factors must be (B, K), got shape {tuple(factors.shape)}.")
        self._check_generator(generator)
        return self._draw(factors.cpu(), generator)

    def rows(self, index: Whole, generator: torch.Generator | None = None) -> Tensor:
        """Return the images (B, C, H, W) uint8 at positions ``index`` (B,) of the grid or of the table."""
        index = self._positions(index)
        self._check_generator(generator)
        return self._read(index, generator)

    def sample(self, n: int, generator: torch.Generator, **narrowing: Any) -> Sample:
        """Draw n images and their factors; ``narrowing`` is passed to :meth:`FactorSpace.sample`."""
        n = whole("the number of images", n)
        self._check_generator(check_generator(generator))
        if narrowing or self.has_factors:
            factors = self.space.sample(n, generator, **narrowing)
            return Sample(self._draw(factors, generator), factors)
        index = torch.randint(self.num_images, (n,), generator=generator)
        return Sample(self._read(index, generator), None)

    # A subclass implements one of the next two; the other follows from it.

    def _draw(self, factors: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return the images of points (B, K) that have been checked."""
        return self._read(self.space.index(factors), generator)

    def _read(self, index: Tensor, generator: torch.Generator | None) -> Tensor:
        """Return the images at positions (B,) that have been checked."""
        return self._draw(self.space.at(index), generator)

    def _positions(self, index: Whole) -> Tensor:
        index = as_integers("positions", index).cpu()
        if index.ndim != 1:
            raise InputError(f"positions must be (B,), got shape {tuple(index.shape)}.")
        if index.numel() and not 0 <= int(index.min()) <= int(index.max()) < self.num_images:
            raise InputError(
                f"positions must be between 0 and {self.num_images - 1}, got {int(index.min())} to {int(index.max())}."
            )
        return index

    def _check_generator(self, generator: torch.Generator | None) -> None:
        if self.stochastic and generator is None:
            raise InputError(f"{self.name} has images that are random given the factors: pass a torch.Generator.")
        if generator is not None and check_generator(generator).device.type != "cpu":
            raise InputError(f"images are drawn on the CPU: pass a CPU generator, not one on {generator.device}.")

    def _repr_html_(self) -> str:
        return str(later("unweave.questions._notebook:data_html", self))

    def __repr__(self) -> str:
        what = str(self.space) if self.has_factors else f"{self.num_images:,} images without factors"
        return "\n".join([f"<{self.name}: {what}; {'×'.join(map(str, self.shape))}>", *self._told()])

    def _told(self) -> list[str]:
        return [f"  note: {note}" for note in self.notes]


def check_image_size(name: str, size: int, at_least: int = 4) -> int:
    """Check the width or height of an image in pixels, and return it."""
    return whole(f"{name}: size in pixels", size, at_least=at_least, at_most=4096)


class DataIdentity(Settings):
    """The identity of the data of a run. Two identities are equal if the data is the same, wherever it is stored.

    ``source`` says where the user's own data was found, ``{"path": …, "options": {…}}``, so that it can be opened
    again; it is None for data that needs no path and for arrays in memory. It is not part of what identifies the data.
    """

    title: ClassVar[str] = "the data"
    name: str  # of a data set, "module:name" for a set defined elsewhere, or "own"
    options: dict[str, Any] = Field(default_factory=dict)  # every option with its value, defaults included
    shape: tuple[int, int, int]  # (C, H, W)
    num_images: int
    fingerprint: str  # a declared version, published checksums, or a hash of all pixels and labels
    source: dict[str, Any] | None = None

    def canonical(self) -> dict[str, Any]:
        """Return what identifies the data, as JSON types: everything but ``source``."""
        return self.model_dump(mode="json", exclude={"source"})

    @property
    def label(self) -> str:
        """The name to show: for the user's own data, the name of its file or folder."""
        return label_of(self.name, self.source)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, DataIdentity) and self.canonical() == other.canonical()

    def __hash__(self) -> int:
        return hash((self.name, self.shape, self.num_images, self.fingerprint))


def digest(*parts: str | bytes) -> str:
    """Hash the parts, in their order, to 16 hexadecimal digits."""
    total = hashlib.sha256()
    for part in parts:
        content = part.encode() if isinstance(part, str) else part
        total.update(b"%d:" % len(content))
        total.update(content)
    return total.hexdigest()[:16]


@cache
def code_of(module: str) -> str:
    """Hash the source file of an imported module; "" where it has none, as in an interactive session."""
    try:
        path = inspect.getsourcefile(sys.modules[module])
        return digest(Path(path).read_bytes()) if path else ""
    except (KeyError, TypeError, OSError):
        return ""


def plain(option: str, value: Any) -> Any:
    """Return the value of an option as JSON types, or raise an InputError if it has no such form."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, np.bool_):
        return bool(value)
    if isinstance(value, Integral):
        return int(value)
    if isinstance(value, Real):
        return float(value)
    if isinstance(value, Path):
        return str(value)
    if isinstance(value, Mapping):
        return {str(key): plain(option, entry) for key, entry in value.items()}
    if isinstance(value, list | tuple | range):
        return [plain(option, entry) for entry in value]
    raise InputError(
        f"option {option} of a data set must be a number, a string, or a list or dictionary of these, "
        f"got {type(value).__name__}."
    )
