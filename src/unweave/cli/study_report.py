"""``unweave study report``: the answers of a study as one HTML file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unweave.cli.options import Quiet, Store, Verbose, console
from unweave.errors import InputError, Unavailable, extra

if TYPE_CHECKING:
    import pandas

Table = Annotated[
    Path | None,
    typer.Option(help="Instead of SPEC: a .csv, .parquet or .json file with one row per run, from any project."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        help="A column of scores to compare methods by, higher is better; can be repeated.",
        show_default="the disentanglement metrics of Unweave",
    ),
]
Out = Annotated[Path, typer.Option(help="The HTML file to write.")]
Udr = Annotated[bool, typer.Option("--udr", help="Compute UDR, which opens every finished run of SPEC.")]


def report_study(
    spec: Annotated[Path | None, typer.Argument(metavar="[SPEC]", help="The TOML file of the study.")] = None,
    table: Table = None,
    metrics: Metrics = None,
    out: Out = Path("study.html"),
    store: Store = None,
    udr: Udr = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write one self-contained HTML file with every question that a study answers, its figure and its table.

    With --table, the runs of another project are analysed: the columns data, recipe, strength and seed identify a run,
    and scores are recognised by their names in Unweave, such as mig or dci.disentanglement. Other columns of scores are
    named with --metric.
    """
    if (spec is None) == (table is None):
        raise InputError("give either SPEC or --table FILE.")
    if udr and table is not None:
        raise InputError("--udr needs the runs of SPEC: a table has UDR only in a column udr of its own.")
    check_page(out)
    from unweave.progress import progress
    from unweave.questions import QUESTIONS
    from unweave.reports.studies import run_command, write_study_report, write_table_report

    with progress("report", len(QUESTIONS), unit="questions") as advance:
        seen = 0

        def watch(title: str) -> None:
            nonlocal seen
            advance(min(seen, 1), title)
            seen += 1

        if table is not None:
            write_table_report(read_table(table), out, title=table.stem, metrics=metrics, watch=watch)
        elif spec is not None:
            from unweave.study import Study

            command = run_command(spec, store)
            study = Study(spec, store=store)
            write_study_report(study, out, command=command, metrics=metrics, watch=watch, udr=udr)
    console.print(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)", soft_wrap=True, highlight=False)


def check_page(out: Path) -> None:
    """Refuse a file for a page that is not HTML or cannot be written, before anything is computed."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out must end in .html, got {out.name!r}.")
    if out.is_dir():
        raise InputError(f"cannot write {out}: it is a folder.")


def read_table(path: Path) -> pandas.DataFrame:
    """Read a table of runs."""
    reader = extra("pandas", "study")
    readers: dict[str, Any] = {".csv": reader.read_csv, ".parquet": reader.read_parquet, ".json": reader.read_json}
    if path.suffix.lower() not in readers:
        raise InputError(f"--table must end in .csv, .parquet or .json, got {path.name!r}.")
    try:
        frame: pandas.DataFrame = readers[path.suffix.lower()](path)
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror or error}.") from error
    except Exception as error:  # each reader has its own exceptions for a file that is not what its name says
        raise InputError(f"{path} is not a table: {str(error).splitlines()[0] if str(error) else error!r}") from error
    return frame
