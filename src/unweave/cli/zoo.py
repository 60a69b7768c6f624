"""``unweave zoo``: list trained models that come with Unweave or are public, show one, and fetch a public one."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unweave.cli.command import Commands
from unweave.cli.options import Json, Quiet, print_json, print_line, print_table
from unweave.names import spelled
from unweave.progress import duration
from unweave.store.folder import find_run, runs_in
from unweave.store.record import Record, read_record
from unweave.zoo import PREFIX, zoo_store
from unweave.zoo.public import PREFIX as PUBLIC_PREFIX
from unweave.zoo.public import PUBLIC, PublicModel, find_public

zoo_app = Commands("Trained models that come with Unweave or that others published: list, show and fetch them.")
COLUMNS = {
    "MIG": "mig",
    "DCI D": "dci.disentanglement",
    "DCI C": "dci.completeness",
    "DCI I": "dci.informativeness",
    "InfoM": "infomec.modularity",
    "InfoC": "infomec.compactness",
    "InfoE": "infomec.explicitness",
    "local MIG": "local_mig",
    "PSNR": "psnr",
}


@zoo_app.command("list")
def list_models(as_json: Json = False) -> None:
    """List the models with their scores. A name from the first column is accepted wherever a run is."""
    records = sorted((read_record(folder) for folder in runs_in(zoo_store())), key=lambda record: record.label)
    if as_json:
        print_json([_row(record) for record in records])
        return
    rows = []
    for record in records:
        scores = (record.scores.get(name) for name in COLUMNS.values())
        numbers = ["" if value is None else f"{value:.1f}" if value > 1 else f"{value:.2f}" for value in scores]
        method = spelled(record.fields["recipe"])
        rows.append((PREFIX + record.label, method, record.data, f"{record.step:,}", *numbers))
    print_table(("model", "method", "data", "steps", *COLUMNS), rows)
    print_line(f"\nMove the latents of one: unweave explore {PREFIX}{records[0].label}")
    print_line("\nPublic models, which are downloaded on first use:")
    public = ((PUBLIC_PREFIX + each.name, spelled(each.recipe), each.data, each.file.url) for each in PUBLIC.values())
    print_table(("model", "method", "data", "published at"), public)


@zoo_app.command("show")
def show_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A model of the zoo or a public one, as listed.")],
    as_json: Json = False,
) -> None:
    """Show the settings and scores of a model, and how to train it again; of a public one, where it is from."""
    if name.startswith(PUBLIC_PREFIX) or "/" in name:
        _show_public(find_public(name), as_json)
        return
    record = read_record(find_run(PREFIX + name.removeprefix(PREFIX), zoo_store()))
    if as_json:
        print_json(_row(record) | {"settings": record.configuration})
        return
    settings = [(key, str(value)) for key, value in record.configuration.items()]
    print_table((), [*settings, *((key, f"{value:.4g}") for key, value in record.scores.items())])
    print_line(f"\ntrained in {duration(record.seconds)} by {record.version}; train it again:")
    print_line(f"  unweave train --from {PREFIX}{record.label}")


@zoo_app.command("fetch")
def fetch_model(
    name: Annotated[str, typer.Argument(metavar="NAME", help="A public model, with or without public: in front.")],
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Folder with its weights, as .npz or .pt.", show_default="download"),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Fetch a public model and keep it as a run in the data folder. A download must have the published checksum."""
    from unweave.training.adoption import public_run

    model = find_public(name)
    folder = public_run(model, source=source)
    if model.note:
        print_line(model.note)
    print_line(f"kept in {folder}")
    print_line(f"Move its latents: unweave explore {PUBLIC_PREFIX}{model.name}")


def _show_public(model: PublicModel, as_json: bool) -> None:
    """Show how a public model was trained, and where it was published."""
    facts: dict[str, object] = {"model": PUBLIC_PREFIX + model.name, "recipe": model.recipe, "data": model.data}
    facts |= {**model.settings, "published at": model.file.url, "checksum": model.file.checksum}
    if as_json:
        print_json(facts | {"note": model.note})
        return
    for key, value in facts.items():
        print_line(f"{key:42}{value}")
    if model.note:
        print_line(f"\n{model.note}")
    print_line(f"\nMove its latents: unweave explore {PUBLIC_PREFIX}{model.name}")


def _row(record: Record) -> dict[str, object]:
    facts = {"model": PREFIX + record.label, "recipe": record.fields["recipe"], "data": record.data}
    return {**facts, "seed": record.fields["seed"], "steps": record.step, "run": record.name, "scores": record.scores}
