"""Student's two-sided t-test of the seeds of methods, as the notebooks of Rhodes & Lee 2021 compare them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from unweave.papers.finding import Claim
from unweave.papers.results import finite

if TYPE_CHECKING:
    import pandas

LEVEL = 0.05


@dataclass(frozen=True)
class Test:
    """The seeds of one method against those of another."""

    names: tuple[str, str]
    means: tuple[float, float]
    seeds: tuple[int, int]
    t: float
    p: float

    @property
    def exceeds(self) -> bool:
        """Whether the first method has the higher mean, and p is below the level."""
        return self.t > 0 and self.p < LEVEL


def compare(runs: pandas.DataFrame, one: str, other: str, score: str) -> Test | None:
    """Return the test of two values of the column ``method``, None if one of them has fewer than two runs."""
    from scipy.stats import ttest_ind

    if score not in runs:
        return None
    a, b = (finite(runs[runs["method"] == method][score]) for method in (one, other))
    if len(a) < 2 or len(b) < 2:
        return None
    test = ttest_ind(a, b)
    return Test((one, other), (a.mean(), b.mean()), (len(a), len(b)), float(test.statistic), float(test.pvalue))


def judge_above(sentence: str, runs: pandas.DataFrame, one: str, others: Sequence[str], score: str) -> Claim:
    """Judge whether one method exceeds all others.

    One that it does not exceed refutes the claim; otherwise it is not tested if one of the others has no runs.
    """
    tests = [compare(runs, one, other, score) for other in others]
    refuted = any(not test.exceeds for test in tests if test is not None)
    return Claim(sentence, False if refuted else None if None in tests else True, evidence(tests))


def evidence(tests: Sequence[Test | None]) -> str:
    """Return the numbers of tests in a sentence, with the rule."""
    known = [test for test in tests if test is not None]
    texts = [
        f"{test.names[0]} {test.means[0]:.3f} against {test.names[1]} {test.means[1]:.3f}, {test.seeds[0]} and "
        f"{test.seeds[1]} seeds, t = {test.t:.2f}, p = {test.p:.2g}"
        for test in known
    ]
    if len(known) < len(tests) or not known:
        texts.append("a method has fewer than two runs")
    return f"{'; '.join(texts)}. Student's t-test, two-sided; a method exceeds another if p < {LEVEL}."
