"""``unweave compare``: place runs, encoders, codes or a study among stored results."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from unweave.cli.options import (
    Discrete,
    FactorKinds,
    FactorsFile,
    GivenCodes,
    Missing,
    Quiet,
    RunNames,
    Store,
    Trust,
    Verbose,
    load_data,
    open_representations,
    print_line,
)
from unweave.cli.study import WRITTEN, open_study, print_grids
from unweave.errors import InputError


def compare(
    runs: RunNames = None,
    study: Annotated[
        str | None, typer.Option(help="The TOML file of a study, or its name: its finished runs, by method.")
    ] = None,
    codes: Annotated[
        list[Path] | None,
        typer.Option("--codes", help="Codes (N, D), an .npy, .npz, .csv or .parquet file; can be repeated."),
    ] = None,
    factors: FactorsFile = None,
    data: Annotated[
        str | None,
        typer.Option(help="The data set of encoders, or that codes belong to, as in dsprites,size=32."),
    ] = None,
    kinds: FactorKinds = None,
    missing: Missing = "error",
    discrete: Discrete = False,
    metrics: Annotated[
        list[str] | None,
        typer.Option("--metric", help="A metric; can be repeated.", show_default="all that are stored for the data"),
    ] = None,
    bootstrap: Annotated[
        int, typer.Option(min=0, help="Number of half-samples to find the interval of a single run or encoder from.")
    ] = 100,
    form: Annotated[str | None, typer.Option("--format", help="text, md, latex or csv.", show_default="text")] = None,
    out: Annotated[Path | None, typer.Option(help="File to write: .md, .tex or .csv, or any with --format.")] = None,
    workers: Annotated[
        int | None, typer.Option("--threads", min=1, help="Maximum number of threads.", show_default="one per core")
    ] = None,
    trust: Trust = False,
    store: Store = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Set scores beside the stored results of the same data, size and protocol, with ranks and 95 % intervals.

    Runs, encoders (module:name with --data; a dictionary of functions is one row for each, such as the layers of a
    network), codes and the methods of a study are rows of one table, scored as the stored results were. What is stored
    comes from the findings of papers (unweave paper list). If nothing stored is comparable, it says why.
    """
    from unweave.papers.comparison import compare as place
    from unweave.store.files import write_output
    from unweave.study.results import FORMS

    if form is not None and form not in FORMS:
        raise InputError(f"--format must be one of {', '.join(FORMS)}, got {form!r}.")
    written: Any = form or ("text" if out is None else {**WRITTEN, ".csv": "csv", ".txt": "text"}.get(out.suffix))
    if written is None:
        raise InputError(f"--out must end in .md, .tex, .csv or .txt, or give --format; got {out}.")
    if codes and factors is None:
        raise InputError("--codes needs --factors, with as many rows.")
    images = None if data is None else load_data(data)
    given: list[Any] = [open_study(study, store)] if study is not None else []
    if factors is not None and not codes:
        raise InputError("--factors can be used with --codes only: a run knows its own.")
    if runs:
        given += open_representations(runs, GivenCodes(), store, trust=trust, data=images)
    for path in dict.fromkeys(codes or ()):
        (opened,) = open_representations(
            None, GivenCodes(path, factors, None, missing, discrete, kinds), store, trust=trust
        )
        if sum(other.stem == path.stem for other in codes or ()) > 1:
            opened.label = str(path)
        given.append(opened)
    if not given:
        raise InputError("give runs, encoders as module:name, --codes FILE and --factors FILE, or --study SPEC.")
    found = place(given, images, metrics=metrics, bootstrap=bootstrap, store=store, trust=trust, workers=workers)
    if out is not None:
        write_output(out, found.write(written))
        print_line(f"wrote {out}")
    elif written != "text":
        typer.echo(found.write(written), nl=False)
    else:
        print_grids(found.grids())
        print_line(found.lines()[0])
    for note in found.notes:
        typer.echo(f"note: {note}", err=written != "text" and out is None)  # not into a table that is piped
