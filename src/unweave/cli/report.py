"""``unweave report``, ``export`` and ``push``: runs as one HTML file, as ONNX files, and on the Hugging Face hub."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    Quiet,
    RunName,
    RunNames,
    Store,
    Trust,
    Verbose,
    announced_parts,
    check_page,
    check_writable,
    data_options,
    find_runs,
    load_data,
    open_representations,
    open_runs,
    parse_folder,
    print_line,
    print_notes,
    several,
    stem_of,
)
from unweave.errors import InputError


def report(
    runs: RunNames = None,
    out: Annotated[Path, typer.Option(help="The HTML file to write.")] = Path("report.html"),
    data: Annotated[
        str | None,
        typer.Option(help="The data set for figures, a name or a path.", show_default="the one they were trained on"),
    ] = None,
    settings: Annotated[
        list[str] | None, typer.Option("--set", help="An option of --data, as in data.size=32; can be repeated.")
    ] = None,
    codes: CodesFile = None,
    factors: FactorsFile = None,
    pictures: ImagesPath = None,
    kinds: FactorKinds = None,
    missing: Missing = "error",
    discrete: Discrete = False,
    scored: Annotated[
        bool, typer.Option("--score", help="First score the runs with every metric that applies.")
    ] = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            callback=several,
            help="Instead of every metric: score with this one; several as in mig,sap.",
        ),
    ] = None,
    trust: Trust = False,
    store: Store = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write one self-contained HTML file about a run, an encoder or codes, or a comparison of several.

    It shows what was trained on what, the stored scores with their meaning and where each lies among comparable runs
    of the store, every figure that applies, the configuration, and the command that trains the run again.
    """
    check_page(out)
    from unweave.figures.catalogue import FIGURES
    from unweave.papers import stored_results
    from unweave.reports.run_report import report as write_report

    options = data_options(settings)
    if options and data is None:
        raise InputError("--set has only options of the data set here: name it with --data, as in xysquares,size=32.")
    images = None if data is None else load_data(data, options)
    given = GivenCodes(codes, factors, pictures, missing, discrete, kinds)
    if runs and not any(map(ENCODER.fullmatch, runs)) and given == GivenCodes():
        opened: list[Any] = list(find_runs(runs, store))  # also without weights
    else:
        opened = list(open_representations(runs, given, store, trust=trust, data=images))
    total = sum(figure.source in ("run", "runs") for figure in FIGURES.values())
    with announced_parts(total, "figures") as watch:
        baselines = stored_results()
        write_report(
            opened,
            out,
            data=images,
            store=store,
            scored=scored,
            metrics=metrics,
            trust=trust,
            baselines=baselines,
            watch=watch,
        )
    print_notes(images)
    print_line(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")


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
        print_line(f"wrote {file.path}; largest difference from PyTorch {file.difference:.1e}")


def push(
    run: RunName,
    address: Annotated[str, typer.Argument(metavar="hf://OWNER/NAME", help="A repository of the Hugging Face hub.")],
    private: Annotated[bool, typer.Option("--private", help="Make a new repository private.")] = False,
    trust: Trust = False,
    store: Store = None,
) -> None:
    """Upload a finished run to the Hugging Face hub, with a model card that has a picture and its scores.

    Log in first with hf auth login, or set HF_TOKEN. Commands that take a run, and unweave.open, take hf://OWNER/NAME.
    """
    from unweave.reports.model_card import push as upload

    (opened,) = open_runs([run], store, trust=trust)
    print_line(f"pushed to {upload(opened, address, private=private)}")
