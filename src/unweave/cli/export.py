"""``unweave export``: encoder and decoder of a run for programs that do not use PyTorch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from unweave.cli.options import RunName, Store, Trust, check_writable, console, open_runs, parse_folder, stem_of


def export(
    run: RunName,
    out: Annotated[
        Path | None,
        typer.Option(help="The folder to write to.", parser=parse_folder, metavar="FOLDER", show_default="RECIPE-RUN"),
    ] = None,
    trust: Trust = False,
    store: Store = None,
) -> None:
    """Write encoder.onnx and decoder.onnx of a run, checked against PyTorch."""
    from unweave.interop.onnx import export_onnx

    (opened,) = open_runs([run], store, trust=trust)
    folder = out or Path(stem_of(opened))
    check_writable("--out", folder)
    for file in export_onnx(opened, folder):
        console.print(f"wrote {file.path}; largest difference from PyTorch {file.difference:.1e}", soft_wrap=True)
