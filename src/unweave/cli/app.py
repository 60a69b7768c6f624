"""The application and its commands. Nothing here imports torch: each command imports what it needs when it runs."""

from __future__ import annotations

from typing import Annotated

import typer

from unweave.cli.cite import cite
from unweave.cli.command import HELP, Commands
from unweave.cli.compare import compare
from unweave.cli.data import data_app
from unweave.cli.explore import explore
from unweave.cli.figure import figure
from unweave.cli.options import Quiet, Verbose, console
from unweave.cli.paper import paper_app
from unweave.cli.parts import latents_app, metrics_app, nets_app, recipes_app, terms_app
from unweave.cli.report import export, push, report
from unweave.cli.runs import runs_app
from unweave.cli.score import score
from unweave.cli.study import study_app
from unweave.cli.train import train
from unweave.cli.verify import verify
from unweave.cli.zoo import zoo_app
from unweave.progress import set_level

app = Commands("Learn, measure and show the factors of variation in data.")
for function in (train, score, compare, figure, report, export, push, explore, verify, cite):
    app.command()(function)
for name, group in {
    "runs": runs_app,
    "recipes": recipes_app,
    "terms": terms_app,
    "latents": latents_app,
    "nets": nets_app,
    "study": study_app,
    "paper": paper_app,
    "metrics": metrics_app,
    "data": data_app,
    "zoo": zoo_app,
}.items():
    app.add_typer(group, name=name, context_settings=HELP)


@app.callback(invoke_without_command=True, context_settings=HELP)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Learn, measure and show the factors of variation in data."""
    set_level("quiet" if quiet else "verbose" if verbose else "normal")  # commands have the same two options
    if version:
        from importlib.metadata import version as version_of

        console.print(version_of("unweave"))
        raise typer.Exit
