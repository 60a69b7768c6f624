"""Which methods differ, and by how much? Intervals and t-tests, corrected for several comparisons."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unweave.errors import InputError, extra, unknown
from unweave.figures.drawing.panels import BLUE, SMALL, Panels, lay_out
from unweave.figures.drawing.texts import Labels
from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.names import words
from unweave.questions._question import Question
from unweave.study.columns import RUN, TableError, choose_metrics, grouped, read_runs

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

TESTS, SIDES, FAMILIES = ("welch", "student"), ("two-sided", "greater", "less"), ("data and metric", "all")
MOST, LONGEST = 3, 1.9  # panels beside one another, and inches of the names of two methods
COLUMNS = ("difference", "low", "high", "t", "degrees", "p")


def method_differences(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    by: Sequence[str] = ("recipe",),
    reference: str | None = None,
    test: Literal["welch", "student"] = "welch",
    side: Literal["two-sided", "greater", "less"] = "two-sided",
    family: Literal["data and metric", "all"] = "data and metric",
    confidence: float = 0.95,
) -> pandas.DataFrame:
    """Difference of the mean scores of every two methods on each data set, with an interval and a t-test.

    At least two methods must have two runs each on the same data set. Paper 001 (Rhodes & Lee 2021) reports "T-test"
    without saying which, on which side, or corrected how.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed`` and at least one score.
        metrics: The columns of scores; by default all disentanglement metrics of the table.
        by: The columns whose values are a method: with ``("recipe",)`` all strengths of a recipe are pooled, with
            ``("recipe", "strength")`` each strength is a method of its own.
        reference: If given, only the differences to that method are tested (``method`` minus ``reference``).
        test: Welch's t-test, or Student's with pooled variance; for groups of equal size the two have the same t and
            differ in the degrees of freedom only.
        side: ``"greater"`` tests whether ``method`` scores above ``other``, ``"less"`` whether it scores below.
        family: What ``p_holm`` is corrected over by Holm's method: all pairs of one data set and metric, or the whole
            result (``"all"``).
        confidence: The level of the interval, which is two-sided and for a single comparison.

    Returns:
        One row per score, data set and pair: ``metric``, ``data``, ``method``, ``other``, ``runs``, ``other_runs``,
        ``difference``, ``low``, ``high``, ``t``, ``degrees``, ``p``, ``p_holm``. If neither method varies, the test is
        undefined: ``t``, ``degrees`` and both p-values are NaN.

    Examples:
        >>> import pandas
        >>> from unweave.questions import method_differences
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": ["ae", "ae", "vae", "vae"], "strength": 1.0,
        ...     "seed": [0, 1, 0, 1], "mig": [0.1, 0.2, 0.4, 0.5]})
        >>> method_differences(table)[["method", "other", "difference", "p"]].round(3).values.tolist()
        [['ae', 'vae', -0.3, 0.051]]
    """
    for name, value, allowed in (("test", test, TESTS), ("side", side, SIDES), ("family", family, FAMILIES)):
        if value not in allowed:
            raise InputError(f"method_differences: {name} must be one of {', '.join(allowed)}, got {value!r}.")
    if not 0 < confidence < 1:
        raise InputError(f"method_differences: confidence must be between 0 and 1, got {confidence!r}.")
    metrics = choose_metrics("method_differences", table, metrics)
    keys = list(dict.fromkeys([*RUN, *by]))
    runs = read_runs("method_differences", table, metrics, keys)
    runs["method"] = [" ".join(map(str, row)) for row in runs[list(by)].itertuples(index=False, name=None)]
    if reference is not None and reference not in set(runs["method"]):
        raise unknown("method", str(reference), runs["method"].unique())
    rows = []
    for metric in metrics:
        for (data,), group in grouped(runs, ("data",)):
            samples = {name: part[metric].dropna().to_numpy() for (name,), part in grouped(group, ("method",))}
            samples = {name: values for name, values in samples.items() if len(values) > 1}
            for one, other in _pairs([name for name in runs["method"].unique() if name in samples], reference):
                a, b = samples[one], samples[other]
                rows.append(
                    (metric, data, one, other, len(a), len(b), *difference_of_means(a, b, test, side, confidence))
                )
    if not rows:
        raise TableError(
            "method_differences",
            "needs at least two methods with two runs each on the same data set. Train more seeds, "
            "or choose the columns that name a method with by=[…].",
        )
    result = extra("pandas", "study").DataFrame(
        rows, columns=["metric", "data", "method", "other", "runs", "other_runs", *COLUMNS]
    )
    together = grouped(result, ("metric", "data"))["p"] if family == "data and metric" else None
    p = result["p"]
    result["p_holm"] = holm(p.to_numpy()) if together is None else together.transform(lambda v: holm(v.to_numpy()))
    return result


def draw_method_differences(result: pandas.DataFrame, *, level: float = 0.05) -> Figure:
    """Draw one row of panels per data set and one column per score, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.method_differences`. Differences whose corrected p-value is
    below ``level`` are filled.
    """
    pairs = list(dict.fromkeys(zip(result["method"], result["other"], strict=True)))
    panels, shortened = Panels(result["data"].unique(), result["metric"].unique(), most=MOST), Labels()
    places = {pair: place for place, pair in enumerate(pairs)}
    parts = dict(iter(result.groupby(["data", "metric"], sort=False)))
    names = [shortened.fit(f"{words(method)} − {words(other)}", LONGEST, SMALL) for method, other in pairs]
    for (place, score), part in parts.items():
        panel = panels[place, score]
        y = np.array([places[pair] for pair in zip(part["method"], part["other"], strict=True)])
        _draw_intervals(panel, part, y, (part["p_holm"] < level).to_numpy())
    for place, score in itertools.product(panels.rows, panels.columns):
        panel = panels[place, score]
        panel.axvline(0, color="0.5", linewidth=0.8, linestyle="--")
        first = panels.columns.index(score) % panels.across == 0
        panel.set_yticks(range(len(pairs)), names if first else [""] * len(pairs), fontsize=SMALL)
        panel.set_ylim(len(pairs) - 0.5, -0.5)
    panels.align(x="col")
    panels.name()
    kinds = {f"corrected p < {level:g}": BLUE, "not significant": "0.45"}
    legend = {
        name: {"color": color, "marker": "o", "markerfacecolor": color if number == 0 else "white"}
        for number, (name, color) in enumerate(kinds.items())
    }
    look: dict[str, Any] = {"label": "difference of means", "legend": legend, "labels": shortened, "linestyle": "-"}
    return lay_out(panels.figure, panels.axes, height=max(0.15 * len(pairs), 0.5), **look)


def difference_of_means(
    a: Floats, b: Floats, test: str = "welch", side: str = "two-sided", confidence: float = 0.95
) -> tuple[float, float, float, float, float, float]:
    """Test the difference of the means of two samples.

    Args:
        a: A sample.
        b: Another one.
        test: ``"welch"`` or ``"student"``.
        side: ``"two-sided"``, ``"greater"`` or ``"less"``.
        confidence: The level of the interval, which is two-sided.

    Returns:
        The difference, the ends of its interval, t, the degrees of freedom and the p-value.
    """
    from scipy.stats import ttest_ind

    difference = float(a.mean() - b.mean())
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return (difference, difference, difference, float("nan"), float("nan"), float("nan"))
    with warnings.catch_warnings():  # of precision that is lost if one of the samples is constant; its variance is 0
        warnings.simplefilter("ignore", RuntimeWarning)
        two_sided = ttest_ind(a, b, equal_var=test == "student")
        tested = two_sided if side == "two-sided" else ttest_ind(a, b, equal_var=test == "student", alternative=side)
    low, high = two_sided.confidence_interval(confidence)
    return (difference, float(low), float(high), float(tested.statistic), float(tested.df), float(tested.pvalue))


def holm(p: Floats) -> Floats:
    """Return p-values corrected by Holm's step-down method; NaN is not counted as a comparison."""
    corrected = np.full(len(p), np.nan)
    order = np.argsort(p)[: int((~np.isnan(p)).sum())]  # NaN sorts last
    steps = p[order] * np.arange(len(order), 0, -1)
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected


def _pairs(methods: list[str], reference: str | None) -> list[tuple[str, str]]:
    if reference is None:
        return list(itertools.combinations(methods, 2))
    return [(method, reference) for method in methods if method != reference and reference in methods]


def _draw_intervals(panel: Any, part: pandas.DataFrame, y: Integers, significant: Any) -> None:
    for chosen, color, fill in ((significant, BLUE, BLUE), (~significant, "0.45", "white")):
        some = part[chosen]
        panel.hlines(y[chosen], some["low"], some["high"], color=color, linewidth=1)
        panel.plot(
            some["difference"], y[chosen], marker="o", markersize=3.5, color=color, markerfacecolor=fill, linestyle=""
        )


METHOD_DIFFERENCES = Question(
    "method_differences",
    "Differences between methods",
    asks="Which methods differ on average, and by how much?",
    reads="Differences of mean scores with 95 % confidence intervals. Filled points have a p-value below 0.05 "
    "in Welch's t-test after Holm's correction.",
    table=method_differences,
    draw=draw_method_differences,
)
