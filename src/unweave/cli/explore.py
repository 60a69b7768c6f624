"""``unweave explore``: a page in the browser for a run, a study or a store."""

from __future__ import annotations

import socket
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from unweave.cli.options import (
    ENCODER,
    CodesFile,
    Discrete,
    FactorKinds,
    FactorsFile,
    GivenCodes,
    ImagesPath,
    Missing,
    Store,
    Trust,
    load_data,
    open_representations,
    print_line,
)
from unweave.errors import InputError

if TYPE_CHECKING:
    from unweave.explore import Selection


def explore(
    target: Annotated[
        str | None,
        typer.Argument(
            metavar="[RUN | STUDY | STORE]",
            help="A run, an encoder as module:name, a study (TOML file or a name such as tripod/lite), or a store.",
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
    data: Annotated[
        str | None, typer.Option(help="The data set of an encoder of your own, which is given as module:name.")
    ] = None,
    codes: CodesFile = None,
    factors: FactorsFile = None,
    images: ImagesPath = None,
    kinds: FactorKinds = None,
    missing: Missing = "error",
    discrete: Discrete = False,
    store: Store = None,
) -> None:
    """Open a page in the browser: move the latents of a run, compare runs, browse a study, watch a training."""
    from unweave.explore import find_selection, serve
    from unweave.explore.run_selection import select_given

    given = GivenCodes(codes, factors, images, missing, discrete, kinds)
    if codes is not None or (target is not None and ENCODER.fullmatch(target)):
        loaded = None if data is None else load_data(data)
        names = None if target is None else [target]
        selection = select_given(open_representations(names, given, store, trust=trust, data=loaded))
    elif data is not None or given != GivenCodes():
        raise InputError("--data is for an encoder, module:name, and --factors and --images are for --codes.")
    else:
        selection = find_selection(target, store=store, trusted=trust)
    if selection.note:
        print_line(selection.note)
    if export is not None:
        _export(selection, export)
        return

    def announce(address: str) -> None:
        print_line(f"{selection.kind} {selection.title}: {address}  (Ctrl-C ends)")
        from unweave.explore.server import EVERYWHERE, LOOPBACK

        if host not in LOOPBACK:
            elsewhere = socket.gethostname() if host in EVERYWHERE else host
            print_line(
                f"warning: every machine of the network can open this page, as http://{elsewhere}:"
                f"{address.rstrip('/').rpartition(':')[2]}/, and there is no password."
            )

    serve(selection, host=host, port=port, browser=browser, announce=announce)


def _export(selection: Selection, path: Path) -> None:
    """Write the page of a run to a file."""
    from unweave.explore import export_page
    from unweave.explore.open_runs import OpenRuns
    from unweave.training import Run

    if selection.run is None:
        taken = f" {selection.note}" if selection.note else ""
        raise InputError(f"--export takes one run: give its name, its label, or the path of its folder.{taken}")
    opened = OpenRuns(selection).open(selection.run)
    if not isinstance(opened.run, Run):
        raise InputError("--export needs the networks of a run: an encoder or codes have a page with a server only.")
    page = export_page(opened.run, path, data=opened.data, no_data=opened.no_data)
    left_out = "" if page.encoder else "; the encoder is too large and was left out"
    print_line(
        f"wrote {page.path}: {page.size / 1e6:.1f} MB, of which {page.weights / 1e6:.1f} MB are weights; "
        f"largest difference from PyTorch {page.difference:.1e}{left_out}"
    )
