"""Combinations of inductive biases that no paper has tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.papers.evidence import (
    add_progress,
    collect,
    draw_progress,
    finished,
    finite,
    mean_and_spread,
    over_seeds,
    scored_as_in,
)
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

JUDGED = "infomec.modularity"
PLUS = " + "  # between a method and what is added to it
SQUARES = "xysquares"
SCORES = (JUDGED, "dci.disentanglement", "mig", "psnr")


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study, with the scores of all runs during training."""
    assert study is not None
    return add_progress(collect(study), study.runs(), scored_as_in(study, study.spec.metrics, SCORES))


def answer(table: pandas.DataFrame) -> Answer:
    """Compare each combination with the method that it extends, and with all methods on its data set."""
    runs = with_methods(table)
    claims = []
    for data, group in runs.groupby("data"):
        values = {name: finite(each[JUDGED]) for name, each in group.groupby("method")}
        values = {name: each for name, each in values.items() if len(each)}
        new = [name for name in values if PLUS in name]
        claims += [_exceeds(str(data), name, values) for name in new if name.split(PLUS)[0] in values]
        if new and len(values) > len(new):
            ordered = sorted(values, key=lambda name: -values[name].mean())
            evidence = ", ".join(f"{name} {mean_and_spread(values[name])}" for name in ordered)
            claims.append(
                Claim(f"A combination has the highest mean InfoM on {data}.", ordered[0] in new, f"{evidence}.")
            )
    measured = over_seeds(runs.sort_values(["data", "method"]), ["data", "method"], SCORES)
    return Answer(claims, [Part("Scores", measured)])


def _exceeds(data: str, name: str, values: dict[str, Any]) -> Claim:
    """Judge whether all seeds of a combination exceed all seeds of the method that it extends."""
    base = name.split(PLUS)[0]
    one, other = values[name], values[base]
    sentence = f"{name} has a higher InfoM than {base} on {data}."
    if len(one) < 2 or len(other) < 2:
        return Claim(sentence, None, "There are fewer than two runs.")
    return Claim(
        sentence,
        bool(one.min() > other.max()),
        f"{mean_and_spread(one)} against {mean_and_spread(other)}, {len(one)} and {len(other)} seeds. Shown if all "
        "seeds of the first exceed all of the second.",
    )


def with_methods(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs with the column ``method``."""
    runs = finished(table).copy()
    runs["method"] = [_method(row) for row in runs.to_dict("records")]
    return runs


def scores_of(name: str, caption: str, squares: bool) -> Picture:
    """Return the picture of the scores of every run on XYSquares, or on the other data, which have other methods."""

    def draw(table: pandas.DataFrame) -> Figure:
        from unweave.figures.score_strips import draw_score_strips, make_score_strips

        runs = with_methods(table)
        chosen = runs[(runs["data"] == SQUARES) == squares]
        return draw_score_strips(make_score_strips(chosen, metrics=SCORES[:3], by="method"))

    return Picture(name, caption, draw)


def _method(row: dict[str, Any]) -> str:
    """Return a name like "ae fsq + jacobian_l1"."""
    parts = [str(row["recipe"])]
    if isinstance(row.get("latent"), str):
        parts[0] += f" {row['latent']}"
    terms = row.get("terms")
    if isinstance(terms, str) and terms.startswith("{"):  # as a CSV file has it
        import ast

        terms = ast.literal_eval(terms)
    if isinstance(terms, dict):
        parts += list(terms)
    if isinstance(row.get("grouping"), str):
        parts.append(f"pairs ({row['grouping']})")
    if row.get("blur") and row["blur"] == row["blur"]:
        parts.append("blurred reconstruction")
    return PLUS.join(parts)


def draw_learning(table: pandas.DataFrame) -> Figure:
    """Draw InfoM, DCI disentanglement, MIG and PSNR of each method against the share of the run that was trained."""
    return draw_progress(with_methods(table), SCORES)


FINDING = Finding(
    "combinations",
    "No paper: combinations of the terms of all four",
    "Methods are lists of terms, so terms of different papers can be combined.",
    answer,
    measure,
    figures=(
        scores_of("scores", "Scores of every run on the scenes.", squares=False),
        scores_of("scores-xysquares", "Scores of every run on XYSquares at full spacing.", squares=True),
        Picture(
            "learning",
            "InfoM, DCI disentanglement, MIG and PSNR after 10 %, 30 % and all of the steps.",
            draw_learning,
            needs=("psnr after 10 %",),
        ),
    ),
)
