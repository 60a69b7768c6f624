"""``unweave data``: list, show, fetch, distances."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import torch
import typer
from rich.table import Table

from unweave.cli.options import Out, Seed, console, parse, save
from unweave.data import SETS, Card, data_folder, fetch_set, load, options_of, set_named
from unweave.data import distances as perceived
from unweave.data.dsprites import DSprites
from unweave.figures import draw_contact_sheet, draw_distance_matrices, make_sheet

data_app = typer.Typer(
    help="Data sets: list, show, fetch, and measure their perceived distances.",
    no_args_is_help=True,
    rich_markup_mode=None,
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="A data set's name, or the path of your own images.")]
Settings = Annotated[list[str] | None, typer.Option("--set", help="An option of the set, KEY=VALUE; can be repeated.")]


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
    options = parse(settings)
    if name in SETS:
        _describe(name, SETS[name].card)  # also where its files are not here, and what follows fails
    data = load(name, **options)
    console.print(repr(data), soft_wrap=True)
    sheet = make_sheet(data, torch.Generator().manual_seed(seed))
    save(draw_contact_sheet(sheet), out or Path(f"{_stem(name)}.png"))


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
    data = load(name, **parse(settings))
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
    save(draw_distance_matrices(matrices, title=title), out or Path(f"{_stem(name)}-distances.png"))


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


def _stem(name: str) -> str:
    return name if name in SETS else Path(name).resolve().stem
