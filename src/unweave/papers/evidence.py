"""The results of a finding: its table, scores during training, means and spreads over seeds, Student's t-test."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra
from unweave.papers.finding import Claim, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study
    from unweave.study.spec import Scoring
    from unweave.training import Run

PROTOCOL = ("samples", "test_samples", "seed", "settings")
LEVEL = 0.05
SHARES = (0.1, 0.3)  # of a run, after which it is measured as well
TRAINED = "trained, % of the run"  # the column of the share in the table that is drawn


def collect(study: Study | None) -> pandas.DataFrame:
    """Return the settings, the scores and the times of a study, and the protocol by which each run was scored."""
    assert study is not None
    table = study.table()
    left = {"error", "data.folder"}  # a path of this machine
    columns = [name for name in table if not str(name).startswith("configuration.") and name not in left]
    stages = [study.spec.scoring_of(planned.stage) for planned in study.all_planned()]
    protocols = [json.dumps(_protocol(scoring)) for scoring in stages]
    return table[columns].assign(protocol=protocols)


def _protocol(scoring: Scoring) -> dict[str, Any]:
    """Return how runs were scored; tables that say nothing of the source are of new images."""
    return scoring.model_dump(include=set(PROTOCOL) | ({"source"} if scoring.source != "fresh" else set()))


def collect_local(study: Study | None) -> pandas.DataFrame:
    """Return the table with one column per radius of each local metric, like ``local_mig at 0.1``."""
    assert study is not None
    pandas = extra("pandas", "study")
    table = collect(study)
    measured: dict[str, dict[str, float]] = {}
    for run in study.runs():
        found = run.scores
        values: dict[str, float] = {}
        for name in ("local_mig", "local_modularity"):
            if name in found:
                result: Any = found[name]
                values |= {f"{name} at {rho:g}": float(v) for rho, v in zip(result.rho, result.per_rho, strict=True)}
        measured[run.name] = values
    extra_columns = pandas.DataFrame([measured.get(name, {}) for name in table["run"]], index=table.index)
    return pandas.concat([table, extra_columns], axis=1)


def add_progress(
    table: pandas.DataFrame, runs: Sequence[Run], measure: Callable[[Run], Mapping[str, float]]
) -> pandas.DataFrame:
    """Return the table with what was measured of each run during training, in columns like ``mig after 10 %``.

    Args:
        table: One row per run; rows whose run is not among ``runs`` get no values.
        runs: Runs with snapshots, of which those after 10 % and 30 % of the steps are measured.
        measure: Returns the scores of a run with the weights that it is given with, by column.

    Returns:
        The table with more columns.
    """
    pandas = extra("pandas", "study")
    measured: dict[str, dict[str, float]] = {}
    for run in runs:
        steps, kept = run.configuration.steps, set(run.snapshots())
        for share in SHARES:
            if (step := round(share * steps)) in kept:
                found = {_after(name, share): value for name, value in measure(run.at(step)).items()}
                measured.setdefault(run.name, {}).update(found)
    columns = pandas.DataFrame([measured.get(name, {}) for name in table["run"]], index=table.index)
    return pandas.concat([table, columns], axis=1)


def scored_as_in(study: Study, metrics: Sequence[str], names: Sequence[str], stage: int = 1) -> Callable[[Run], Any]:
    """Return a function that scores a run as a stage of a study did, for :func:`add_progress`.

    Args:
        study: The study, whose numbers of samples, seed and settings of metrics are used.
        metrics: The metrics, fewer than those of the study if some take long.
        names: The scores that are returned, as in ``dci.disentanglement``.
        stage: The stage.

    Returns:
        A function from a run to its scores by name.
    """
    from unweave.training import score

    rule = study.spec.scoring_of(stage)
    protocol = rule.model_dump(include={"samples", "test_samples", "seed"})
    settings = {name: given for name, given in rule.settings.items() if name in metrics}

    def measure(run: Run) -> dict[str, float]:
        found = score(run, metrics=metrics, settings=settings, **protocol).table
        return {name: found[name] for name in names}

    return measure


def draw_progress(table: pandas.DataFrame, scores: Sequence[str]) -> Figure:
    """Draw scores against the share of the run that was trained, one row of panels per data set.

    ``table`` has the columns of :func:`add_progress`; runs without values in them are left out. ``method``, or
    ``recipe``, tells methods apart. The values after 100 % are the final scores.
    """
    from unweave.figures.score_by_spacing import draw_score_by_spacing, make_score_by_spacing

    pandas = extra("pandas", "study")
    during = [_after(name, share) for name in scores for share in SHARES]
    table = table.dropna(subset=during, how="all")
    parts = []
    for share in (*SHARES, 1.0):
        columns = {name: name if share == 1 else _after(name, share) for name in scores}
        values = {name: table[column] for name, column in columns.items()}
        parts.append(table.assign(**values, **{TRAINED: 100 * share}))
    both = pandas.concat(parts, ignore_index=True)
    return draw_score_by_spacing(make_score_by_spacing(both, setting=TRAINED, metrics=scores))


def _after(name: str, share: float) -> str:
    return f"{name} after {100 * share:g} %"


def first_runs(study: Study, **settings: Any) -> list[Run]:
    """Return the finished run with the smallest seed of each recipe, among those with these settings."""
    runs = sorted(study.runs(settings or None), key=lambda run: run.configuration.seed)
    return list({run.configuration.recipe: run for run in reversed(runs)}.values())[::-1]


def radii_of(table: pandas.DataFrame, metric: str) -> list[float]:
    """Return the radii for which a table has a local metric, smallest first."""
    found = (re.fullmatch(rf"{metric} at ([\d.]+)", str(name)) for name in table)
    return sorted(float(match[1]) for match in found if match)


def finite(values: Any) -> Any:
    """Return the finite numbers of a column."""
    numbers = np.asarray(values, float)
    return numbers[np.isfinite(numbers)]


def over_seeds(table: pandas.DataFrame, by: Sequence[str], scores: Sequence[str]) -> pandas.DataFrame:
    """Return "mean ± standard deviation" of scores over the runs of each group, and how many runs there are."""
    pandas = extra("pandas", "study")
    if missing := [name for name in (*by, *scores) if name not in table]:
        raise InputError(f"the table has no column {missing[0]!r}.")
    rows: list[dict[str, Any]] = []
    for key, runs in table.groupby(list(by), dropna=False, sort=False):
        row: dict[str, Any] = dict(zip(by, key, strict=True))
        row["seeds"] = len(runs)
        row |= {score: mean_and_spread(runs[score].to_numpy(float)) for score in scores}
        rows.append(row)
    return pandas.DataFrame(rows, columns=[*by, "seeds", *scores])


def mean_and_spread(values: np.ndarray[Any, np.dtype[np.float64]]) -> str:
    """Return "0.52 ± 0.03"; the spread is the sample standard deviation, left out for a single value."""
    values = values[np.isfinite(values)]
    if len(values) == 0:
        return "–"
    spread = f" ± {values.std(ddof=1):.3f}" if len(values) > 1 else ""
    return f"{values.mean():.3f}{spread}"


def fastest(runs: pandas.DataFrame, by: Sequence[str]) -> pandas.DataFrame:
    """Return the seconds of training of the fastest run of each group, to which other work on a machine only adds."""
    seconds = runs.groupby(list(by), dropna=False, sort=False)["seconds"].min()
    return seconds.round(0).astype(int).rename("seconds of the fastest run").reset_index()


def finished(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs of a table."""
    return table[table["state"] == "finished"] if "state" in table else table


