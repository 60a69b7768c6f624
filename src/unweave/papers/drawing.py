"""Figures of findings that are drawn from a table by the figures of studies."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from unweave.papers.finding import Picture
from unweave.papers.summaries import finished

if TYPE_CHECKING:
    import pandas


def of_table(
    name: str, caption: str, runs: Callable[[pandas.DataFrame], pandas.DataFrame] = finished, **settings: Any
) -> Picture:
    """Return the picture that a figure of tables makes from the finished runs; ``unweave figure list`` has its name.

    ``runs`` selects what is drawn of a table.
    """

    def draw(table: pandas.DataFrame) -> Any:
        from unweave.questions import figure_named

        figure = figure_named(name)
        return figure.draw(figure.make(runs(table), **settings))

    return Picture(name.replace("_", "-"), caption, draw)
