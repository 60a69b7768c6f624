"""``unweave runs``: list, show, latest, label, extend, pictures, rm."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from unweave.cli.command import Commands
from unweave.cli.options import (
    Json,
    Quiet,
    RunName,
    Store,
    Trust,
    Verbose,
    check_writable,
    console,
    draw_pictures,
    find_one_run,
    find_runs,
    open_runs,
    pairs,
    parse_folder,
    print_json,
    print_line,
    print_table,
)
from unweave.errors import InputError, Unavailable
from unweave.key_values import parse_data
from unweave.names import OWN
from unweave.plain_json import to_plain
from unweave.store.folder import LATEST, LOG, existing_store, remove_run, runs_in, write_label
from unweave.store.measurements import read_protocol
from unweave.store.record import DAMAGED, OTHER, Record, read_record
from unweave.store.setting_names import differing
from unweave.store.state import STATES, read_log

SHOWN = (*STATES, DAMAGED, OTHER)  # states
runs_app = Commands("Runs of a store: list, show, label, extend, draw and remove them.")


@runs_app.command("list")
def list_runs(
    store: Store = None,
    recipe: Annotated[str | None, typer.Option(help="Only runs of this recipe.")] = None,
    data: Annotated[str | None, typer.Option(help="Only runs on this data set, as in xysquares,size=32.")] = None,
    state: Annotated[str | None, typer.Option(help=f"Only runs in this state: {', '.join(SHOWN)}.")] = None,
    as_json: Json = False,
) -> None:
    """List the runs of a store, oldest first, with the settings in which they differ."""
    if state is not None and state not in SHOWN:
        raise InputError(f"unknown state {state!r}: expected one of {', '.join(SHOWN)}.")
    folder = existing_store(store)
    found = [row_of(read_record(run, scores=False)) for run in runs_in(folder)]
    data, options = (None, {}) if data is None else parse_data(data)
    wanted = {"recipe": recipe, "data": data, "state": state}
    rows = [
        row
        for row in found
        if all(value is None or _plain(row[key]) == _plain(value) for key, value in wanted.items())
        and options.items() <= row["fields"].get("data", {}).get("options", {}).items()
    ]
    if as_json:
        print_json([{key: value for key, value in row.items() if key not in ("fields", "traceback")} for row in rows])
    elif found and not rows:
        print_line(f"no run matches; the store {folder} has {_count(found)}.")
    else:
        console.print(_table(rows))
        print_line(f"\n{_count(rows)} in the store {folder}.")


def _plain(name: str | None) -> str:
    """Return a name in which hyphens and underscores are one."""
    return (name or "").replace("-", "_")


def row_of(record: Record) -> dict[str, Any]:
    """Describe a run in one row; the row of a damaged run says what is damaged.

    ``fields`` is the configuration as JSON, as far as it could be read.
    """
    known, fields = record.is_readable, record.fields
    return {
        "run": record.name,
        "label": record.label,
        "problem": "" if known else record.error,
        "recipe": fields.get("recipe") if isinstance(fields.get("recipe"), str) else None,
        "data": record.data if known else None,
        "seed": fields["seed"] if known else None,
        "step": record.step if known else None,
        "steps": fields["steps"] if known else None,
        "state": record.state,
        "seconds": round(record.seconds, 1) if known else None,
        "steps_per_second": record.step / record.seconds if known and record.seconds else None,
        "psnr": record.psnr,
        "threads": record.threads,
        "version": record.version,
        "error": record.error if known else "",
        "traceback": record.traceback,
        "fields": fields,
    }


def scores_of(record: Record) -> list[dict[str, Any]]:
    """Return one row per score that is stored with a run, with its protocol; own images bound its samples."""
    shown = ("samples", "test_samples", "source", "seed", "step", "settings")
    rows = []
    for found in record.measured:
        protocol = {key: read_protocol(found.protocol).get(key) for key in shown}
        sizes = [size for size in (protocol["samples"], protocol["test_samples"]) if size is not None]
        if record.fields["data"]["name"] == OWN and len(sizes) == 2:
            from unweave.metrics.scoring.encoded_data import table_sizes

            bounded = table_sizes(record.fields["data"]["num_images"], *sizes)
            protocol |= dict(zip(("samples", "test_samples"), bounded, strict=True))
        rows += [{"score": name, "value": value, **protocol} for name, value in found.scores.items()]
    return rows


def _count(rows: list[Any]) -> str:
    return f"{len(rows)} run{'' if len(rows) == 1 else 's'}"


def _table(rows: list[dict[str, Any]]) -> Table:
    table = Table("run", "recipe", "data", "seed", "step", "state", "PSNR", "steps/s", box=None, pad_edge=False)
    table.add_column("differs in", overflow="fold")
    differences = iter(differing([row["fields"] for row in rows if not row["problem"]]))
    for row in rows:
        name = f"{row['run']} {row['label']}".strip()
        if row["problem"]:
            table.add_row(name, row["recipe"] or "?", "?", "", "", row["state"], "", "", row["problem"])
            continue
        step = "" if row["fields"].get("linear") else f"{row['step']:,} of {row['steps']:,}"
        psnr, speed = (f"{row[key]:.1f}" if row[key] is not None else "" for key in ("psnr", "steps_per_second"))
        settings = pairs(next(differences))
        table.add_row(name, row["recipe"], row["data"], str(row["seed"]), step, row["state"], psnr, speed, settings)
    return table


@runs_app.command("show")
def show_run(run: RunName, store: Store = None, as_json: Json = False) -> None:
    """Show a run: its state, its configuration, the last values of its terms, and its scores."""
    folder = find_one_run(run, store)
    row, record = row_of(read_record(folder, scores=False)), read_record(folder)
    configuration, traceback = row.pop("fields"), row.pop("traceback")
    scores = scores_of(record)
    damage = "" if record.is_readable or row["problem"] else record.error
    try:
        last = next((line for line in reversed(read_log(folder / LOG)) if "loss" in line), None)
    except Unavailable as error:
        last, damage = None, f"{error} {damage}".strip()
    row["problem"] = f"{row['problem']} {damage}".strip()
    if as_json:
        files = {"folder": str(folder), "log": last, "scores": scores, "traceback": traceback}
        print_json({**row, **files, "configuration": configuration})
        return
    console.print_json(data=to_plain(configuration))
    for name, value in row.items():
        if value not in (None, "", "?"):
            print_line(f"{name:17} {value}")
    if last:
        print_line("  ".join(f"{name} {value:.5g}" for name, value in last.items()))
    if scores:
        shown = ("samples", "seed", "step")
        rows = (
            (each["score"], f"{each['value']:.4f}", *(str(each[key]) for key in shown), pairs(each["settings"] or {}))
            for each in scores
        )
        print_table(("score", "value", *shown, "settings"), rows)
    if traceback:
        print_line(f"\n{traceback}")
    print_line(str(folder))


@runs_app.command("latest")
def show_latest(store: Store = None, as_json: Json = False) -> None:
    """Show the run that was begun last; `latest` also names it wherever a run is accepted."""
    show_run(LATEST, store, as_json)


@runs_app.command("label")
def label_run(
    run: RunName,
    label: Annotated[str, typer.Argument(help='The label; "" removes it.')],
    store: Store = None,
) -> None:
    """Label a run; the label can then be used in place of its name."""
    folder = find_one_run(run, store)
    write_label(folder, label)
    print_line(f"{folder.name} {f'is now labelled {label.strip()}' if label else 'no longer has a label'}")


@runs_app.command("extend")
def extend_run(
    run: RunName,
    steps: Annotated[int, typer.Option(help="The new total number of steps.")],
    store: Store = None,
    threads: Annotated[int | None, typer.Option(help="Number of CPU threads.", show_default="torch's")] = None,
    trust: Trust = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Continue a finished run to more steps; the result is a new run."""
    from unweave.training import extend

    (opened,) = open_runs([run], store, trust=trust)
    longer = extend(opened, steps, threads=threads)
    print_line(f"{longer.outcome}: {longer!r}\n{longer.folder}")


@runs_app.command("pictures")
def draw_run(
    run: RunName,
    out: Annotated[Path, typer.Option(help="The folder to write to.", parser=parse_folder, metavar="FOLDER")] = Path(
        "pictures"
    ),
    trust: Trust = False,
    store: Store = None,
) -> None:
    """Draw reconstructions and traversals of a run."""
    check_writable("--out", out)
    (opened,) = open_runs([run], store, trust=trust)
    draw_pictures(opened, opened.data(), out)


@runs_app.command("rm")
def remove(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Runs: run id or unique prefix, label, or folder.")],
    store: Store = None,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Do not ask for confirmation.")] = False,
) -> None:
    """Remove runs with everything in their folders."""
    folders = find_runs(runs, store)  # all of them before any is removed
    if not yes:
        for found in folders:
            print_line(str(found))
        if not typer.confirm(f"Remove {len(folders)} run{'' if len(folders) == 1 else 's'}?"):
            print_line("nothing was removed.")
            raise typer.Exit(1)
    for found in folders:
        remove_run(found)
        print_line(f"removed {found}")
