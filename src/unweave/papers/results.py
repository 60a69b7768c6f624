"""The results of a finding: the table of its study, means and spreads over seeds, and figures drawn from the table."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra
from unweave.papers.finding import Picture

if TYPE_CHECKING:
    import pandas

    from unweave.study import Study
    from unweave.study.spec import Scoring
    from unweave.training import Run

PROTOCOL = ("samples", "test_samples", "seed", "settings")


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


def first_runs(study: Study, **settings: Any) -> list[Run]:
    """Return the finished run with the smallest seed of each recipe, among those with these settings."""
    runs = sorted(study.runs(settings or None), key=lambda run: run.configuration.seed)
    return list({run.configuration.recipe: run for run in reversed(runs)}.values())[::-1]


def radii_of(table: pandas.DataFrame, metric: str) -> list[float]:
    """Return the radii for which a table has a local metric, smallest first."""
    start = f"{metric} at "
    return sorted(float(str(name)[len(start) :]) for name in table if str(name).startswith(start))


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
