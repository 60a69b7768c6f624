"""Combinations of inductive biases that no paper has tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.papers.collecting import collect
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.papers.summaries import finished, over_seeds

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

SCORES = ("infomec.modularity", "dci.disentanglement", "mig", "psnr")


def answer(table: pandas.DataFrame) -> Answer:
    """Compare each combination with the methods that it is made of."""
    runs = with_methods(table)
    claims = []
    for data, group in runs.groupby("data"):
        means = group.groupby("method")["infomec.modularity"].mean().sort_values(ascending=False)
        new = [name for name in means.index if "+" in name]
        evidence = ", ".join(f"{name} {value:.3f}" for name, value in means.items())
        if new and len(means) > len(new):
            claims.append(
                Claim(f"A combination has the highest InfoM on {data}.", means.index[0] in new, evidence + ".")
            )
    measured = over_seeds(runs.sort_values(["data", "method"]), ["data", "method"], SCORES)
    return Answer(claims, [Part("Scores", measured)])


def with_methods(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs with the column ``method``."""
    runs = finished(table).copy()
    runs["method"] = [_method(row) for row in runs.to_dict("records")]
    return runs


def draw_scores(table: pandas.DataFrame) -> Figure:
    """Draw the scores of every run."""
    from unweave.figures.score_strips import draw_score_strips, make_score_strips

    return draw_score_strips(make_score_strips(with_methods(table), metrics=SCORES[:3], by="method"))


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
    return " + ".join(parts)


FINDING = Finding(
    "combinations",
    "No paper: combinations of the terms of all four",
    "Methods are lists of terms, so terms of different papers can be combined.",
    answer,
    collect,
    {"lite": "combinations-lite"},
    setting="The data, net and steps of the lite study of Tripod (rooms3d at 32 × 32, half of the channels, 3,000 "
    "steps), three seeds; QLAE and β-TCVAE with the weights that it chose, the other terms with the weights of their "
    "papers. XYSquares is that of the lite study of adversarial squares at full spacing, with its net and 10,000 steps. "
    "Nothing was tuned for a combination. The normalised Hessian penalty needs a smooth net, so that its β-TCVAE has "
    "GELUs and the plain one ReLUs.",
    figures=(Picture("scores", "Scores of every run.", draw_scores),),
)
