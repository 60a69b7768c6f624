"""Reading tables of runs: required columns, the scores to compare, and medians over seeds.

A table is a pandas data frame with one row per run. The columns ``data``, ``recipe``, ``strength`` and ``seed``
identify the run; the others are scores, named as in :mod:`unweave.metrics` (``mig``, ``dci.disentanglement``, …) or
otherwise. Missing and infinite scores are left out everywhere. In a table without the column ``strength``, no method
has one, and only the questions about the strength refuse it. The attribute ``disentanglement`` of a table
(``table.attrs``) lists the scores that count as disentanglement metrics, as the specification of its study names them.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unweave.errors import InputError, Unavailable, extra, first_line, unknown
from unweave.key_values import parse_data
from unweave.metrics.scoring.catalogue import METRICS
from unweave.names import brief

if TYPE_CHECKING:
    import pandas

TABLES = (".csv", ".parquet", ".json")  # files of tables
SETTING = ("recipe", "strength")
RUN = ("data", *SETTING, "seed")
BACKWARDS = ("annealed_vae",)  # a larger capacity regularises less
UNSUPERVISED = (  # scores that need no labels
    "reconstruction_error",
    "psnr",
    "elbo",
    "kl_per_latent",
    "total_correlation",
    "total_correlation_sampled",
    "mutual_information",
    "udr",
)
Over = Literal["models", "medians"]
DISENTANGLEMENT = "disentanglement"  # the attribute of a table
STRENGTH_HINT = ' A study has a strength if each grid names a setting, as in strength = "beta".'


class TableError(InputError):
    """A table of runs lacks what a question or figure needs; ``name`` is that of the question, ``reason`` the rest."""

    def __init__(self, name: str, reason: str) -> None:
        super().__init__(f"{name}: {reason}")
        self.name, self.reason = name, reason


def supervised_metrics() -> list[str]:
    """Return the names of the disentanglement metrics that need labels and for which higher is better."""
    return [
        name if score == "score" and len(metric.scores) == 1 else f"{name}.{score}"
        for name, metric in METRICS.items()
        if metric.needs in ("labels", "pool", "intervention") and metric.best == "higher" and name != "downstream"
        for score in metric.scores
    ]


def disentanglement_metrics(table: pandas.DataFrame) -> list[str]:
    """Return the disentanglement metrics that a table names, or else all that need labels."""
    return list(table.attrs.get(DISENTANGLEMENT) or supervised_metrics())


def with_disentanglement(table: pandas.DataFrame, metrics: Sequence[str]) -> pandas.DataFrame:
    """Return the table with the scores that count as its disentanglement metrics; the table itself stays as it is."""
    named = table.copy(deep=False)
    named.attrs = {**table.attrs, DISENTANGLEMENT: list(metrics)}
    return named


def direction_of(score: str) -> int:
    """Return 1 if a higher score is better, −1 if a lower one is, and 0 if neither is; unknown scores are higher."""
    metric = METRICS.get(score.partition(".")[0])
    return 1 if metric is None else {"lower": -1, "neither": 0}.get(metric.best, 1)


def sign_of(score: str) -> int:
    """Return −1 for a score that is better when lower, and 1 for every other score."""
    return direction_of(score) or 1


def strengths_vary(table: pandas.DataFrame) -> bool:
    """Return whether any method has several strengths; True if the table does not say, so that questions can refuse."""
    if "recipe" not in table or "strength" not in table:
        return "recipe" not in table
    return bool((table.groupby("recipe", sort=False)["strength"].nunique() > 1).any())


def read_table(path: str | Path, option: str = "a table of runs") -> pandas.DataFrame:
    """Read a table of runs from a .csv, .parquet or .json file."""
    path, reader = Path(path), extra("pandas", "study")
    readers: dict[str, Any] = {".csv": reader.read_csv, ".parquet": reader.read_parquet, ".json": reader.read_json}
    if path.suffix.lower() not in readers:
        raise InputError(f"{option} must end in {', '.join(TABLES[:-1])} or {TABLES[-1]}, got {path.name!r}.")
    try:
        frame: pandas.DataFrame = readers[path.suffix.lower()](path)
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror or error}.") from error
    except Exception as error:  # each reader has its own exceptions for a file that is not what its name says
        raise InputError(f"{path} is not a table: {first_line(error)}.") from error
    return frame


def with_settings(table: pandas.DataFrame, where: Mapping[str, Any]) -> pandas.DataFrame:
    """Return the runs of a table that have these settings.

    A list of values means any of them, and None that the setting is missing. A setting is a column of the table, or of
    the configuration (``beta`` is also ``configuration.beta``), which has the values that a study leaves at their
    defaults.

    >>> with_settings(table, {"data": "xysquares,size=32", "beta": [0.001, 0.00316]})  # doctest: +SKIP
    """
    check_columns("where", table, ())
    rows = table
    if isinstance(where.get("data"), str):
        name, options = parse_data(where["data"])
        where = {**where, "data": name, **{f"data.{key}": value for key, value in options.items()}}
    for key, wanted in where.items():
        columns = [name for name in (key, f"configuration.{key}") if name in table]
        if not columns:
            known = dict.fromkeys(str(name).removeprefix("configuration.") for name in table)
            raise unknown("setting in where", key, known)
        found = rows[columns[0]]
        for other in columns[1:]:
            found = found.where(found.notna(), rows[other])
        rows = rows[[_is_wanted(value, wanted) for value in found]]
    return rows


def _is_wanted(value: Any, wanted: Any) -> bool:
    """Return whether a setting has the value, or one of the values of a list; NaN is a missing setting."""
    value = None if isinstance(value, float) and value != value else value
    return value == wanted or (isinstance(wanted, (list, tuple)) and any(value == each for each in wanted))


def check_columns(question: str, table: pandas.DataFrame, columns: Iterable[str]) -> None:
    """Raise an InputError if the table is empty or lacks any of these columns."""
    if not isinstance(table, extra("pandas", "study").DataFrame):
        raise TableError(question, f"needs a pandas data frame with one row per run, got {type(table).__name__}.")
    names = [str(name) for name in table.columns]
    missing = [name for name in columns if name not in names]
    if missing:
        others = [name for name in names if not name.startswith("configuration.")]
        near = [close for name in missing for close in difflib.get_close_matches(name, others, n=1)]
        hint = f" Did you mean {', '.join(map(repr, dict.fromkeys(near)))}?" if near else ""
        if "strength" in missing and not near:
            hint = STRENGTH_HINT
        metrics = list(dict.fromkeys(name.partition(".")[0] for name in missing))
        if all(name in METRICS and METRICS[name].needs != "other" for name in metrics):
            hint = f" A study has {'it' if len(missing) == 1 else 'them'} if its metrics list {' and '.join(metrics)}."
        if missing == ["udr"]:
            hint = " unweave study report --udr and unweave study table --udr compute it."
        plural = "columns" if len(missing) > 1 else "column"
        raise TableError(question, f"the table lacks the {plural} {', '.join(map(repr, missing))}.{hint}")
    if not len(table):
        raise TableError(question, "the table has no runs.")


def choose_metrics(
    question: str, table: pandas.DataFrame, given: Sequence[str] | None, *, at_least: int = 1
) -> list[str]:
    """Return the disentanglement metrics to compare: those given, or else those of the table with any value.

    Args:
        question: The name of the question, for errors.
        table: One row per run.
        given: The scores that were asked for; None for those of the table.
        at_least: The number of scores that are needed.

    Returns:
        The names of the columns.
    """
    check_columns(question, table, ())
    return choose_scores(question, table, given, disentanglement_metrics(table), at_least=at_least)


def choose_scores(
    question: str,
    table: pandas.DataFrame,
    given: Sequence[str] | None,
    known: Iterable[str],
    *,
    option: str = "metrics",
    at_least: int = 1,
) -> list[str]:
    """Return the scores to compare: those given, or else the known ones that the table has at least one value of.

    Args:
        question: The name of the question, for errors.
        table: One row per run.
        given: The scores that were asked for; None for those of the table.
        known: The scores that count if none were asked for.
        option: How errors name the argument.
        at_least: The number of scores that are needed.

    Returns:
        The names of the columns.
    """
    if isinstance(given, str):
        raise InputError(f"{question}: {option} must be a list of column names, got the text {given!r}.")
    known = list(known)
    if given is not None:
        check_columns(question, table, given)
    names = list(given) if given is not None else [n for n in known if n in table and table[n].notna().any()]
    if len(names) < at_least:
        count = "one column" if at_least == 1 else f"{at_least} columns"
        raise TableError(
            question,
            f"needs at least {count} of scores such as {', '.join(known[:3])}, and the table has "
            f"{len(names)}. Name columns of your own with {option}=[…].",
        )
    return names


def read_runs(
    question: str, table: pandas.DataFrame, scores: Sequence[str], keys: Sequence[str] = RUN
) -> pandas.DataFrame:
    """Return a copy with the key columns and the scores as float64, where infinite values are NaN.

    With the keys ``RUN``, a data set that was used with several options counts as several, named by what differs. Raise
    an InputError if a score is not numeric, or if two rows have the same ``RUN`` columns when these are the keys.

    Args:
        question: The name of the question, for errors.
        table: One row per run.
        scores: The columns of scores.
        keys: The columns that identify runs.

    Returns:
        The runs by data set and recipe, in the order of their first appearance, and otherwise as they were.
    """
    check_columns(question, table, [name for name in (*keys, *scores) if name != "strength"])
    hint = "" if "strength" in table else STRENGTH_HINT
    table = table.assign(strength=np.nan) if hint else table
    if tuple(keys) == RUN:
        table = with_named_data(table)
    runs = table.reset_index(drop=True)[list(dict.fromkeys([*keys, *scores]))].copy()
    for name in scores:
        try:
            values = runs[name].astype("float64").to_numpy()
        except (TypeError, ValueError):
            raise TableError(question, f"the column {name!r} must contain numbers.") from None
        runs[name] = np.where(np.isfinite(values), values, np.nan)
    if tuple(keys) == RUN and runs.duplicated(list(RUN)).any():
        first = runs.loc[runs.duplicated(list(RUN)), list(RUN)].iloc[0].to_dict()
        raise TableError(
            question,
            f"several runs have the same data, recipe, strength and seed, such as {first}. Keep the runs of one "
            f"configuration, or include the setting that differs in the recipe's name.{hint}",
        )
    order = np.lexsort([runs[name].factorize()[0] for name in ("recipe", "data")])  # stable
    return runs.iloc[order].reset_index(drop=True)


def grouped(runs: pandas.DataFrame, keys: Sequence[str]) -> Any:
    """Group runs by columns, in order of first appearance; a missing strength is a value of its own."""
    return runs.groupby(list(keys), sort=False, dropna=False, observed=True)


def over_seeds(runs: pandas.DataFrame, scores: Sequence[str], over: Over) -> pandas.DataFrame:
    """Return the runs themselves (``"models"``), or the median over seeds for each data set and setting."""
    if over == "models":
        return runs
    if over != "medians":
        raise InputError(f"over must be 'models' or 'medians', got {over!r}.")
    return grouped(runs, ("data", *SETTING))[list(scores)].median().reset_index()


def with_named_data(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the table with data sets named by the options in which they differ, as in "dsprites, orientation = 0"."""
    options = [str(name) for name in table if str(name).startswith("data.")]
    return table.assign(data=with_varied_settings(table, "data", options)) if options else table


def with_varied_settings(runs: pandas.DataFrame, column: str, keys: Sequence[str]) -> list[str]:
    """Return the names in a column, each with those of the settings in which rows of the same name differ."""
    varied = {
        name: [key for key in keys if part[key].map(repr).nunique() > 1]
        for name, part in runs.groupby(column, sort=False)
    }
    labels = []
    for row in runs.to_dict("records"):
        given = {key: row[key] for key in varied[row[column]] if row[key] is not None and row[key] == row[key]}
        if given.get("strength") in [value for key, value in given.items() if key != "strength"]:
            del given["strength"]  # which repeats the setting that it was taken from
        shown = [f"{key.removeprefix('data.')} = {brief(value)}" for key, value in given.items()]
        labels.append(", ".join([str(row[column]), *shown]))
    return labels
