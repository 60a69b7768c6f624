"""``unweave explore``: a page in the browser for a run, a study or a store."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unweave.cli.options import Store, Trust, console
from unweave.errors import InputError

if TYPE_CHECKING:
    from unweave.explore import Selection


def explore(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN | STUDY | STORE]",
            help="A run, the TOML file of a study or a name such as tripod/lite, or the folder of a store.",
            show_default="the store",
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(min=0, max=65535, help="Port to listen on.", show_default="a free one from 8420")
    ] = None,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    browser: Annotated[bool, typer.Option("--browser/--no-browser", help="Open the page in a browser.")] = True,
    trust: Trust = False,
    export: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write the page of a run to one HTML file that needs no Python, and exit."),
    ] = None,
    store: Store = None,
) -> None:
    """Open a page in the browser: move the latents of a run, compare runs, browse a study, watch a training."""
    from unweave.explore import find_selection, serve

    selection = find_selection(target, store=store, trusted=trust)
    if export is not None:
        _export(selection, export)
        return

    def announce(address: str) -> None:
        console.print(f"{selection.kind} {selection.title}: {address}  (Ctrl-C ends)", soft_wrap=True, highlight=False)

    serve(selection, host=host, port=port, browser=browser, announce=announce)


def _export(selection: Selection, path: Path) -> None:
    """Write the page of a run to a file."""
    from unweave.explore import export_page
    from unweave.explore.open_runs import OpenRuns

    if selection.run is None:
        raise InputError("--export takes one run: give its name, its label, or the path of its folder.")
    opened = OpenRuns(selection).open(selection.run)
    page = export_page(opened.run, path, data=opened.data, no_data=opened.no_data)
    left_out = "" if page.encoder else "; the encoder is too large and was left out"
    console.print(
        f"wrote {page.path}: {page.size / 1e6:.1f} MB, of which {page.weights / 1e6:.1f} MB are weights; "
        f"largest difference from PyTorch {page.difference:.1e}{left_out}",
        soft_wrap=True,
        highlight=False,
    )
