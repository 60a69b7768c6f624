"""The table of a study, with the columns that the findings need."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import extra

if TYPE_CHECKING:
    import pandas

    from unweave.study import Study
    from unweave.training import Run

PROTOCOL = ("samples", "test_samples", "seed", "settings")


def collect(study: Study | None) -> pandas.DataFrame:
    """Return the settings, the scores and the times of a study, and the protocol by which each run was scored."""
    assert study is not None
    table = study.table()
    left = {"error", "data.folder"}  # a path of this machine
    columns = [name for name in table if not str(name).startswith("configuration.") and name not in left]
    stages = [study.spec.scoring_of(planned.stage) for planned in study.all_planned()]
    protocols = [json.dumps(scoring.model_dump(include=set(PROTOCOL))) for scoring in stages]
    return table[columns].assign(protocol=protocols)


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
