"""How well does UDR pick models? See Duan et al. 2020."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import InputError, extra, whole
from unweave.metrics.scoring.inputs import Floats
from unweave.questions.best import choose_rule
from unweave.questions.runs import choose_scores, grouped, read_runs, sign_of, supervised_metrics

if TYPE_CHECKING:
    import pandas


def picked_by_udr(
    table: pandas.DataFrame,
    *,
    rule: str = "udr",
    metrics: Sequence[str] | None = None,
    per: Sequence[str] = ("data", "recipe"),
    top: int = 1,
) -> pandas.DataFrame:
    """Score of the run that UDR picks, beside the mean, the best and a random run.

    Needs ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and the column ``udr`` (or another ``rule``
    without labels: see :func:`best_without_labels`), with at least two runs in some group. Duan et al. 2020 rank the
    models of one method on one data set, the default of ``per``; ``per=("data",)`` chooses between methods too. The
    score of the pick is the mean over the ``top`` runs; runs that tie at the threshold are all taken in equal parts.

    Returns one row per group and metric: the columns of ``per``, ``metric``, ``runs``, ``picked``, ``mean`` (the
    expectation of a random pick), ``best``, ``regained``, which is (picked − mean) / (best − mean), and ``beats``, the
    probability that a picked run scores higher than a random other run, where a tie counts one half. A random pick has
    an expected ``regained`` of 0 and ``beats`` of 0.5. For metrics that are better when lower, ``best`` is the lowest.
    ``regained`` is NaN if all runs score the same. Groups of one run are left out.
    """
    analysis = f"picked_by_{rule}"
    rule = choose_rule(analysis, table, rule)
    top = whole(f"{analysis}: top", top, at_least=1)
    metrics = choose_scores(analysis, table, metrics, supervised_metrics())
    runs = read_runs(analysis, table, [rule, *metrics])
    rows = []
    for metric in metrics:
        complete = runs[runs[rule].notna() & runs[metric].notna()]
        for key, group in grouped(complete, per):
            if len(group) < 2:
                continue
            sign = sign_of(metric)
            scores = sign * group[metric].to_numpy()
            weights = pick_weights(sign_of(rule) * group[rule].to_numpy(), top)
            above = (scores[:, None] > scores).sum(1) + 0.5 * ((scores[:, None] == scores).sum(1) - 1)
            picked, mean, best = weights @ scores, scores.mean(), scores.max()
            regained = (picked - mean) / (best - mean) if np.ptp(scores) > 0 else float("nan")
            beats = weights @ above / (len(group) - 1)
            rows.append((*key, metric, len(group), sign * picked, sign * mean, sign * best, regained, beats))
    if not rows:
        raise InputError(f"{analysis} needs at least two runs to choose from, and every group has one.")
    columns = [*per, "metric", "runs", "picked", "mean", "best", "regained", "beats"]
    return extra("pandas", "study").DataFrame(rows, columns=columns)


def pick_weights(values: Floats, top: int) -> Floats:
    """Return weights (n,) that sum to 1: equal for the ``top`` highest values, shared by those that tie for the last.

    >>> pick_weights(np.array([3.0, 2.0, 2.0, 1.0]), 2).tolist()
    [0.5, 0.25, 0.25, 0.0]
    """
    top = min(top, len(values))
    threshold = np.sort(values)[-top]
    above, ties = values > threshold, values == threshold
    weights: Floats = (above + ties * (top - above.sum()) / ties.sum()) / top
    return weights
