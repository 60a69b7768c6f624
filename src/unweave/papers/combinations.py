"""Combinations of inductive biases that no paper has tried."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.papers.collecting import collect
from unweave.papers.finding import Answer, Claim, Finding, Part
from unweave.papers.summaries import finished, over_seeds

if TYPE_CHECKING:
    import pandas

SCORES = ("infomec.modularity", "dci.disentanglement", "mig", "psnr")


def answer(table: pandas.DataFrame) -> Answer:
    """Compare each combination with the methods that it is made of."""
    runs = finished(table).copy()
    runs["method"] = [_method(row) for row in runs.to_dict("records")]
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
)
