"""The command line: every command calls what a notebook would call."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import unweave
from unweave.cli.data import data_app
from unweave.cli.metrics import metrics_app, score
from unweave.cli.options import console
from unweave.cli.recipes import recipes_app
from unweave.cli.runs import runs_app
from unweave.cli.train import train
from unweave.errors import Diverged, InputError, MissingExtra, Unavailable

app = typer.Typer(
    help="Learn, measure and show the factors of variation in data.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
app.add_typer(data_app, name="data")
app.add_typer(recipes_app, name="recipes")
app.command()(train)
app.add_typer(runs_app, name="runs")
app.command()(score)
app.add_typer(metrics_app, name="metrics")


def main() -> None:
    """Run the command line; what the user can mend is one sentence and exit code 2, a run that diverged code 1."""
    try:
        app()
    except (InputError, Unavailable, MissingExtra, Diverged) as error:
        print(f"unweave: {error}", file=sys.stderr)  # noqa: T201
        sys.exit(1 if isinstance(error, Diverged) else 2)


@app.callback(invoke_without_command=True)
def root(version: Annotated[bool, typer.Option("--version", help="Print the version and stop.")] = False) -> None:
    """Learn, measure and show the factors of variation in data."""
    if version:
        console.print(unweave.__version__)
        raise typer.Exit
