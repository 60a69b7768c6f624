"""A run is its configuration: typed, checked, and hashed to the run's name."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import Field

from unweave.data import FactorData, OwnImages
from unweave.errors import InputError, extra, unknown
from unweave.recipes import FIELDS, Recipe, compose, parameters_of
from unweave.settings import Settings

FINGERPRINTED = 64  # images, evenly over the set
Precision = Literal["32-true", "bf16-mixed"]


class DataIdentity(Settings):
    """Which data a run saw: its name and options, and a fingerprint of its images."""

    title: ClassVar[str] = "the data"
    name: str
    options: dict[str, Any] = Field(default_factory=dict)
    shape: tuple[int, int, int]
    size: int
    fingerprint: str

    @classmethod
    def of(cls, data: FactorData) -> DataIdentity:
        """The identity of a data set; one's own is told by all of its images and factors, others by some images."""
        size = min(data.size, 2**62)
        few = size if isinstance(data, OwnImages) else min(size, FINGERPRINTED)
        index = torch.from_numpy(np.linspace(0, size - 1, few).astype(np.int64))
        digest = hashlib.sha256()
        for part in index.split(1024):
            digest.update(data.rows(part, torch.Generator().manual_seed(0)).numpy().tobytes())
        if isinstance(data, OwnImages) and data.labels is not None:
            digest.update(data.labels.numpy().tobytes())
        fingerprint = digest.hexdigest()[:16]
        return cls(name=data.name, options=dict(data.options), shape=data.shape, size=size, fingerprint=fingerprint)


class Configuration(Recipe):
    """Everything that decides what a run learns."""

    title: ClassVar[str] = "the configuration"
    data: DataIdentity
    seed: int = Field(default=0, ge=0, lt=2**32)
    precision: Precision = "32-true"
    devices: int = Field(default=1, ge=1)  # batches are parted among them
    snapshots: int = Field(default=0, ge=0, le=10_000)  # weights kept on the way, evenly, for filtering by PSNR
    samples: int = Field(default=10_000, ge=2)  # images that a linear recipe is fitted to

    def check(self) -> None:
        """Refuse what cannot be combined, with the reason."""
        super().check()
        if self.batch % self.devices:
            raise InputError(f"a batch of {self.batch} cannot be parted among {self.devices} devices.")
        pixels = math.prod(self.data.shape)
        if self.linear and self.latent.size > min(self.samples, pixels):
            raise InputError(
                f"{self.recipe}: no {self.latent.size} components are in {self.samples} images of {pixels} pixels."
            )
        if self.snapshots > self.steps:
            raise InputError(f"{self.snapshots} snapshots cannot be taken in {self.steps} steps.")

    def canonical(self) -> str:
        """The whole configuration as JSON, the same text for the same configuration."""
        return json.dumps(self.model_dump(mode="json"), sort_keys=True, separators=(",", ":"), ensure_ascii=False)

    @property
    def name(self) -> str:
        """The run's name: 16 digits of the hash of all of it."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()[:16]


OWN_FIELDS = tuple(name for name in Configuration.model_fields if name not in (*Recipe.model_fields, "data"))


class Execution(Settings):
    """How a run is carried out; nothing of this decides what is learned, but for the order of sums.

    ``threads`` of None is what torch has.
    """

    title: ClassVar[str] = "the execution"
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    threads: int | None = Field(default=None, ge=1)
    checkpoint_steps: int | None = Field(default=None, ge=1)
    checkpoint_seconds: float = Field(default=60.0, ge=0)
    log_steps: int = Field(default=100, ge=1)
    tensorboard: bool = False


def configure(recipe: str | Recipe, data: FactorData, settings: Mapping[str, Any]) -> tuple[Configuration, Execution]:
    """The configuration and execution of a run, from a recipe, data and settings by name; or why they do not fit."""
    if not isinstance(data, FactorData):
        raise InputError(f"train: data must be a data set, as unweave.load gives, got {type(data).__name__}.")
    settings = {key: value for key, value in settings.items() if value is not None or "." in key}
    execution = {key: settings.pop(key) for key in Execution.model_fields if key in settings}
    own = {key: settings.pop(key) for key in OWN_FIELDS if key in settings}
    _check_names(recipe, settings)
    if isinstance(recipe, Recipe):
        if settings:
            raise InputError(f"{next(iter(settings))}: a Recipe of your own is complete; set this in it.")
        made = recipe
        made.check()
    else:
        made = compose(recipe, settings, factors=len(data.space) if data.has_factors else None)
    configuration = Configuration(**made.model_dump(mode="json"), data=DataIdentity.of(data), **own)
    configuration.check()
    if configuration.grouping is not None:
        _check_pairs(configuration, data)
    executed = Execution(**execution)
    if executed.tensorboard:
        extra("tensorboard", "tensorboard")
    return configuration, executed


def _check_names(recipe: str | Recipe, settings: Mapping[str, Any]) -> None:
    if isinstance(recipe, Recipe):
        return
    known = [*parameters_of(recipe), *FIELDS, "lr", "latent", "terms", "grouping", *OWN_FIELDS, *Execution.model_fields]
    for key in settings:
        if "." not in key and key not in known:
            raise unknown(f"setting of {recipe}", key, known)


def _check_pairs(configuration: Configuration, data: FactorData) -> None:
    if not (data.has_factors and data.can_intervene):
        raise InputError(f"{configuration.recipe} learns from pairs, and {data.name} has no factors to pair images by.")
    if configuration.batch % 2:
        raise InputError(f"{configuration.recipe} learns from pairs: batch must be even, got {configuration.batch}.")
    pairs = data.space.pairs(1, changed_of(configuration, data), torch.Generator().manual_seed(0))  # says what is wrong
    if not pairs.changed.any() and configuration.changed == 0:
        raise InputError("changed=0: pairs that differ in nothing teach nothing.")


def changed_of(configuration: Configuration, data: FactorData) -> int | tuple[int, int]:
    """How many factors differ within a pair; by default 1 to all but one of those that vary (Locatello et al. 2020)."""
    if configuration.changed is not None:
        return configuration.changed
    return 1, max(1, sum(size > 1 for size in data.space.sizes) - 1)
