"""``unweave study``: plan, run, status, retry, table."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from unweave.cli.options import Json, Quiet, Store, Verbose, console, print_json
from unweave.errors import InputError

if TYPE_CHECKING:
    from unweave.study import Study
    from unweave.study.worker import Report

study_app = typer.Typer(
    help="Studies: plan, run and continue many runs from one page of TOML, and read them as a table.",
    no_args_is_help=True,
    rich_markup_mode=None,
)
SpecPath = Annotated[Path, typer.Argument(metavar="SPEC", help="The TOML file of the study.")]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Worker processes of one thread each.", show_default="one per core")
]
Part = Annotated[str | None, typer.Option(help="I/N: only the I-th of N parts of the runs, for job arrays.")]


@study_app.command("plan")
def plan_study(spec: SpecPath, store: Store = None, as_json: Json = False) -> None:
    """Check a specification, and print how many runs it has and how many of them are done."""
    from unweave.study.planning import by_data, varying

    study = _open(spec, store)
    planned = study.planned
    states = study.status()
    if as_json:
        print_json({"name": study.spec.name, "runs": len(planned), "states": states, "varies": varying(planned)})
        return
    console.print(f"{study.spec.name}: {len(planned):,} runs", highlight=False)
    for data, count in by_data(planned):
        console.print(f"  {data}: {count:,}", highlight=False)
    different = len({run.name for run in planned})
    if different < len(planned):
        console.print(f"{different:,} of them are different; the others learn the same and are trained once.")
    if names := varying(planned):
        console.print(f"varies: {', '.join(names)}", soft_wrap=True)
    _print_states(states)


@study_app.command("run")
def run_study(
    spec: SpecPath,
    store: Store = None,
    workers: Workers = None,
    part: Part = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train and score all runs of a study that are not done yet. Running it again continues it."""
    _carry_out(_open(spec, store), workers, part, retry=False)


@study_app.command("retry")
def retry_study(spec: SpecPath, store: Store = None, workers: Workers = None, part: Part = None) -> None:
    """Try the failed runs of a study again, and finish the others."""
    _carry_out(_open(spec, store), workers, part, retry=True)


@study_app.command("status")
def show_status(spec: SpecPath, store: Store = None, as_json: Json = False) -> None:
    """Print how many runs of a study are in each state, and the errors of those that failed."""
    study = _open(spec, store)
    states = study.status()
    if as_json:
        print_json(states)
        return
    _print_states(states)
    for row in (study._row(planned) for planned in study.all_planned()):
        if row.error:
            console.print(f"{row.run}  {row.state}  {row.error}", soft_wrap=True, highlight=False)


@study_app.command("table")
def write_table(
    spec: SpecPath,
    out: Annotated[Path, typer.Option(help="A .csv, .parquet or .json file.")],
    store: Store = None,
) -> None:
    """Write the table of a study, one row per run."""
    if out.suffix not in (".csv", ".parquet", ".json"):
        raise InputError(f"--out must end in .csv, .parquet or .json, got {out.name!r}.")
    frame = _open(spec, store).table()
    try:
        if out.suffix == ".csv":
            frame.to_csv(out, index=False)
        elif out.suffix == ".parquet":
            frame.astype({c: str for c in frame if frame[c].dtype == object}).to_parquet(out, index=False)
        else:
            frame.to_json(out, orient="records", indent=1)
    except OSError as error:
        raise InputError(f"cannot write {out}: {error.strerror or error}.") from error
    console.print(f"wrote {out}: {len(frame):,} rows, {len(frame.columns)} columns", soft_wrap=True)


def _open(spec: Path, store: str | None) -> Study:
    from unweave.study import Study

    return Study(spec, store=store)


def _carry_out(study: Study, workers: int | None, part: str | None, *, retry: bool) -> None:
    with _shown(len(study.planned)) as (report, watch):
        states = study.run(workers=workers, part=_part(part), retry=retry, report=report, watch=watch)
    _print_states(states)
    if states.get("failed"):
        console.print("unweave study status SPEC shows the errors; unweave study retry SPEC tries them again.")
        raise typer.Exit(1)


@contextmanager
def _shown(total: int) -> Iterator[tuple[Any, Any]]:
    """Show one live line: done, running, failed, rate and time left."""
    from unweave.progress import progress

    counts = {"finished": 0, "failed": 0}
    began = time.monotonic()
    with progress("study", total, unit="runs") as advance:

        def report(said: Report) -> None:
            counts[said.outcome] += 1
            rate = 60 * sum(counts.values()) / (time.monotonic() - began)
            advance(1, f"{counts['failed']} failed  {rate:.1f} per minute")

        def watch(remaining: int, names: list[str]) -> None:
            advance(0, f"{len(names)} running  {counts['failed']} failed  {remaining} left")

        yield report, watch


def _part(part: str | None) -> tuple[int, int] | None:
    if part is None:
        return None
    index, slash, parts = part.partition("/")
    if not (slash and index.isdecimal() and parts.isdecimal()):
        raise InputError(f"--part takes I/N, as in 1/8, got {part!r}.")
    return int(index), int(parts)


def _print_states(states: dict[str, int]) -> None:
    table = Table("state", "runs", box=None, pad_edge=False)
    for state, count in sorted(states.items()):
        table.add_row(state, f"{count:,}")
    console.print(table)
