"""How much of a score's variance do the method, its hyperparameter and the seed explain?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unweave.errors import InputError, extra
from unweave.figures.drawing.panels import BLUE, GREY, ORANGE, SMALL, Panels, lay_out
from unweave.figures.drawing.texts import Labels
from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.names import words
from unweave.questions._question import Question
from unweave.study.columns import SETTING, TableError, choose_metrics, grouped, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

METHODS = ("adjusted", "leave-one-out", "plain")
SOURCES = {"objective": BLUE, "hyperparameter": ORANGE, "seed": GREY}
BAR = 0.26
LEAST, MOST = -0.25, 1.25  # ends of the axis
LONGEST = 1.5  # inches of the name of a data set


def variance_explained(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    method: Literal["adjusted", "leave-one-out", "plain"] = "adjusted",
) -> pandas.DataFrame:
    r"""Share of the variance of each score that is explained by objective, hyperparameter and seed, per data set.

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and at least one score, with at least two seeds for some setting.
    Two models predict a score by the mean of its group: by recipe alone, and by recipe and strength together. The share
    of the *objective* is the R² of the first, that of the *hyperparameter* is the increase from the first to the
    second, and that of the *seed* is the rest, which also holds everything else in which runs of equal settings differ.
    The three sum to 1. Strengths are categories, so that the hyperparameter includes its interaction with the method.

    ``method`` is the form of R². ``"adjusted"`` is :math:`1 - \frac{SSE / (n - p)}{SST / (n - 1)}` with p groups;
    ``"leave-one-out"`` predicts each run from the mean of the others (settings with a single run are left out);
    ``"plain"`` is :math:`1 - SSE / SST`, which attributes about p / n of pure noise to the groups. For pure noise the
    adjusted form is 0 on average, and can be slightly negative; the leave-one-out form is about
    :math:`-p / n`, because means of few runs predict worse than the mean of all.

    It is part of the published version of Locatello et al. 2019, not of the preprint.

    Returns one row per data set, score and source: ``metric``, ``data``, ``source``, ``explained``, ``runs``. The share
    is NaN if the score is constant or if there are no more runs than settings.

    Examples:
        >>> import pandas
        >>> from unweave.questions import variance_explained
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": ["ae", "ae", "vae", "vae"], "strength": 1.0,
        ...     "seed": [0, 1, 0, 1], "mig": [0.1, 0.1, 0.4, 0.4]})
        >>> variance_explained(table)[["source", "explained"]].round(2).values.tolist()
        [['objective', 1.0], ['hyperparameter', 0.0], ['seed', 0.0]]
    """
    if method not in METHODS:
        raise InputError(f"variance_explained: method must be one of {', '.join(METHODS)}, got {method!r}.")
    metrics = choose_metrics("variance_explained", table, metrics)
    runs = read_runs("variance_explained", table, metrics)
    if grouped(runs, ("data", *SETTING)).size().max() < 2:
        raise TableError(
            "variance_explained", "needs at least two seeds for each setting, and every setting has one run."
        )
    if grouped(runs, SETTING).ngroups < 2:
        raise TableError("variance_explained", "needs several methods or strengths, and all runs have the same ones.")
    rows = []
    for metric in metrics:
        for (data,), group in grouped(runs[runs[metric].notna()], ("data",)):
            setting = grouped(group, SETTING).ngroup().to_numpy()
            if method == "leave-one-out":
                group = group[np.bincount(setting)[setting] > 1]
                setting = grouped(group, SETTING).ngroup().to_numpy()
            recipe = grouped(group, ("recipe",)).ngroup().to_numpy()
            values = group[metric].to_numpy()
            objective, both = (r_squared(values, labels, method) for labels in (recipe, setting))
            shares = {"objective": objective, "hyperparameter": both - objective, "seed": 1 - both}
            if np.isnan(both):
                shares = dict.fromkeys(shares, both)
            rows += [(metric, data, source, share, len(values)) for source, share in shares.items()]
    return extra("pandas", "study").DataFrame(rows, columns=["metric", "data", "source", "explained", "runs"])


def draw_variance_explained(result: pandas.DataFrame) -> Figure:
    """Draw one panel per score with three bars per data set, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.variance_explained`. Bars stand beside one another rather than
    on top, because estimated shares can be negative; those beyond the axis, from −0.25 to 1.25, are written out.
    """
    data = result["data"].unique()
    panels, shortened = Panels([""], result["metric"].unique()), Labels()
    names = [shortened.fit(words(name), LONGEST, SMALL) for name in data]
    places = np.arange(len(data))
    for place, score in enumerate(panels.columns):
        panel, part = panels["", score], result[result["metric"] == score]
        for number, (source, color) in enumerate(SOURCES.items()):
            shares = part[part["source"] == source].set_index("data")["explained"].reindex(data).to_numpy()
            y = places + (number - 1) * BAR
            shown = np.clip(shares, LEAST, MOST)
            panel.barh(y, shown, height=BAR, color=color, edgecolor="black", linewidth=0.4)
        panel.axvline(0, color="black", linewidth=0.6)
        panel.set_xlim(LEAST, MOST)
        panel.set_yticks(places, names if place % panels.across == 0 else [""] * len(data), fontsize=SMALL)
        panel.set_ylim(len(data) - 0.5, -0.5)
    panels.name()
    styles = {source: {"color": color, "marker": "s"} for source, color in SOURCES.items()}
    label = "estimated share of the variance"
    look: dict[str, Any] = {"legend": styles, "labels": shortened, "label": label, "markersize": 6}
    return lay_out(panels.figure, panels.axes, height=0.36 * len(data) + 0.1, caption=_beyond(result), **look)


def _beyond(result: pandas.DataFrame) -> str:
    """Return what the shares are, and those that the axis does not show."""
    text = "Estimates that are corrected for the number of groups: they can be below 0, and then another is above 1."
    far = result[(result["explained"] < LEAST) | (result["explained"] > MOST)]
    listed = "; ".join(
        f"{words(row.metric)} on {words(row.data)}, {row.source} {row.explained:.2f}".replace("-", "−")
        for row in far.itertuples()
    )
    return f"{text} Beyond the axis, from too few runs to tell: {listed}." if listed else text


def r_squared(values: Floats, groups: Integers, method: str) -> float:
    """R² of predicting ``values`` (n,) by the means of ``groups`` (n,); NaN if it is undefined."""
    n = len(values)
    if n < 2 or np.ptp(values) == 0:
        return float("nan")
    counts = np.bincount(groups)
    residual = values - (np.bincount(groups, values) / counts)[groups]
    total = values - values.mean()
    if method == "leave-one-out":
        if counts.min() < 2:
            return float("nan")
        residual = residual * (counts / (counts - 1))[groups]  # what the mean of the others misses
        total = total * n / (n - 1)
    ratio = float((residual @ residual) / (total @ total))
    if method == "adjusted":
        if n <= len(counts):
            return float("nan")
        ratio *= (n - 1) / (n - len(counts))
    return 1 - ratio


VARIANCE_EXPLAINED = Question(
    "variance_explained",
    "Variance explained",
    asks="How much of the variation of a score is explained by the choice of method, by its hyperparameter, "
    "and by chance?",
    reads="Shares of the variance of each score by objective, hyperparameter and seed. They sum to 1, and as "
    "estimates from few runs they can be below 0 or above 1.",
    table=variance_explained,
    draw=draw_variance_explained,
)
