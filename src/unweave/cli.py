"""The command line: every command calls what a notebook would call."""

from __future__ import annotations

import ast
import inspect
import sys
from pathlib import Path
from typing import Annotated, Any

import torch
import typer
from rich.console import Console
from rich.table import Table

import unweave
from unweave.data import SETS, Card, data_folder, fetch_set, load, options_of, set_named
from unweave.data import distances as perceived
from unweave.data.dsprites import DSprites
from unweave.data.tables import read_matrix
from unweave.errors import InputError, MissingExtra, Unavailable, unknown
from unweave.figures import draw_contact_sheet, draw_distance_matrices, make_sheet
from unweave.metrics import METRICS, score_codes

app = typer.Typer(
    help="Learn, measure and show the factors of variation in data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
data_app = typer.Typer(
    help="Data sets: list, show, fetch, and measure their perceived distances.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
metrics_app = typer.Typer(
    help="Metrics: list them, and show what one asks.", no_args_is_help=True, rich_markup_mode=None
)
app.add_typer(data_app, name="data")
app.add_typer(metrics_app, name="metrics")
# names are the user's, and may have brackets; what is piped is not cut to the width of a screen
console = Console(markup=False, width=None if sys.stdout.isatty() else 160)

NEEDS = {
    "labels": "codes and factors",
    "codes": "codes",
    "intervention": "an encoder and data to intervene on",
    "other": "",
}

Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set's name, or the path of your own images.")]
Out = Annotated[Path | None, typer.Option(help="Where to write the picture.", show_default="NAME….png")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="An option of the set, KEY=VALUE; can be repeated.")]


def main() -> None:
    """Run the command line; what the user can mend is one sentence and exit code 2."""
    try:
        app()
    except (InputError, Unavailable, MissingExtra) as error:
        print(f"unweave: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(2)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    """Learn, measure and show the factors of variation in data."""
    if version:
        console.print(unweave.__version__)
        raise typer.Exit


@data_app.command("list")
def list_sets() -> None:
    """List every data set: where it comes from, its factors and its images."""
    table = Table("name", "origin", "image", "factors", box=None, pad_edge=False)
    for name, data in SETS.items():
        factors = str(data.card.space) if data.card.space else "unknown"
        table.add_row(name, _origin(name, data.card), "×".join(map(str, data.card.shape)), factors)
    console.print(table)
    console.print(f"\nFiles and drawn grids are kept under {data_folder()}.", soft_wrap=True)


@data_app.command()
def show(name: Name, out: Out = None, seed: Seed = 0, settings: Settings = None) -> None:
    """Describe a data set and write a contact sheet: random images and one traversal a factor."""
    options = _parse(settings)
    if name in SETS:
        _describe(name, SETS[name].card)  # also where its files are not here, and what follows fails
    data = load(name, **options)
    console.print(repr(data), soft_wrap=True)
    sheet = make_sheet(data, torch.Generator().manual_seed(seed))
    _save(draw_contact_sheet(sheet), out or Path(f"{_stem(name)}.png"))


@data_app.command()
def fetch(name: Annotated[str, typer.Argument(metavar="NAME", help="A data set's name.")]) -> None:
    """Download a data set's published files, verify them, and convert them for fast reading."""
    if not set_named(name).card.files:
        console.print(f"{name} is drawn here and needs no file.")
        return
    for file, path in zip(set_named(name).card.files, fetch_set(name), strict=True):
        what = "verified" if file.checksum or file.size else "fetched, without a published checksum to compare:"
        console.print(f"{what} {path}", soft_wrap=True)
    console.print(f"ready: {load(name)!r}", soft_wrap=True)


@data_app.command()
def distances(
    name: Name,
    loss: Annotated[str, typer.Option(help="mse, bce, blurred_mse, or blurred_mse:RADIUS.")] = "mse",
    pairs: Annotated[int, typer.Option(help="Pairs a factor in the table.")] = 50_000,
    traversals: Annotated[int, typer.Option(help="Traversals a factor in the picture.")] = 50,
    out: Out = None,
    seed: Seed = 0,
    settings: Settings = None,
) -> None:
    """Print how far each factor's steps are perceived to go, and write the distance matrices' picture."""
    distance = perceived.distance_named(loss)
    data = load(name, **_parse(settings))
    generator = torch.Generator().manual_seed(seed)
    rows = perceived.factor_importance(data, generator, pairs=pairs, distance=distance)
    matrices = perceived.distance_matrices(data, generator, traversals=traversals, distance=distance)
    verdicts = {entry.factor: entry.verdict for entry in matrices}
    table = Table("factor", "mean", "std", "correlation with ground truth", box=None, pad_edge=False)
    for row in rows:
        table.add_row(row.factor, f"{row.mean:.4f}", f"{row.std:.4f}", verdicts.get(row.factor, ""))
    console.print(f"Perceived distance ({loss}) of {data.name}, {pairs:,} pairs a row", soft_wrap=True)
    console.print(table)
    statistics = perceived.channel_statistics(data, generator)
    constants = Table("channel", "mean", "std", box=None, pad_edge=False)
    for channel, (mean, std) in enumerate(zip(statistics.mean, statistics.std, strict=True)):
        constants.add_row(str(channel), f"{mean:.6f}", f"{std:.6f}")
    sampled = "all" if statistics.exact else "sampled"
    console.print(f"\nStandardisation, {statistics.images:,} images ({sampled})")
    console.print(constants)
    title = f"{data.name}, {loss}, mean of {traversals} traversals"
    _save(draw_distance_matrices(matrices, title=title), out or Path(f"{_stem(name)}-distances.png"))


@app.command()
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


def _origin(name: str, card: Card) -> str:
    if not card.files:
        return "drawn"
    folder = data_folder(card.files_of or name)
    here = all((folder / file.name).exists() for file in card.files) or any(folder.glob("*.npy"))
    if name == DSprites.name:
        return "drawn, or file"
    return "file, here" if here else "file, not here"


def _describe(name: str, card: Card) -> None:
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(name, card.title)
    if card.space:
        names, sizes, kinds = card.space.names, card.space.sizes, card.space.kinds
        factors = (f"{name} {size} ({kind})" for name, size, kind in zip(names, sizes, kinds, strict=True))
        table.add_row("factors", ", ".join(factors))
        table.add_row("images", f"{card.space.size:,} of {'×'.join(map(str, card.shape))}")
    table.add_row("licence", card.licence)
    table.add_row("cite", card.citation)
    table.add_row("from", card.home)
    for file in card.files:
        table.add_row("file", str(file))
    options = options_of(SETS[name].__init__)
    table.add_row("options", ", ".join(f"{key}={value!r}" for key, value in options.items()))
    console.print(table)


def _parse(settings: list[str] | None) -> dict[str, Any]:
    options = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"--set takes KEY=VALUE, got {setting!r}.")
        if value.lower() in ("true", "false"):
            value = value.capitalize()
        try:
            options[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[key] = value
    return options


def _stem(name: str) -> str:
    return name if name in SETS else Path(name).resolve().stem


def _save(figure: Any, path: Path) -> None:
    path = path if path.suffix else path.with_name(f"{path.name}.png") if path.name else path
    if not path.name or path.is_dir():
        raise InputError(f"cannot write a picture to {str(path)!r}: name a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write {path}: {error}") from error
    console.print(f"wrote {path}", soft_wrap=True)