def of_table(
    name: str,
    caption: str,
    runs: Callable[[pandas.DataFrame], pandas.DataFrame] = finished,
    needs: tuple[str, ...] = (),
    **settings: Any,
) -> Picture:
    """Return the picture that a figure of tables makes from the finished runs.

    Args:
        name: The figure, as in ``unweave figure list``.
        caption: What is written below it.
        runs: A function that selects what is drawn of a table.
        needs: The columns without which there is nothing to draw.
        **settings: Settings of the figure.

    Returns:
        The picture.
    """

    def draw(table: pandas.DataFrame) -> Any:
        from unweave.questions import figure_named

        figure = figure_named(name)
        return figure.draw(figure.make(runs(table), **settings))

    return Picture(name.replace("_", "-"), caption, draw, needs)


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
        """Return whether the first method has the higher mean, and p is below the level."""
        return self.t > 0 and self.p < LEVEL


def compare(runs: pandas.DataFrame, one: str, other: str, score: str) -> Test | None:
    """Test the difference of two methods.

    Args:
        runs: The runs, with the column ``method``.
        one: A method.
        other: Another one.
        score: The column of the score.

    Returns:
        The test, None if one of the methods has fewer than two runs.
    """
    from unweave.questions.method_differences import difference_of_means

    if score not in runs:
        return None
    a, b = (finite(runs[runs["method"] == method][score]) for method in (one, other))
    if len(a) < 2 or len(b) < 2:
        return None
    _, _, _, t, _, p = difference_of_means(a, b, "student")
    return Test((one, other), (a.mean(), b.mean()), (len(a), len(b)), t, p)


def judge_above(sentence: str, runs: pandas.DataFrame, one: str, others: Sequence[str], score: str) -> Claim:
    """Judge whether one method exceeds all others.

    Args:
        sentence: The claim.
        runs: The runs, with the column ``method``.
        one: The method.
        others: The others. One that it does not exceed refutes the claim; otherwise the claim is not tested if one of
            them has no runs.
        score: The column of the score.

    Returns:
        The claim with its verdict.
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
