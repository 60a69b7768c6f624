"""A row of what was published and what is measured here, and the material that rows are measured from."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from unweave.errors import Unavailable
from unweave.representation import TrainedModel
from unweave.training.public import is_local, public_run, read_public
from unweave.training.run import open_run
from unweave.zoo.public import PublicModel

Verdict = Literal["agrees", "differs", "explained", "missing"]


class Pair(NamedTuple):
    """One number that was published, or None, and the one that is measured here, or None if it cannot be."""

    label: str
    theirs: float | None
    ours: float | None


@dataclass(frozen=True)
class Row:
    """What was published, where, their number and ours, and why they differ where they do."""

    name: str
    what: str
    where: str
    theirs: float | str | None = None  # a text is a published range or statement, with which ours is not judged
    ours: float | None = None
    tolerance: float = 0.0
    relative: bool = False  # whether the tolerance is a share of their number
    why: str = ""
    details: tuple[Pair, ...] = ()  # further numbers; those that were published are judged as well
    missing: str = ""  # what is not on this machine, and how to get it

    @property
    def judged(self) -> list[tuple[float, float]]:
        """Their numbers and ours that must agree."""
        pairs = [(pair.theirs, pair.ours) for pair in self.details]
        pairs += [(self.theirs, self.ours)] if not isinstance(self.theirs, str) else []
        return [(theirs, ours) for theirs, ours in pairs if theirs is not None and ours is not None]

    @property
    def difference(self) -> float | None:
        """The largest difference between their numbers and ours, as a share if the tolerance is one."""
        if not self.judged:
            return None
        return max(abs(ours - theirs) / (abs(theirs) if self.relative else 1) for theirs, ours in self.judged)

    @property
    def verdict(self) -> Verdict:
        """Whether ours agree with theirs; ``explained`` if no number was published that ours could equal."""
        if self.missing:
            return "missing"
        if self.difference is None:
            return "explained"
        return "agrees" if self.difference <= self.tolerance else "differs"


@dataclass
class Material:
    """Where rows find weights, codes and matrices: in a folder, or else by download and in the data folder."""

    folder: Path | None = None
    _opened: dict[str, TrainedModel] = field(default_factory=dict)
    _offline: bool = False  # a download failed, so the others are not tried

    def model(self, model: PublicModel) -> TrainedModel:
        """Return a public model, from the folder or downloaded."""
        if model.name not in self._opened:
            if self.folder is not None:
                self._opened[model.name] = read_public(model, self.folder)
            else:
                self._opened[model.name] = self._downloaded(model)
        return self._opened[model.name]

    def _downloaded(self, model: PublicModel) -> TrainedModel:
        if self._offline and not is_local(model):
            raise Unavailable(
                f"{model.file.url} was not downloaded, because another download failed: download it elsewhere, and "
                "give its folder with --from."
            )
        try:
            return open_run(public_run(model))
        except Unavailable:
            self._offline = True
            raise

    def file(self, name: str, home: str) -> Path:
        """Return a file of the folder; ``home`` says where its content was published."""
        path = None if self.folder is None else self.folder / name
        if path is None or not path.is_file():
            raise Unavailable(f"needs the file {name} in a folder that --from names; its content is at {home}.")
        return path

    @cached_property
    def data(self) -> dict[str, Any]:
        """Data sets that rows have loaded, by name."""
        return {}

    def loaded(self, name: str, **options: Any) -> Any:
        """Return a data set that is on this machine, loaded once."""
        from unweave.data import load

        key = json.dumps([name, options])
        if key not in self.data:
            self.data[key] = load(name, **options)
        return self.data[key]


class Check(NamedTuple):
    """How a row is measured; its name, title and source are known without measuring."""

    name: str
    what: str
    where: str
    measure: Callable[[Row, Material], Row]

    def run(self, material: Material) -> Row:
        """Return the row, measured, or with what is missing."""
        row = Row(self.name, self.what, self.where)
        try:
            return self.measure(row, material)
        except Unavailable as error:
            return Row(self.name, self.what, self.where, missing=str(error))
