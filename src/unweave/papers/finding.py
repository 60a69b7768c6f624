"""What a finding of a paper is: a claim, the runs that test it, and the answer that they give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

SCALES = ("lite", "paper")


@dataclass(frozen=True)
class Claim:
    """One sentence of a paper, and whether the measured numbers agree with it."""

    sentence: str
    shown: bool | None  # None: it could not be tested with the runs that there are
    evidence: str  # the numbers, in a sentence

    @property
    def verdict(self) -> str:
        """One of "shown", "not shown" and "not tested"."""
        return "not tested" if self.shown is None else "shown" if self.shown else "not shown"


@dataclass(frozen=True)
class Part:
    """A table as published, if numbers were published, and as measured here."""

    title: str
    measured: pandas.DataFrame
    published: pandas.DataFrame | None = None
    note: str = ""


@dataclass(frozen=True)
class Answer:
    """What the runs say about a finding."""

    claims: list[Claim]
    parts: list[Part]


@dataclass(frozen=True)
class Picture:
    """A figure of a finding, drawn from its table or from its study."""

    name: str  # of its file
    caption: str
    draw: Callable[[Any], Figure]


@dataclass(frozen=True)
class Finding:
    """A finding of a paper that one command tests.

    ``table`` collects the results of a study, or computes them if there is nothing to train; ``answer`` judges a table,
    which may also have been read from a file.
    """

    name: str
    paper: str
    sentence: str
    answer: Callable[[pandas.DataFrame], Answer]
    table: Callable[[Study | None], pandas.DataFrame]
    specs: Mapping[str, str] = field(default_factory=dict)  # file names in papers/, empty if nothing is trained
    figures: tuple[Picture, ...] = ()  # drawn from the table
    views: tuple[Picture, ...] = ()  # drawn from the study, which is None if nothing is trained
    setting: str = ""  # of the lite scale, and the rule by which it was chosen before the runs
    discussion: str = ""  # agreement, disagreement and explanations, without numbers
