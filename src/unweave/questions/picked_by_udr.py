"""How well does UDR pick models? See Duan et al. 2020."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra, whole
from unweave.figures.drawing.panels import BLUE, RED, SMALL, Panels, lay_out
from unweave.figures.drawing.texts import Labels
from unweave.metrics.scoring.inputs import Floats
from unweave.names import words
from unweave.questions._question import Question
from unweave.questions.best_without_labels import choose_rule
from unweave.study.columns import TableError, choose_metrics, grouped, read_runs, sign_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

LONGEST = 1.6  # inches of the name of a group
LOOKS: dict[str, dict[str, Any]] = {
    "mean": {"color": "0.45", "marker": "o", "markerfacecolor": "white"},
    "picked": {"color": RED, "marker": "D"},
    "best": {"color": BLUE, "marker": "s"},
}


def picked_by_udr(
    table: pandas.DataFrame,
    *,
    rule: str = "udr",
    metrics: Sequence[str] | None = None,
    per: Sequence[str] = ("data", "recipe"),
    top: int = 1,
) -> pandas.DataFrame:
    """Score of the run that UDR picks, beside the mean, the best and a random run.

    Runs that tie at the threshold are all taken in equal parts. For metrics that are better when lower, ``best`` is the
    lowest. Groups of one run are left out.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and the column of the rule,
            with at least two runs in some group.
        rule: The column to pick by: UDR, or another score without labels (see :func:`best_without_labels`).
        metrics: The columns of metrics; by default all disentanglement metrics of the table.
        per: The columns of a group. By default the models of one method on one data set are ranked, as in Duan et al.
            2020; ``("data",)`` chooses between methods too.
        top: The number of runs that are picked; their scores are averaged.

    Returns:
        One row per group and metric: the columns of ``per``, ``metric``, ``rule``, ``runs``, ``picked``, ``mean`` (the
        expectation of a random pick), ``best``, ``regained``, which is (picked − mean) / (best − mean), and ``beats``,
        the probability that a picked run scores higher than a random other run, where a tie counts one half. A random
        pick has an expected ``regained`` of 0 and ``beats`` of 0.5. ``regained`` is NaN if all runs score the same.

    Examples:
        >>> import pandas
        >>> from unweave.questions import picked_by_udr
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "udr": [0.2, 0.4, 0.5], "mig": [0.1, 0.2, 0.3]})
        >>> picked_by_udr(table)[["picked", "mean", "best"]].round(2).values.tolist()
        [[0.3, 0.2, 0.3]]
    """
    question = "picked_by_udr"
    rule = choose_rule(question, table, rule)
    top = whole(f"{question}: top", top, at_least=1)
    metrics = choose_metrics(question, table, metrics)
    runs = read_runs(question, table, [rule, *metrics])
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
            rows.append((*key, metric, rule, len(group), sign * picked, sign * mean, sign * best, regained, beats))
    if not rows:
        raise TableError(question, "needs at least two runs to choose from, and every group has one.")
    columns = [*per, "metric", "rule", "runs", "picked", "mean", "best", "regained", "beats"]
    return extra("pandas", "study").DataFrame(rows, columns=columns)


def draw_picked_by_udr(result: pandas.DataFrame) -> Figure:
    """Draw one panel per score with one line per group, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.picked_by_udr`. The line reaches from the mean of the runs,
    which a random pick attains on average, to the best run. The legend names the rule.
    """
    keys = list(result.columns[: result.columns.get_loc("metric")])
    groups = result[keys].astype(str).agg(", ".join, axis=1)
    names = list(dict.fromkeys(groups))
    panels, shortened = Panels([""], result["metric"].unique()), Labels()
    short = [shortened.fit(words(name), LONGEST, SMALL) for name in names]
    for number, score in enumerate(panels.columns):
        panel, part = panels["", score], result[result["metric"] == score]
        y = groups[part.index].map({name: place for place, name in enumerate(names)})
        panel.hlines(y, part["mean"], part["best"], color="0.75", linewidth=1, zorder=0)
        for kind, look in LOOKS.items():
            panel.plot(part[kind], y, markersize=4, linestyle="none", **look)
        panel.set_yticks(range(len(names)), short if number % panels.across == 0 else [""] * len(names), fontsize=SMALL)
        panel.set_ylim(len(names) - 0.5, -0.5)
    panels.name()
    picked = {"picked": f"picked by {words(result['rule'].iloc[0])}"}
    key: dict[str, Any] = {"legend": {picked.get(kind, kind): look for kind, look in LOOKS.items()}, "as_words": False}
    height = 0.17 * len(names) + 0.15
    return lay_out(panels.figure, panels.axes, height=height, label="score", labels=shortened, **key)


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


PICKED_BY_UDR = Question(
    "picked_by_udr",
    "Selection by UDR",
    asks="How good are the models that the unsupervised disentanglement ranking picks?",
    reads="Each line reaches from the mean of the runs, which a random pick attains on average, to the best run.",
    table=picked_by_udr,
    draw=draw_picked_by_udr,
)
