"""The table of results of a study: methods by scores, mean and deviation over seeds, for each data set."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from unweave.errors import InputError, extra
from unweave.metrics.scoring.catalogue import METRICS
from unweave.metrics.scoring.display import aligned
from unweave.names import score_fields, words
from unweave.study.columns import (
    TableError,
    check_columns,
    choose_scores,
    direction_of,
    grouped,
    read_runs,
    with_varied_settings,
)

if TYPE_CHECKING:
    import pandas

Form = Literal["text", "md", "latex", "csv"]
FORMS = ("text", "md", "latex", "csv")
DONE, FAILED = "finished", ("failed", "damaged")
SCORES, VARIES, FINAL = "scores", "varies", "final"  # attributes of a table: see Study.table
COLUMNS = ("data", "method", "score", "mean", "deviation", "runs", "seeds", "failed", "unfinished", "best")


@dataclass(frozen=True)
class Grid:
    """The results on one data set as texts: one row per method, with the places of the best in ``best``."""

    data: str
    columns: list[str]
    rows: list[list[str]]
    best: list[tuple[int, int]]  # row and column
    fixed: int = 2  # columns in front of the scores, which every part has

    def marked(self, form: str) -> list[list[str]]:
        """Return the rows, where the best are written in another form, as in ``"**{}**"``."""
        return [
            [form.format(cell) if (row, column) in self.best else cell for column, cell in enumerate(cells)]
            for row, cells in enumerate(self.rows)
        ]

    def fitting(self, width: int) -> Iterator[Grid]:
        """Yield the grid in parts whose columns, each with a star and two spaces, fit into a line."""
        sizes = [4 + max(len(line[place]) for line in (self.columns, *self.rows)) for place in range(len(self.columns))]
        scores = list(range(self.fixed, len(self.columns)))
        while scores:
            room, some = width - sum(sizes[: self.fixed]), list[int]()
            while scores and (not some or sizes[scores[0]] <= room):
                room -= sizes[scores[0]]
                some.append(scores.pop(0))
            places = [*range(self.fixed), *some]
            yield Grid(
                self.data,
                [self.columns[place] for place in places],
                [[row[place] for place in places] for row in self.rows],
                [(row, places.index(column)) for row, column in self.best if column in places],
                self.fixed,
            )


def results(table: pandas.DataFrame, *, metrics: Sequence[str] | None = None) -> pandas.DataFrame:
    """Mean and deviation over seeds of every score, for each data set and method.

    A method is a recipe with the settings in which its runs differ, apart from the seed. If the table is that of a
    study with a second stage that has begun, only its runs count, because those of the first chose the settings. The
    deviation is that of a sample (n − 1), and NaN for a single run. Runs that are not finished have no score.

    Args:
        table: One row per run, with ``data``, ``recipe`` and scores; ``strength`` and ``state`` if there are any.
        metrics: The columns of scores; by default all that the table has of the metrics of its study, or else of those
            of Unweave.

    Returns:
        One row per data set, method and score: ``data``, ``method``, ``score``, ``mean``, ``deviation``, ``runs`` with
        this score, ``seeds`` (finished runs), ``failed``, ``unfinished``, and whether the mean is the ``best`` of its
        data set.
    """
    check_columns("results", table, ("data", "recipe"))
    final = set(table.attrs.get(FINAL, ()))
    table = table[table["run"].isin(final)] if final else table
    chosen = choose_scores("results", table, metrics, known_scores(table))
    state = table["state"] if "state" in table else np.full(len(table), DONE)
    settings = _settings(table)
    runs = read_runs("results", table.assign(state=state), chosen, ("data", "recipe", "state", *settings))
    runs["method"] = with_varied_settings(runs, "recipe", [key for key in settings if not key.startswith("data.")])
    runs["data"] = with_varied_settings(runs, "data", [key for key in settings if key.startswith("data.")])
    rows: list[dict[str, Any]] = []
    for data, on_data in grouped(runs, ["data"]):
        for (method,), group in grouped(on_data, ["method"]):
            finished = group[group["state"] == DONE]
            failed = int(group["state"].isin(FAILED).sum())
            counts = {"seeds": len(finished), "failed": failed, "unfinished": len(group) - len(finished) - failed}
            for score in chosen:
                values = finished[score].dropna().to_numpy()
                mean = float(values.mean()) if len(values) else math.nan
                deviation = float(values.std(ddof=1)) if len(values) > 1 else math.nan
                measured = {"mean": mean, "deviation": deviation, "runs": len(values)}
                rows.append({"data": data[0], "method": method, "score": score, **measured, **counts})
    if not rows:
        raise TableError("results", "the table has no runs.")
    frame = extra("pandas", "study").DataFrame(rows)
    signed = frame["mean"] * frame["score"].map(direction_of)  # 0 for scores of which neither end is better
    top = signed.groupby([frame["data"], frame["score"]]).transform("max")
    frame["best"] = (signed == top) & (frame["score"].map(direction_of) != 0)
    return frame[list(COLUMNS)]


def known_scores(table: pandas.DataFrame) -> list[str]:
    """Return the scores that a table can show: those of its study, or else all columns of metrics of Unweave."""
    named = table.attrs.get(SCORES)
    return list(named or (score for metric in METRICS for score in score_fields(metric)))


def grids(frame: pandas.DataFrame) -> list[Grid]:
    """Return the :func:`results` of each data set as texts for people: ``0.12 ± 0.03``, and "–" where there is none.

    The number of runs stands in the cell where it is not the number of seeds.
    """
    made = []
    for data, part in frame.groupby("data", sort=False):
        scores, methods = list(part["score"].unique()), list(part["method"].unique())
        scores = [score for score in scores if part.loc[part["score"] == score, "mean"].notna().any()] or scores
        digits = {score: decimals(part.loc[part["score"] == score]) for score in scores}
        cells = {(row.method, row.score): row for row in part.itertuples(index=False)}
        rows = [
            [title_of(method), _seeds(cells[method, scores[0]]), *(_cell(cells[method, s], digits[s]) for s in scores)]
            for method in methods
        ]
        best = [
            (row, column)
            for row, method in enumerate(methods)
            for column, score in enumerate(scores, start=2)
            if cells[method, score].best and len(methods) > 1
        ]
        made.append(Grid(title_of(data), ["method", "seeds", *(words(score) for score in scores)], rows, best))
    return made


def write_results(frame: pandas.DataFrame, form: Form) -> str:
    """Return :func:`results` as Markdown, as LaTeX (with booktabs), or as CSV with one row per method and score."""
    return write_grids(frame, grids(frame), form)


def write_grids(frame: pandas.DataFrame, made: Sequence[Grid], form: Form) -> str:
    """Return tables for people as text, Markdown or LaTeX, or the frame that they were made from as CSV."""
    if form not in FORMS:
        raise InputError(f"a table of results is written as {', '.join(FORMS)}, got {form!r}.")
    if form == "csv":
        return str(frame.to_csv(index=False))
    write = {"text": _text, "md": _markdown, "latex": _latex}[form]
    return "\n\n".join(write(grid) for grid in made) + "\n"


def lay_beside(table: pandas.DataFrame, other: pandas.DataFrame, name: str) -> pandas.DataFrame:
    """Return the runs of a table and, below them, results from elsewhere with the same columns.

    ``other`` has the columns ``data``, ``recipe`` (or ``method``) and at least one score of the table. Its runs count
    as finished unless it has a ``state``. Runs without a ``seed`` are numbered. Where ``other`` has no column for an
    option of a data set, such as ``data.size``, it is that of the table if all runs of the table share it. A method
    that both have is followed by ``name`` where it comes from elsewhere, as in ``beta_vae (theirs)``.
    """
    pandas = extra("pandas", "study")
    if "recipe" not in other and "method" in other:
        other = other.rename(columns={"method": "recipe"})
    check_columns(name, other, ("data", "recipe"))
    shared = [score for score in known_scores(table) if score in other] + [
        column for column in other if column in table and column in table.attrs.get("disentanglement", ())
    ]
    if not shared:
        measured = ", ".join(score for score in known_scores(table) if score in table) or "none"
        raise TableError(name, f"has no column of a score that the study has. Its scores are: {measured}.")
    taken = set(table["recipe"].astype(str))
    new = other.assign(recipe=[f"{each} ({name})" if str(each) in taken else str(each) for each in other["recipe"]])
    if "seed" not in new:
        new["seed"] = new.groupby(["data", "recipe"], sort=False).cumcount()
    for option in [column for column in table if str(column).startswith("data.") and column not in other]:
        by_data = table.groupby("data", sort=False)[option]
        new[option] = new["data"].map({data: v.iloc[0] for data, v in by_data if v.map(repr).nunique() == 1})
    parts = [each if "state" in each else each.assign(state=DONE) for each in (table, new)]
    both = pandas.concat([part.astype(object) for part in parts], ignore_index=True).infer_objects()
    both.attrs = {**table.attrs, VARIES: [*table.attrs.get(VARIES, ()), "strength"]}
    if final := table.attrs.get(FINAL):
        both["run"] = both["run"].fillna(name)
        both.attrs[FINAL] = [*final, name]
    return both


def named_methods(table: pandas.DataFrame) -> list[str]:
    """Return the method of each run: its recipe with the settings, apart from the seed, in which its runs differ."""
    return with_varied_settings(table, "recipe", [key for key in _settings(table) if not key.startswith("data.")])


def _settings(table: pandas.DataFrame) -> list[str]:
    """Return the columns of settings in which runs may differ, apart from method, data set and seed."""
    named = table.attrs.get(VARIES, ("strength",))
    return [key for key in named if key in table and key not in ("data", "recipe", "seed", "state")]


def title_of(name: str) -> str:
    """Return a method or data set with its settings as it is printed."""
    first, comma, settings = name.partition(", ")
    return f"{words(first)}{comma}{settings}"


def _seeds(row: Any) -> str:
    failed = f"{row.failed} failed" if row.failed else ""
    unfinished = f"{row.unfinished} not finished" if row.unfinished else ""
    rest = ", ".join(filter(None, (failed, unfinished)))
    return f"{row.seeds} ({rest})" if rest else f"{row.seeds}"


def decimals(part: pandas.DataFrame) -> int:
    """Return the decimals of a column: three for scores up to 1, fewer for larger ones."""
    largest = float(part["mean"].abs().max())
    return 3 if not largest >= 2 else 2 if largest < 100 else 1


def _cell(row: Any, digits: int) -> str:
    if math.isnan(row.mean):
        return "–"
    text = f"{row.mean:.{digits}f}"
    text = text if math.isnan(row.deviation) else f"{text} ± {row.deviation:.{digits}f}"
    few = f" (n = {row.runs})" if row.runs != row.seeds else ""
    return text.replace("-", "−") + few


def _text(grid: Grid) -> str:
    """Return a grid as aligned columns; the best is followed by a star."""
    rows = grid.marked("{}*")
    return "\n".join([grid.data, *aligned([grid.columns, *rows])])


def _markdown(grid: Grid) -> str:
    lines = [grid.columns, ["---", *["---:"] * (len(grid.columns) - 1)], *grid.marked("**{}**")]
    return "\n".join(
        [f"{grid.data}", "", *(f"| {' | '.join(cell.replace('|', '∣') for cell in line)} |" for line in lines)]
    )


LATEX = {
    "\\": r"\textbackslash{}",
    "±": r"$\pm$",
    "−": "$-$",
    "β": r"$\beta$",
    "γ": r"$\gamma$",
    "λ": r"$\lambda$",
    "–": "--",
    "→": r"$\to$",
    "×": r"$\times$",
    "∞": r"$\infty$",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
}
LATEX |= {each: f"\\{each}" for each in "&%$#_{}"}


def _latex(grid: Grid) -> str:
    def escape(text: str) -> str:
        return "".join(LATEX.get(letter, letter) for letter in text)

    lines = [
        " & ".join(
            rf"\textbf{{{escape(cell)}}}" if (row, column) in grid.best else escape(cell)
            for column, cell in enumerate(cells)
        )
        for row, cells in enumerate(grid.rows)
    ]
    columns = len(grid.columns)
    return "\n".join(
        [
            rf"% {grid.data}; needs \usepackage{{booktabs}}",
            rf"\begin{{tabular}}{{l{'r' * (columns - 1)}}}",
            r"\toprule",
            " & ".join(escape(name) for name in grid.columns) + r" \\",
            r"\midrule",
            *(rf"{line} \\" for line in lines),
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )
