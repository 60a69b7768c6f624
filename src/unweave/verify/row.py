"""A row of what was published and what is measured here, the material of rows, and the page of all rows."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, NamedTuple

from unweave.data.files import data_folder
from unweave.errors import Unavailable
from unweave.representation import TrainedModel
from unweave.training.adoption import is_local, public_run, read_public
from unweave.training.run import open_run
from unweave.zoo.public import PublicModel

Verdict = Literal["agrees", "differs", "explained", "missing"]
INTRODUCTION = """# What others published

`unweave verify` recomputes numbers that others published and prints them beside its own; `unweave verify NAME` shows
one row with all of its numbers. This page is the output of

    unweave verify --from FOLDER --page docs/verified.md

where the folder has what cannot be drawn or computed. Without `--from`, the weights of public models are downloaded
and must have the published checksum. A row *agrees* if every number is within its tolerance. It is *explained* if
nothing was published that ours should equal. *Missing* material was not on the machine that made this page.
"""


class Pair(NamedTuple):
    """One number that was published, or None, and the one that is measured here, or None if it cannot be."""

    label: str
    theirs: float | None
    ours: float | None


@dataclass(frozen=True)
class Row:
    """A published number with its source, ours beside it, and why they differ where they do."""

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
        """Return whether ours agree with theirs; ``explained`` if no number was published that ours could equal."""
        if self.missing:
            return "missing"
        if self.difference is None:
            return "explained"
        return "agrees" if self.difference <= self.tolerance else "differs"


@dataclass
class Material:
    """The source of weights, codes and matrices: a folder, or else downloads and the data folder."""

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
    """The measurement of a row; its name, title and source are known without measuring."""

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


def page(rows: Sequence[Row], source: Path | None) -> str:
    """Return the rows as a page in Markdown; the path of the source is not shown."""
    count = Counter(row.verdict for row in rows)
    total = ", ".join(f"{count[verdict]} {verdict}" for verdict in ("agrees", "explained", "differs", "missing"))
    lines = [INTRODUCTION, f"Of {len(rows)} rows: {total}.", ""]
    for title in dict.fromkeys(section_of(row) for row in rows):
        lines += [f"## {title}", "", "| row | what | published | ours | difference | |", "|---|---|---|---|---|---|"]
        chosen = [row for row in rows if section_of(row) == title]
        for row in chosen:
            cells = (f"`{row.name}`", row.what, shown(row.theirs), shown(row.ours), difference(row), row.verdict)
            lines.append(f"| {' | '.join(cells)} |")
        lines += ["", *_notes(chosen, source), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def section_of(row: Row) -> str:
    """Return the title of the section of a row."""
    group, _, kind = row.name.partition("/")
    if kind in ("distances", "constants"):
        return "Data sets"
    if group in ("qlae", "codes"):
        return "Scores"
    return "Theorem, grids and units" if group in ("theorem-1", "grid", "psnr") else "Trained models of others"


def shown(number: float | str | None) -> str:
    """Return a number with six digits, a text as it is, and nothing for None."""
    if number is None or isinstance(number, str):
        return number or ""
    return f"{number:,.0f}" if number == round(number) and abs(number) >= 1 else f"{number:.6g}"


def difference(row: Row) -> str:
    """Return the largest difference of a row, a share with a percent sign."""
    if row.difference is None:
        return ""
    if row.relative:
        return f"{row.difference:.2%}"
    return f"{row.difference:.1e}" if row.difference else "0"


def _notes(rows: Sequence[Row], source: Path | None) -> list[str]:
    """Return where each row was published, why numbers differ, and what is missing, each sentence once."""
    where: dict[str, list[str]] = {}
    why: dict[str, list[str]] = {}
    for row in rows:
        where.setdefault(row.where, []).append(row.name)
        text = row.missing if row.missing else row.why
        text = text.replace(str(data_folder()), "$UNWEAVE_DATA")
        if source is not None:
            text = text.replace(str(source), "the folder")
        if text:
            why.setdefault(f"Missing: {text}" if row.missing else text, []).append(row.name)
    lines = ["Published in:", "", *(f"- {place} ({_names(names)})" for place, names in where.items())]
    return [*lines, "", "Notes:", "", *(f"- {_names(names)}: {text}" for text, names in why.items())] if why else lines


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
