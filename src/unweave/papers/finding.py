"""A finding of a paper: its claims, the runs that test them, and the answer that they give."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from io import StringIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import extra

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

SCALES = ("lite", "paper")
RESULTS, WORDS = "results.csv", "results.md"  # files of a finding


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, and whether the measured numbers agree with it.

    Examples:
        >>> from unweave.papers import Claim
        >>> Claim("Annealing helps.", shown=None, evidence="No run has a schedule.").verdict
        'not tested'
    """

    sentence: str
    shown: bool | None  # None: it could not be tested with the runs that there are
    evidence: str  # the numbers, in a sentence

    @property
    def verdict(self) -> str:
        """One of "shown", "not shown" and "not tested"."""
        return "not tested" if self.shown is None else "shown" if self.shown else "not shown"


@dataclass(frozen=True)
class Part:
    """A table as published, if numbers were published, and as measured here.

    Examples:
        >>> from unweave.papers import find
        >>> finding = find("impossibility")
        >>> part = finding.answer(finding.stored()).parts[0]
        >>> part.title, part.measured.columns[0]
        ('The factors and the entangled code', 'marginal')
    """

    title: str
    measured: pandas.DataFrame
    published: pandas.DataFrame | None = None
    note: str = ""


@dataclass(frozen=True)
class Answer:
    """The answer of the runs to a finding: a verdict on each claim, and the tables behind it.

    Examples:
        >>> from unweave.papers import find
        >>> finding = find("impossibility")
        >>> [claim.verdict for claim in finding.answer(finding.stored()).claims]
        ['shown', 'shown', 'shown']
    """

    claims: list[Claim]
    parts: list[Part]


@dataclass(frozen=True)
class Picture:
    """A figure of a finding, drawn from its table or from its study."""

    name: str  # of its file
    caption: str
    draw: Callable[[Any], Figure]
    needs: tuple[str, ...] = ()  # columns without which a table has nothing to draw


@dataclass(frozen=True)
class Words:
    """Text about the stored results of a finding: true of these numbers, and of no others."""

    setting: str = ""  # how the runs were chosen, before they were trained
    discussion: str = ""  # agreement, disagreement and explanations, without numbers


@dataclass(frozen=True)
class Finding:
    """A finding of a paper that one command tests.

    ``table`` collects the results of a study, or computes them if there is nothing to train; ``answer`` judges a table,
    which may also have been read from a file. The folder of its module has the specifications ``lite.toml`` and
    ``paper.toml``, the stored ``results.csv``, and ``results.md``, the words about them.

    Examples:
        >>> from unweave.papers import FINDINGS
        >>> FINDINGS["impossibility"].paper
        'Locatello et al. 2019, Theorem 1'
    """

    name: str
    paper: str
    sentence: str
    answer: Callable[[pandas.DataFrame], Answer]
    table: Callable[[Study | None], pandas.DataFrame]
    figures: tuple[Picture, ...] = ()  # drawn from the table
    views: tuple[Picture, ...] = ()  # drawn from the study, which is None if nothing is trained

    @property
    def folder(self) -> Path:
        """The folder with the specifications and the stored results."""
        return Path(__file__).parent / self.name.replace("-", "_")

    @property
    def scales(self) -> tuple[str, ...]:
        """The scales of its specifications, none if nothing is trained."""
        return tuple(scale for scale in SCALES if (self.folder / f"{scale}.toml").is_file())

    def stored(self) -> pandas.DataFrame | None:
        """Return the results that come with Unweave, None if there are none."""
        path = self.folder / RESULTS
        return _read(path) if path.is_file() else None

    def words(self, table: pandas.DataFrame) -> Words:
        """Return what was written about a table, which is nothing if it is not the stored one."""
        stored, path = self.stored(), self.folder / WORDS
        if stored is None or not path.is_file() or not _read(StringIO(table.to_csv(index=False))).equals(stored):
            return Words()
        parts = re.split(r"^# (.+)\n", path.read_text(encoding="utf-8"), flags=re.MULTILINE)[1:]
        return Words(**{title.lower(): text.strip() for title, text in zip(parts[::2], parts[1::2], strict=True)})


def _read(source: Path | StringIO) -> pandas.DataFrame:
    frame: pandas.DataFrame = extra("pandas", "study").read_csv(source)
    return frame
