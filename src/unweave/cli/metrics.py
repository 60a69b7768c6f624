"""``unweave score`` and ``unweave metrics``."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from unweave.cli.options import Seed, console
from unweave.data.tables import read_matrix
from unweave.errors import unknown
from unweave.metrics import METRICS, Scores, score_codes

metrics_app = typer.Typer(
    help="Metrics: list them, and show what one asks.", no_args_is_help=True, rich_markup_mode=None
)
NEEDS = {
    "labels": "codes and factors",
    "codes": "codes",
    "intervention": "an encoder and data to intervene on",
    "other": "",
}


def score(
    codes: Annotated[Path, typer.Option(help="Codes (N, D), an .npy or .csv file.")],
    factors: Annotated[Path | None, typer.Option(help="Factors (N, K), an .npy or .csv file.")] = None,
    metrics: Annotated[list[str] | None, typer.Option("--metric", help="A metric; can be repeated.")] = None,
    seed: Seed = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")] = False,
) -> None:
    """Score codes against factors, all metrics that need no more."""
    labels = None if factors is None else read_matrix(factors)
    scores = score_codes(read_matrix(codes), labels, metrics=metrics or "all", seed=seed)
    if as_json:
        console.print(scores.to_json(), soft_wrap=True, highlight=False)
        return
    print_scores(scores)


def print_scores(scores: Scores) -> None:
    """Print every score, with the direction that is better."""
    table = Table("metric", "score", "better", "range", box=None, pad_edge=False)
    for name, value in scores.table.items():
        metric = METRICS[name.partition(".")[0]]
        table.add_row(name, f"{value:.4f}", metric.best, metric.range)
    console.print(table)


@metrics_app.command("list")
def list_metrics() -> None:
    """List every metric: what it asks, and what it needs."""
    table = Table("name", "asks", "needs", "better", box=None, pad_edge=False)
    for name, metric in METRICS.items():
        table.add_row(
            name,
            metric.question,
            (metric.given or NEEDS[metric.needs]) + (", only by name" if metric.costly else ""),
            metric.best,
        )
    console.print(table)


@metrics_app.command("show")
def show_metric(name: Annotated[str, typer.Argument(metavar="NAME", help="A metric's name.")]) -> None:
    """Describe a metric: its formula, range, needs, published settings and weakness."""
    if name not in METRICS:
        raise unknown("metric", name, METRICS)
    metric = METRICS[name]
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row(name, metric.question)
    table.add_row("range", f"{metric.range}; {metric.best} is better" if metric.best != "neither" else metric.range)
    table.add_row("needs", metric.given or NEEDS[metric.needs])
    if metric.needs == "labels":
        table.add_row("factors", "classes or continuous" if metric.continuous else "classes")
    for who, how in metric.variants.items():
        table.add_row("published", f"{who}: {how}")
    table.add_row("weakness", metric.weakness)
    table.add_row("call", f"unweave.metrics.{name}{inspect.signature(metric.function)}")
    console.print(table)
    console.print()
    console.print(inspect.getdoc(metric.function) or "", soft_wrap=True, highlight=False)
