"""Pairs of scores as points: the tables behind scatter plots."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.errors import extra
from unweave.questions.runs import RUN

if TYPE_CHECKING:
    import pandas

POINT = (*RUN, "x", "y", "x_value", "y_value")


def pair_points(runs: pandas.DataFrame, pairs: Sequence[tuple[str, str]]) -> pandas.DataFrame:
    """Return one row per run and pair of scores that are both present.

    Columns: those of the run, ``x`` and ``y`` (the names of the scores), ``x_value`` and ``y_value``.
    """
    parts = [
        runs[list(RUN)].assign(x=x, y=y, x_value=runs[x], y_value=runs[y])[runs[x].notna() & runs[y].notna()]
        for x, y in pairs
    ]
    return extra("pandas", "study").concat(parts, ignore_index=True)[list(POINT)]
