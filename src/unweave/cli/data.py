"""``unweave data``: list, show, fetch, check, distances."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unweave.cli.command import Commands
from unweave.cli.options import (
    Json,
    Out,
    Seed,
    data_options,
    load_data,
    picture_path,
    print_json,
    print_line,
    print_table,
)
from unweave.data.files import data_folder
from unweave.errors import InputError
from unweave.key_values import parse_data
from unweave.progress import say

if TYPE_CHECKING:
    from unweave.data import FactorData
    from unweave.data.check import DataCheck
    from unweave.data.distances import ChannelStatistics, Importance, Matrices
    from unweave.factors import FactorSpace

data_app = Commands("Data sets: list, show, fetch and check them, and measure perceived distances.")

Name = Annotated[
    str,
    typer.Argument(
        metavar="NAME",
        help="The name of a data set, module:name, or the path of your own images; with options, NAME,size=32.",
    ),
]
Settings = Annotated[
    list[str] | None, typer.Option("--set", help="An option of the data set, KEY=VALUE; can be repeated.")
]


@data_app.command("list")
def list_sets(as_json: Json = False) -> None:
    """List all data sets with their origin, image shape and factors."""
    rows = [{**row, "available": _available(row)} for row in data_rows()]
    if as_json:
        print_json(rows)
        return
    cells = []
    for row in rows:
        factors = " · ".join(f"{factor['name']} {factor['size']}" for factor in row["factors"] or ())
        cells.append((row["name"], _origin(row), "×".join(map(str, row["shape"])), factors or "unknown"))
    print_table(("name", "origin", "image", "factors"), cells)
    print_line(f"\nFiles and drawn grids are stored in {data_folder()}.")


@data_app.command()
def show(name: Name, out: Out = None, seed: Seed = 0, settings: Settings = None, as_json: Json = False) -> None:
    """Describe a data set and write a contact sheet: random images and one traversal per factor.

    With --json, print the description and write no picture.
    """
    if as_json and out is not None:
        raise InputError("--json writes no picture and cannot be combined with --out.")
    name, options = parse_data(name, data_options(settings))
    row = next((row for row in data_rows() if row["name"] == name), None)
    if as_json:
        print_json(_as_json(name, row, options))
        return
    path = None if out is None else picture_path(out)
    if row is not None:
        _describe(row)  # before loading, which fails if the files are missing
    data = load_data(name, options)
    print_line(repr(data))
    path = path or picture_path(Path(f"{data.name}.png"))
    import torch

    from unweave.figures import draw_contact_sheet, make_sheet, save_figure

    say(f"drawing the contact sheet of {data.name}; the first images of a drawn set may take a moment")
    sheet = make_sheet(data, torch.Generator().manual_seed(seed))
    save_figure(draw_contact_sheet(sheet), path)
    print_line(f"wrote {path}")


@data_app.command()
def fetch(name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a data set.")]) -> None:
    """Download the published files of a data set, verify them, and convert them for fast reading."""
    from unweave.data import fetch_set, load, set_named
    from unweave.data.files.hub import PREFIX

    name, options = parse_data(name)
    if name.startswith(PREFIX):
        print_line(f"ready: {load(name, **options)!r}")
        return
    if not set_named(name).card.files:
        print_line(f"{name} is drawn here and needs no file.")
        return
    for file, path in zip(set_named(name).card.files, fetch_set(name), strict=True):
        what = "verified" if file.checksum or file.size else "fetched (there is no published checksum to compare with)"
        print_line(f"{what} {path}")
    print_line(f"ready: {load(name, **options)!r}")


@data_app.command()
def check(name: Name, out: Out = None, seed: Seed = 0, settings: Settings = None, as_json: Json = False) -> None:
    """Compare a data set with what is published of it, and draw its images in the order of its factors.

    Prints the number of images, the checksums of files, and the mean and deviation of each channel beside published
    ones; exits with 1 if they differ. With --json, write a picture only if --out is given.
    """
    import torch

    from unweave.data.check import check_data

    path = None if out is None else picture_path(out)
    data = load_data(name, data_options(settings))
    if path is None and not as_json:
        path = picture_path(Path(f"{data.name}-order.png"))
    generator = torch.Generator().manual_seed(seed)
    found = check_data(data, generator)
    if as_json:
        print_json(_check_as_json(data, found))
    else:
        _print_check(data, found)
    if path is not None and data.has_factors:
        from unweave.figures import draw_contact_sheet, make_order, save_figure

        save_figure(draw_contact_sheet(make_order(data, generator)), path)
        if not as_json:
            print_line(f"wrote {path}")
    if not found.agrees:
        raise typer.Exit(1)


def _print_check(data: FactorData, found: DataCheck) -> None:
    print_line(repr(data))
    print_line(f"images: {found.images:,}")
    for file in found.files:
        state = "not there; drawn, or read from the converted array" if file.state == "not there" else file.state
        print_line(f"file {file.path}: {' '.join(filter(None, [file.checksum, state]))}")
    published, beside = found.published, found.off is not None
    rows = []
    for channel, (mean, std) in enumerate(zip(found.channels.mean, found.channels.std, strict=True)):
        others = (published.mean[channel], published.std[channel]) if published and beside else ()
        rows.append((str(channel), *(f"{value:.6f}" for value in (mean, std, *others))))
    print_table(("channel", "mean", "std", *(("mean published", "std published") * beside)), rows)
    sampled = "all images" if found.channels.exact else f"a sample of {found.channels.images:,} images"
    if published is None:
        print_line(f"from {sampled}; no constants are published of {data.name}.")
    elif found.off is None:
        options = ", ".join(f"{key}={value}" for key, value in found.other_options.items())
        print_line(f"from {sampled}; constants are published ({published.source}) with {options}.")
    else:
        verdict = "as published" if found.agrees else "not as published"
        print_line(f"from {sampled}; {verdict}: {published.source}, largest difference {found.off:.1e}.")


def _check_as_json(data: FactorData, found: DataCheck) -> dict[str, Any]:
    published = found.published
    return {
        "data": data.name,
        "images": found.images,
        "files": [{"path": str(each.path), "state": each.state, "checksum": each.checksum} for each in found.files],
        "channels": {
            "mean": found.channels.mean.tolist(),
            "std": found.channels.std.tolist(),
            "images": found.channels.images,
            "exact": found.channels.exact,
        },
        "published": published
        and {
            "mean": list(published.mean),
            "std": list(published.std),
            "source": published.source,
            "other_options": found.other_options,
        },
        "largest_difference": found.off,
        "agrees": found.agrees,
    }


@data_app.command()
def distances(
    name: Name,
    loss: Annotated[str, typer.Option(help="mse, bce, blurred_mse, or blurred_mse:RADIUS.")] = "mse",
    pairs: Annotated[int, typer.Option(min=2, help="Number of pairs per factor in the table.")] = 50_000,
    traversals: Annotated[int, typer.Option(min=1, help="Number of traversals per factor in the picture.")] = 50,
    out: Out = None,
    seed: Seed = 0,
    settings: Settings = None,
    as_json: Json = False,
) -> None:
    """Print the perceived distance of a change in each factor, and draw the distance matrices.

    With --json, print the table and the constants for standardisation, and write a picture only if --out is given.
    """
    import torch

    from unweave.data import distances as perceived
    from unweave.figures import draw_distance_matrices, save_figure

    distance = perceived.distance_named(loss)
    path = None if out is None else picture_path(out)
    data = load_data(name, data_options(settings))
    if path is None and not as_json:
        path = picture_path(Path(f"{data.name}-distances.png"))
    generator = torch.Generator().manual_seed(seed)
    rows = perceived.factor_importance(data, generator, pairs=pairs, distance=distance)
    matrices = perceived.distance_matrices(data, generator, traversals=traversals, distance=distance)
    statistics = perceived.channel_statistics(data, generator)
    if as_json:
        about = {"data": data.name, "loss": loss, "pairs": pairs, "traversals": traversals}
        print_json({**about, **distances_as_json(rows, matrices, statistics)})
    else:
        print_line(f"Perceived distance ({loss}) of {data.name}, {pairs:,} pairs per row")
        print_distances(rows, matrices, statistics)
    if path is not None:
        title = f"{data.name}, {loss}, mean of {traversals} traversals"
        save_figure(draw_distance_matrices(matrices, title=title), path)
        if not as_json:
            print_line(f"wrote {path}")


def print_distances(rows: Sequence[Importance], matrices: Sequence[Matrices], statistics: ChannelStatistics) -> None:
    """Print one row per factor, and one row per channel."""
    verdicts = {entry.factor: entry.verdict for entry in matrices}
    cells = ((row.factor, f"{row.mean:.4f}", f"{row.std:.4f}", verdicts.get(row.factor, "")) for row in rows)
    print_table(("factor", "mean", "std", "correlation with ground truth"), cells)
    sampled = "all" if statistics.exact else "a sample"
    print_line(f"\nConstants for standardisation, from {statistics.images:,} images ({sampled})")
    channels = enumerate(zip(statistics.mean, statistics.std, strict=True))
    print_table(
        ("channel", "mean", "std"), ((str(channel), f"{mean:.6f}", f"{std:.6f}") for channel, (mean, std) in channels)
    )


def distances_as_json(
    rows: Sequence[Importance], matrices: Sequence[Matrices], statistics: ChannelStatistics
) -> dict[str, Any]:
    """Return the same numbers for JSON; a correlation that is not defined is None."""
    correlations = {each.factor: None if math.isnan(each.correlation) else each.correlation for each in matrices}
    return {
        "factors": [
            {"factor": row.factor, "mean": row.mean, "std": row.std, "correlation": correlations.get(row.factor)}
            for row in rows
        ],
        "channels": {
            "mean": statistics.mean.tolist(),
            "std": statistics.std.tolist(),
            "images": statistics.images,
            "exact": statistics.exact,
        },
    }


def data_rows() -> list[dict[str, Any]]:
    """Return one row per data set."""
    from unweave.data import SETS, options_of

    return [
        {
            "name": name,
            "title": data.card.title,
            "factors": _factors(data.card.space),
            "images": data.card.space.size if data.card.space else None,
            "shape": list(data.card.shape),
            "licence": data.card.licence,
            "citation": data.card.citation,
            "home": data.card.home,
            "drawn": not data.card.files or name == "dsprites",
            "files": [{"name": file.name, "about": str(file)} for file in data.card.files],
            "folder": data.card.files_of or name,
            "options": options_of(data),
        }
        for name, data in SETS.items()
    ]


def _factors(space: FactorSpace | None) -> list[dict[str, Any]] | None:
    if space is None:
        return None
    rows = zip(space.names, space.sizes, space.kinds, strict=True)
    return [{"name": name, "size": size, "kind": kind} for name, size, kind in rows]


def _available(row: dict[str, Any]) -> bool:
    """Return whether a data set can be loaded without a download."""
    from unweave.data import SETS
    from unweave.data.files.published_set import Published

    folder, owner = data_folder(row["folder"]), SETS[row["folder"]]
    files = all((folder / file["name"]).exists() for file in row["files"])
    return row["drawn"] or files or (issubclass(owner, Published) and owner().array_path.exists())


def absent(names: Collection[object]) -> list[str]:
    """Return those of some data sets that must be fetched before they can be loaded."""
    return [row["name"] for row in data_rows() if row["name"] in names and not _available(row)]


def _origin(row: dict[str, Any]) -> str:
    if row["drawn"]:
        return "drawn, or file" if row["files"] else "drawn"
    return "file, available" if row["available"] else "file, to be fetched"


def _describe(row: dict[str, Any]) -> None:
    facts = [(row["name"], row["title"])]
    if row["factors"]:
        factors = (f"{factor['name']} {factor['size']} ({factor['kind']})" for factor in row["factors"])
        facts.append(("factors", ", ".join(factors)))
        facts.append(("images", f"{row['images']:,} of {'×'.join(map(str, row['shape']))}"))
    facts += [("licence", row["licence"]), ("cite", row["citation"]), ("from", row["home"])]
    facts += [("file", file["about"]) for file in row["files"]]
    facts.append(("options", ", ".join(f"{key}={value!r}" for key, value in row["options"].items())))
    print_table((), facts)


def _as_json(name: str, row: dict[str, Any] | None, options: dict[str, Any]) -> dict[str, Any]:
    """Describe a data set; a named one is not opened, so that this works without its files."""
    from unweave.data import identity_of, load

    if row is not None:
        identity = identity_of(name, **options)
        return {**row, "available": _available(row), "identity": identity.canonical()}
    data: FactorData = load(name, **options)
    return {
        "name": data.name,
        "factors": _factors(data.space) if data.has_factors else None,
        "images": data.num_images,
        "shape": list(data.shape),
        "identity": data.identity.canonical(),
        "source": data.identity.source,
        "notes": list(data.notes),
    }
