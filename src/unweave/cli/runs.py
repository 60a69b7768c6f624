"""``unweave runs``: list, show, rm."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.table import Table

from unweave.cli.options import console
from unweave.errors import InputError, Unavailable
from unweave.training import State, find_run, read_configuration, read_state, remove_run, runs_in, store_folder
from unweave.training.log import read_log
from unweave.training.store import LOG, is_held

runs_app = typer.Typer(help="Runs of the store: list, show, remove.", no_args_is_help=True, rich_markup_mode=None)

Store = Annotated[Path | None, typer.Option(help="The folder of runs.", show_default="UNWEAVE_STORE or ./runs")]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run's folder, its name, or the name's first digits.")]


@runs_app.command("list")
def list_runs(store: Store = None) -> None:
    """List the runs of a store, the oldest first."""
    folder = store_folder(store)
    table = Table("run", "recipe", "data", "seed", "step", "status", "PSNR", "steps/s", box=None, pad_edge=False)
    for run in runs_in(folder):
        try:
            configuration, state = read_configuration(run), read_state(run)
        except (Unavailable, InputError) as error:
            table.add_row(run.name, str(error))
            continue
        step = f"{state.step if state else 0:,} of {configuration.steps:,}"
        speed = f"{state.step / state.seconds:.1f}" if state and state.seconds and not configuration.linear else ""
        table.add_row(
            run.name,
            configuration.recipe,
            configuration.data.name,
            str(configuration.seed),
            "" if configuration.linear else step,
            _status(run, state),
            f"{state.psnr:.1f}" if state and state.psnr is not None else "",
            speed,
        )
    console.print(table)
    console.print(f"\nThe store is {folder}.", soft_wrap=True)


def _status(run: Path, state: State | None) -> str:
    if state is None:
        return "not started"
    return "stopped" if state.status == "running" and not is_held(run) else state.status


@runs_app.command("show")
def show_run(run: RunName, store: Store = None) -> None:
    """Show a run: its configuration, how far it has come, and the last values of its terms."""
    folder = find_run(run, store_folder(store))
    configuration, state = read_configuration(folder), read_state(folder)
    console.print_json(json.dumps(configuration.model_dump(mode="json")))
    for name, value in vars(state).items() if state else ():
        console.print(f"{name:8} {value}", highlight=False)
    lines = [line for line in read_log(folder / LOG) if "loss" in line]
    if lines:
        console.print("  ".join(f"{name} {value:.5g}" for name, value in lines[-1].items()), soft_wrap=True)
    console.print(str(folder), soft_wrap=True)


@runs_app.command("rm")
def remove(
    runs: Annotated[list[str], typer.Argument(metavar="RUN…", help="Folders, names, or their first digits.")],
    store: Store = None,
) -> None:
    """Remove runs and all that they hold."""
    folders = dict.fromkeys(find_run(run, store_folder(store)) for run in runs)
    for folder in folders:  # all are found before one is removed
        remove_run(folder)
        console.print(f"removed {folder}", soft_wrap=True)
