"""Tables of runs for plots: one row per run with its settings and stored scores."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.errors import InputError, extra
from unweave.figures.drawing.titles import methods_of
from unweave.study.columns import choose_metrics
from unweave.training import Run

if TYPE_CHECKING:
    import pandas


def table_of_runs(runs: Sequence[Run]) -> pandas.DataFrame:
    """Return a data frame with one row per run: ``run``, ``recipe``, ``method``, ``data``, ``seed``, options, scores.

    A method is a recipe with the weights in which its runs differ. Options of the data have names such as
    ``data.spacing``. Scores are those of the run (see
    :mod:`unweave.store.scores`).
    """
    pandas = extra("pandas", "study")
    rows = []
    for run, method in zip(runs, methods_of(runs), strict=True):
        c = run.configuration
        options = {f"data.{name}": value for name, value in c.data.options.items()}
        known = {
            "run": run.name,
            "label": run.label,
            "recipe": c.recipe,
            "method": method,
            "data": c.data.name,
            "seed": c.seed,
        }
        rows.append({**known, **options, **run.scores.table})
    return pandas.DataFrame(rows)


def check_scored(figure: str, frame: pandas.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return the scores to draw: those given, or else all scores of disentanglement that the table has."""
    if isinstance(metrics, str):
        metrics = [metrics]
    try:
        return choose_metrics(figure, frame, list(metrics) or None)
    except InputError as error:
        raise InputError(f"{error} Scores of runs are measured by: unweave score RUN…") from error


def method_column(table: pandas.DataFrame, by: str | None) -> str:
    """Return the column that tells methods apart: the one given, else ``method`` or ``recipe``."""
    return by or ("method" if "method" in table else "recipe")
