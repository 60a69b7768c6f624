"""Spearman's rank correlation between scores, for each data set."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import extra
from unweave.metrics.scoring.inputs import Floats
from unweave.questions.runs import Over, grouped, over_seeds

if TYPE_CHECKING:
    import pandas

FEWEST = 3  # pairs of values; two always correlate perfectly


def rank_correlation(one: Floats, other: Floats) -> float:
    """Pearson correlation of the ranks, where tied values share their average rank.

    Pairs with a missing value are left out. The result is NaN for fewer than three pairs or if one side is constant.
    """
    from scipy.stats import rankdata

    both = np.isfinite(one) & np.isfinite(other)
    return _correlation(*(rankdata(values[both]) for values in (one, other)))


def _correlation(a: Floats, b: Floats) -> float:
    """Pearson correlation of ranks (n,); NaN for fewer than three or if one side is constant."""
    if len(a) < FEWEST:
        return float("nan")
    a, b = a - a.mean(), b - b.mean()
    scale = np.sqrt((a @ a) * (b @ b))
    return float(np.clip(a @ b / scale, -1, 1)) if scale > 0 else float("nan")


def correlate(
    runs: pandas.DataFrame, these: Sequence[str], those: Sequence[str], over: Over, names: tuple[str, str]
) -> pandas.DataFrame:
    """Return one row per data set and pair of scores: ``data``, the two ``names``, ``correlation`` and ``count``.

    ``count`` is the number of models, or of medians over seeds, that have both scores.
    """
    from scipy.stats import rankdata

    values = over_seeds(runs, list(dict.fromkeys([*these, *those])), over)
    rows = []
    for data, group in grouped(values, ("data",)):
        columns = {name: group[name].to_numpy() for name in (*these, *those)}
        ranks = {name: rankdata(column) for name, column in columns.items() if np.isfinite(column).all()}  # once each
        for one in these:
            for other in those:
                a, b = columns[one], columns[other]
                known = one in ranks and other in ranks
                correlation = _correlation(ranks[one], ranks[other]) if known else rank_correlation(a, b)
                rows.append((data[0], one, other, correlation, int((np.isfinite(a) & np.isfinite(b)).sum())))
    return extra("pandas", "study").DataFrame(rows, columns=["data", *names, "correlation", "count"])
