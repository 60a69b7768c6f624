"""What a question of a study is: what it asks, the table that answers it, and how that table is drawn and read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from unweave.figures.figure import Figure

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure as Drawn


@dataclass(frozen=True)
class Question:
    """A question that a table of runs answers.

    ``table`` is called with a data frame that has one row per run, and with settings as keyword arguments; it returns
    the answer as a data frame, or raises a :class:`~unweave.study.columns.TableError` that says what the runs lack.
    ``draw`` makes a matplotlib figure of the answer.
    """

    name: str
    title: str
    asks: str  # the question as a sentence
    reads: str  # how the figure is read
    table: Callable[..., pandas.DataFrame]
    draw: Callable[[Any], Drawn]
    paper: str = ""  # figures of the papers that it corresponds to
    points: bool = False  # the table repeats the scores of single runs, so that reports show the figure only

    @property
    def figure(self) -> Figure:
        """The question as a figure of a table of runs."""
        return Figure(self.name, self.asks, "table", self.table, self.draw, paper=self.paper)
