"""``unweave metrics``: list the metrics, and describe one of them."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from typing import Annotated, Any

import typer
from rich.table import Table

from unweave.cli.listings import listing, row_of
from unweave.cli.options import Json, console, print_json

metrics_app = typer.Typer(
    help="List the metrics, and describe one of them.", no_args_is_help=True, rich_markup_mode=None
)


@metrics_app.command("list")
def list_metrics(as_json: Json = False) -> None:
    """List every metric with the question it answers and what it needs."""
    rows = listing("metrics")
    if as_json:
        print_json(rows)
        return
    table = Table("name", "question", "needs", "better", box=None, pad_edge=False)
    for row in rows:
        needs = row["needs"] + (", only by name" if row["only_by_name"] else "")
        table.add_row(row["name"], row["question"], needs, row["better"])
    console.print(table)


@metrics_app.command("show")
def show_metric(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name from the list, or module:name for your own.")],
    as_json: Json = False,
) -> None:
    """Describe a metric: its definition, range, needs, published settings and weakness."""
    row = row_of("metrics", name)
    if as_json:
        print_json(row)
        return
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_row(name, row["question"])
    if row["range"]:
        better = "" if row["better"] == "neither" else f"; {row['better']} is better"
        table.add_row("range", f"{row['range']}{better}")
    for score, limits in row["ranges"].items():
        table.add_row(f"range of .{score}", limits)
    table.add_row("needs", row["needs"])
    if row["factors"]:
        table.add_row("factors", row["factors"])
    for who, how in row["published"].items():
        table.add_row("published", f"{who}: {how}")
    if row["weakness"]:
        table.add_row("weakness", row["weakness"])
    table.add_row("call", row["call"])
    console.print(table)
    console.print()
    console.print(row["about"], soft_wrap=True, highlight=False)


def metric_row(name: str, function: Callable[..., Any]) -> dict[str, Any]:
    """Describe one metric, of the catalogue or the user's own."""
    from unweave.metrics.scoring.catalogue import NEEDS
    from unweave.metrics.scoring.request import find_metrics

    (metric,) = find_metrics(name)  # raises for what is not a metric
    factors = "classes or continuous" if metric.continuous else "classes"
    called = name.replace(":", ".") if metric.own else f"unweave.metrics.{function.__name__}"
    return {
        "name": name,
        "question": metric.question,
        "needs": metric.given or NEEDS[metric.needs],
        "range": metric.range,
        "ranges": dict(metric.ranges),
        "better": metric.best,
        "factors": factors if metric.needs == "labels" else "",
        "scores": list(metric.scores),
        "only_by_name": metric.costly,
        "published": metric.variants,
        "weakness": metric.weakness,
        "settings": sorted(metric.takes),
        "call": f"{called}{_signature(metric.function)}",
        "about": inspect.getdoc(metric.function) or "",
    }


def _signature(function: Callable[..., Any]) -> str:
    """Return the signature of a function; defaults that are functions are shown by their name."""
    return re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", str(inspect.signature(function)))
