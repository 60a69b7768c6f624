"""Which methods differ, and by how much? Intervals and t-tests, corrected for several comparisons."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np

from unweave.errors import InputError, extra, unknown
from unweave.metrics.scoring.inputs import Floats
from unweave.questions.runs import RUN, choose_scores, grouped, read_runs, supervised_metrics

if TYPE_CHECKING:
    import pandas

TESTS, SIDES, FAMILIES = ("welch", "student"), ("two-sided", "greater", "less"), ("data and metric", "all")
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

    Needs ``data``, ``recipe``, ``strength``, ``seed`` and at least one score, with at least two methods that have two
    runs each on the same data set. A method is a value of the columns in ``by``: with ``("recipe",)`` all strengths of
    a recipe are pooled, with ``("recipe", "strength")`` each strength is a method of its own. With ``reference``, only
    the differences to that method are tested (``method`` minus ``reference``).

    Paper 001 (Rhodes & Lee 2021) reports "T-test" without saying which, on which side, or corrected how. ``test`` is
    Welch's t-test by default, or Student's with pooled variance; for groups of equal size the two have the same t and
    differ in the degrees of freedom only. ``side="greater"`` tests whether ``method`` scores above ``other``.
    ``p_holm`` is corrected by Holm's method over all pairs of one data set and metric, or over the whole result
    (``family="all"``). The interval is two-sided at ``confidence``, for a single comparison.

    Returns one row per score, data set and pair: ``metric``, ``data``, ``method``, ``other``, ``runs``, ``other_runs``,
    ``difference``, ``low``, ``high``, ``t``, ``degrees``, ``p``, ``p_holm``. If neither method varies, the test is
    undefined: ``t``, ``degrees`` and both p-values are NaN.
    """
    for name, value, allowed in (("test", test, TESTS), ("side", side, SIDES), ("family", family, FAMILIES)):
        if value not in allowed:
            raise InputError(f"method_differences: {name} must be one of {', '.join(allowed)}, got {value!r}.")
    if not 0 < confidence < 1:
        raise InputError(f"method_differences: confidence must be between 0 and 1, got {confidence!r}.")
    metrics = choose_scores("method_differences", table, metrics, supervised_metrics())
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
                rows.append((metric, data, one, other, len(a), len(b), *compare(a, b, test, side, confidence)))
    if not rows:
        raise InputError(
            "method_differences needs at least two methods with two runs each on the same data set. Train more seeds, "
            "or choose the columns that name a method with by=[…]."
        )
    result = extra("pandas", "study").DataFrame(
        rows, columns=["metric", "data", "method", "other", "runs", "other_runs", *COLUMNS]
    )
    together = grouped(result, ("metric", "data"))["p"] if family == "data and metric" else None
    p = result["p"]
    result["p_holm"] = holm(p.to_numpy()) if together is None else together.transform(lambda v: holm(v.to_numpy()))
    return result


def compare(
    a: Floats, b: Floats, test: str = "welch", side: str = "two-sided", confidence: float = 0.95
) -> tuple[float, float, float, float, float, float]:
    """Return the difference of means, its interval, t, the degrees of freedom and the p-value of two samples."""
    from scipy.stats import t as student

    difference = float(a.mean() - b.mean())
    if np.ptp(a) == 0 and np.ptp(b) == 0:
        return (difference, difference, difference, float("nan"), float("nan"), float("nan"))
    n, m, va, vb = len(a), len(b), a.var(ddof=1), b.var(ddof=1)
    if test == "student":
        degrees = float(n + m - 2)
        error = np.sqrt(((n - 1) * va + (m - 1) * vb) / degrees * (1 / n + 1 / m))
    else:
        error = np.sqrt(va / n + vb / m)
        degrees = float(error**4 / ((va / n) ** 2 / (n - 1) + (vb / m) ** 2 / (m - 1)))
    t = float(difference / error)
    p = {"greater": student.sf(t, degrees), "less": student.cdf(t, degrees)}.get(side, 2 * student.sf(abs(t), degrees))
    reach = float(student.ppf((1 + confidence) / 2, degrees) * error)
    return (difference, difference - reach, difference + reach, t, degrees, float(p))


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
