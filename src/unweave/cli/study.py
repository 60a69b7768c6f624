"""``unweave study``: plan, run, status, check, table, report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table
from rich.text import Text

from unweave.cli.command import Commands
from unweave.cli.data import absent
from unweave.cli.options import (
    Json,
    Quiet,
    Store,
    Verbose,
    Where,
    announced_parts,
    check_page,
    chosen,
    console,
    print_json,
    print_line,
    print_table,
    several,
)
from unweave.errors import InputError, Unavailable
from unweave.key_values import parse

if TYPE_CHECKING:
    from unweave.study import Study
    from unweave.study.estimate import Estimate
    from unweave.study.results import Grid

study_app = Commands("Studies: plan, run and continue many runs from one page of TOML, and read them as a table.")
SpecName = Annotated[
    str,
    typer.Argument(metavar="SPEC", help="The TOML file of a study, or a finding with its scale, as in tripod/lite."),
]
Fixed = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        help="KEY=VALUE: a setting of all runs, as in steps=2000 or data.size=32, or metrics=mig,sap; can be repeated.",
    ),
]
Workers = Annotated[
    int | None, typer.Option(min=1, help="Worker processes of one thread each.", show_default="one per core")
]
Part = Annotated[str | None, typer.Option(help="I/N: only the I-th of N parts of the runs, for job arrays.")]


Engine = Annotated[str, typer.Option(help="local: processes on this machine; ray: a Ray cluster.")]
Address = Annotated[
    str | None,
    typer.Option(
        help="A Ray cluster: HOST:PORT, or auto for one that runs on this machine.", show_default="start one here"
    ),
]
Cpus = Annotated[float, typer.Option(help="CPUs that each run takes on a Ray cluster.")]
Gpus = Annotated[float, typer.Option(help="GPUs that each run takes on a Ray cluster; 0.25 lets four share one.")]

Retry = Annotated[bool, typer.Option("--retry", help="Try failed runs again.")]
Patience = Annotated[
    float,
    typer.Option(min=0, help="Seconds to wait for a store at an address that cannot be reached, before giving up."),
]
CheckpointSeconds = Annotated[
    float | None,
    typer.Option(
        min=0,
        help="Seconds between checkpoints, and at least between those that are delivered to a store at an address; "
        "0 for none.",
        show_default="60",
    ),
]
Device = Annotated[str | None, typer.Option(help="auto, cpu, cuda or mps.", show_default="cpu, or cuda with --gpus")]

TableFile = Annotated[
    Path | None,
    typer.Option(help="Instead of SPEC: a .csv, .parquet or .json file with one row per run, from any project."),
]
Metrics = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        callback=several,
        help="A column of scores to compare methods by, higher is better; several as in mig,sap, or repeated.",
        show_default="the disentanglement metrics of Unweave",
    ),
]
Beside = Annotated[
    Path | None,
    typer.Option(
        help="A .csv, .parquet or .json file with results from elsewhere, to be compared: data, recipe, scores."
    ),
]
RUN = re.compile(r"\b[0-9a-f]{16}\b")  # the name of a run
WRITTEN = {".md": "md", ".tex": "latex"}  # forms of results by the ending of their file
Out = Annotated[Path, typer.Option(help="The HTML file to write.")]
Udr = Annotated[bool, typer.Option("--udr", help="Compute UDR, which opens every finished run of SPEC.")]


@study_app.command("plan")
def plan_study(
    spec: SpecName,
    store: Store = None,
    workers: Workers = None,
    estimated: Annotated[
        bool,
        typer.Option("--estimate/--no-estimate", help="Estimate the time, if needed from a measurement of seconds."),
    ] = True,
    settings: Fixed = None,
    as_json: Json = False,
) -> None:
    """Check a specification, and print how many runs it has, how many are done, and how long the others will take."""
    from unweave.study.grid import by_data, varying

    study = open_study(spec, store, parse(settings))
    states, varied = study.status(), varying(study.planned)
    runs, different = len(study.planned), len({run.name for run in study.planned})
    second = study.second_stage()
    if as_json:
        facts = {"name": study.spec.name, "runs": runs, "different": different, "states": states, "varies": varied}
        facts |= {"second_stage": second} if study.spec.select else {}
        facts |= {"absent": missing} if (missing := _absent(study)) else {}
        time = study.estimate() if estimated else None
        seconds = {} if time is None else {"training_seconds": time.seconds, "scoring_seconds": time.scoring}
        print_json({**facts, **seconds})
        return
    stage = " in the first stage" if study.spec.select else ""
    print_line(f"{study.spec.name}: {runs:,} {'run' if runs == 1 else 'runs'}{stage}")
    for name, count in by_data(study.planned):
        print_line(f"  {name}: {count:,}")
    if different < runs:
        print_line(f"{different:,} of {runs:,} configurations are distinct; identical ones are trained once.")
    if varied:
        print_line(f"varies: {', '.join(varied)}")
    if rule := study.spec.select:
        more = f"{second:,} {'run' if second == 1 else 'runs'} in the second stage"
        chosen = f"fresh seeds of the settings with the best {rule.over_seeds} of {rule.by} per {', '.join(rule.per)}"
        print_line(f"then {more}: {chosen}")
    _print_absent(study)
    _print_states(states)
    if estimated:
        _print_estimate(study, workers)


@study_app.command("run")
def run_study(
    spec: SpecName,
    store: Store = None,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = 0.0,
    device: Device = None,
    part: Part = None,
    retry: Retry = False,
    patience: Patience = 600.0,
    checkpoint_seconds: CheckpointSeconds = None,
    settings: Fixed = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train and score all runs of a study that are not done yet. Running it again continues it.

    With --set, runs are others than without it: give the same settings to see them in a table or report.
    """
    study = open_study(spec, store, parse(settings))
    where = place(engine, workers, address, cpus, gpus, device) | {"patience": patience}
    where |= {} if checkpoint_seconds is None else {"checkpoint_seconds": checkpoint_seconds}
    states = carry_out(study, part, retry=retry, where=where)
    if states.get("failed"):
        print_line("unweave study status SPEC shows the errors; unweave study run SPEC --retry tries them again.")
    if study.unfinished:
        print_line(unfinished(study.unfinished))
        raise typer.Exit(1)


@study_app.command("status")
def show_status(spec: SpecName, store: Store = None, settings: Fixed = None, as_json: Json = False) -> None:
    """Print how many runs of a study are in each state, and the errors of those that failed."""
    study = open_study(spec, store, parse(settings))
    states = study.status()
    if as_json:
        print_json(states)
        return
    _print_states(states)
    for row in study.rows():
        if row.error:
            print_line(f"{row.run}  {row.state}  {row.error}")
    if states.get("damaged"):
        print_line("unweave study run SPEC sets damaged runs aside and trains them again.")
    if aside := study.stored.damaged():
        print_line(f"set aside as damaged: {', '.join(aside)}")


@study_app.command("check")
def check_study(
    spec: SpecName,
    store: Store = None,
    repair: Annotated[
        bool, typer.Option("--repair", help="Set damaged runs aside, so that study run trains them again.")
    ] = False,
    settings: Fixed = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Read every file of the finished runs of a study, and print those that are not as they were written."""
    from unweave.progress import progress

    study = open_study(spec, store, parse(settings))
    with progress("check", len({run.name for run in study.planned}), unit="runs") as advance:
        found = study.check(lambda run: advance(1), repair=repair)
    for run, reason in found.items():
        print_line(f"{run}  {'set aside' if repair else 'damaged'}  {reason}")
    if not found:
        print_line("nothing is damaged.")
    elif not repair:
        print_line("--repair sets damaged runs aside, and unweave study run SPEC trains them again.")
        raise typer.Exit(1)


@study_app.command("table")
def write_table(
    spec: SpecName,
    form: Annotated[
        str | None,
        typer.Option(
            "--format", help="text, md, latex or csv: how the table of results is written.", show_default="text"
        ),
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Instead of results: one row per run with every setting and score, as CSV.")
    ] = False,
    metrics: Metrics = None,
    beside: Beside = None,
    out: Annotated[
        Path | None,
        typer.Option(help="File: .csv, .parquet or .json with one row per run; .md, .tex, or --format for results."),
    ] = None,
    store: Store = None,
    udr: Annotated[
        bool, typer.Option("--udr", help="Add UDR, the agreement of each run with its other seeds.")
    ] = False,
    where: Where = None,
    settings: Fixed = None,
) -> None:
    """Print the results of a study: methods by scores, mean ± deviation over seeds, with the best of each marked.

    With --wide, or with --out and the name of a table, write one row per run instead.
    """
    from unweave.store.files import write_output
    from unweave.study.columns import TABLES
    from unweave.study.results import FORMS

    if form is not None and form not in FORMS:
        raise InputError(f"--format must be one of {', '.join(FORMS)}, got {form!r}.")
    if wide and form not in (None, "csv"):
        raise InputError(f"--wide is written as CSV, not as {form}: give one of the two.")
    form = form or (WRITTEN.get(out.suffix) if out is not None else None)
    runs = wide or (form is None and out is not None)
    if runs and out is not None and out.suffix not in TABLES:
        raise InputError(f"--out must end in .csv, .parquet, .json, .md or .tex, got {out.name!r}.")
    study = open_study(spec, store, parse(settings))
    frame = study.table_beside(beside, parse(where, "--where"))
    if udr:
        from unweave.study.table import udr_of

        frame["udr"] = frame["run"].map(udr_of(study))
        frame.attrs["scores"] = [*frame.attrs["scores"], "udr"]
    if not runs:
        _print_results(study, frame, form or "text", metrics, out)
        return
    if out is None:
        typer.echo(frame.to_csv(index=False), nl=False)
        return
    if out.suffix == ".parquet":
        frame.attrs = {}
        content = frame.astype({c: str for c in frame if frame[c].dtype == object}).to_parquet(index=False)
    else:
        content = frame.to_csv(index=False) if out.suffix == ".csv" else frame.to_json(orient="records", indent=1)
    write_output(out, content)
    print_line(f"wrote {out}: {len(frame):,} rows, {len(frame.columns)} columns")


def _print_results(study: Study, frame: Any, form: str, metrics: list[str] | None, out: Path | None) -> None:
    """Print the table of results, or write it to a file."""
    from unweave.names import titled
    from unweave.store.files import write_output
    from unweave.study.results import grids, results, write_results

    with titled(study.titles):
        found = results(frame, metrics=metrics)
        if out is not None:
            write_output(out, write_results(found, form))  # type: ignore[arg-type]
            print_line(f"wrote {out}")
        elif form != "text":
            typer.echo(write_results(found, form), nl=False)  # type: ignore[arg-type]
        else:
            print_grids(grids(found))
            print_line("mean ± deviation over seeds; the best of each column is bold, or marked by a star.")


def print_grids(grids: Iterable[Grid]) -> None:
    """Print tables of results in parts that fit the screen, the best of each column in bold with a star."""
    for grid in (part for each in grids for part in each.fitting(console.width)):
        table = Table(*grid.columns, title=grid.data, title_justify="left", box=None, pad_edge=False)
        for row, cells in enumerate(grid.rows):
            best = [(row, place) in grid.best for place in range(len(cells))]
            marked = zip(cells, best, strict=True)
            table.add_row(*(Text(f"{cell} *", style="bold") if top else cell for cell, top in marked))
        console.print(table)


@study_app.command("report")
def report_study(
    spec: Annotated[
        str | None, typer.Argument(metavar="[SPEC]", help="The TOML file of a study, or a name such as tripod/lite.")
    ] = None,
    table: TableFile = None,
    metrics: Metrics = None,
    beside: Beside = None,
    out: Out = Path("study.html"),
    store: Store = None,
    udr: Udr = False,
    where: Where = None,
    settings: Fixed = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Write one HTML file: the table of results, a plot of all runs, and every question that the study answers.

    With --table, the runs of another project are analysed: the columns data, recipe, strength and seed identify a run,
    and scores are recognised by their names in Unweave, such as mig or dci.disentanglement. Other columns of scores are
    named with --metric.
    """
    if (spec is None) == (table is None):
        raise InputError("give either SPEC or --table FILE.")
    if udr and table is not None:
        raise InputError("--udr needs the runs of SPEC: a table has UDR only in a column udr of its own.")
    if beside is not None and table is not None:
        raise InputError("--beside adds results to those of SPEC: it cannot be combined with --table.")
    if settings and table is not None:
        raise InputError("--set changes the runs of SPEC: it cannot be combined with --table.")
    check_page(out)
    from unweave.questions import QUESTIONS
    from unweave.reports.study_report import run_command, write_study_report, write_table_report

    with announced_parts(len(QUESTIONS), "questions") as watch:
        if table is not None:
            from unweave.study.columns import read_table

            frame = chosen(read_table(table, "--table"), where)
            write_table_report(frame, out, title=table.stem, metrics=metrics, watch=watch)
        elif spec is not None:
            command = run_command(spec, store, settings or ())
            study = open_study(spec, store, parse(settings))
            wanted = parse(where, "--where")
            write_study_report(
                study, out, command=command, metrics=metrics, watch=watch, udr=udr, beside=beside, where=wanted
            )
    print_line(f"wrote {out} ({out.stat().st_size / 1e6:.1f} MB)")


def open_study(spec: str, store: str | None, settings: Mapping[str, Any] | None = None) -> Study:
    """Open a study, with more settings of all runs; say so where a file hides a specification of Unweave."""
    from unweave.study import Study
    from unweave.study.spec import shipped_spec

    if Path(spec).is_file() and shipped_spec(spec) is not None:
        typer.echo(f"{spec} is read from the file here; a specification of this name comes with Unweave.", err=True)
    study = Study(spec, store=store)
    return Study(study.spec.with_fixed(settings), store=store) if settings else study


def announce(study: Study, workers: int | None) -> None:
    """Print how many runs are left and how long they will take here."""
    left = sum(count for state, count in study.status().items() if state not in ("finished", "failed"))
    total = len(study.all_planned()) + (study.second_stage() if study.all_planned() == study.planned else 0)
    print_line(f"{study.spec.name}: {left:,} of {total:,} runs are left to train or score")
    _print_estimate(study, workers)


def place(
    engine: str, workers: int | None, address: str | None, cpus: float, gpus: float, device: str | None
) -> dict[str, Any]:
    """Return the options that say where runs are trained.

    Args:
        engine: "local" or "ray".
        workers: The number of runs at the same time, None for as many as there is room for.
        address: The address of a Ray cluster, None to start one.
        cpus: The CPUs that a run takes on a Ray cluster.
        gpus: The GPUs that a run takes on a Ray cluster.
        device: The device of a run, None for the default of the engine.

    Returns:
        The options, as :meth:`Study.run` takes them.
    """
    where = {"engine": engine, "workers": workers, "address": address, "cpus": cpus, "gpus": gpus}
    return where | ({"device": device} if device else {})


def carry_out(study: Study, part: str | None, *, retry: bool, where: dict[str, Any]) -> dict[str, int]:
    """Run a study while showing its progress.

    Args:
        study: The study.
        part: The part of its runs as I/N, None for all.
        retry: Whether failed runs are tried again.
        where: What :func:`place` returned.

    Returns:
        The number of runs in each state.
    """
    from unweave.cli.study_display import shown

    if where["engine"] == "local":
        _check_data(study)
    try:
        with shown(study) as (report, watch):
            states = study.run(part=_part(part), retry=retry, report=report, watch=watch, **where)
    except KeyboardInterrupt:
        print_line("stopped; the same command continues.")
        raise
    for run, reason in study.set_aside.items():
        print_line(f"{run}  set aside and trained again  {reason}")
    _print_states(states)
    return states


def unfinished(reasons: Mapping[str, str]) -> str:
    """Return how many runs a study could not finish, and why, in one line; ``reasons`` are by run."""
    different = Counter(RUN.sub("RUN", reason).partition("\n")[0].rstrip(".") for reason in reasons.values())
    (most, _), others = different.most_common(1)[0], len(different) - 1
    runs = "1 run is" if len(reasons) == 1 else f"{len(reasons):,} runs are"
    more = f" (and {others:,} other {'reason' if others == 1 else 'reasons'})" if others else ""
    return f"{runs} not finished: {most}{more}."


def _absent(study: Study) -> list[str]:
    """Return the data sets that must be fetched before the study can run; pictures in a folder need no file."""
    return absent({run.settings.get("data") for run in study.planned if "data.folder" not in run.settings})


def _check_data(study: Study) -> None:
    """Print which data must be fetched; refuse a study that can train none of the runs that are left without it."""
    missing = _absent(study)
    states = zip(study.planned, study.rows(), strict=True)
    left = [run.settings for run, row in states if row.state not in ("finished", "failed")]
    if left and all(each.get("data") in missing and "data.folder" not in each for each in left):
        raise Unavailable(f"no run can be trained: {_how_to_fetch(missing)}.")
    _print_absent(study)


def _print_absent(study: Study) -> None:
    if missing := _absent(study):
        print_line(_how_to_fetch(missing))


def _how_to_fetch(missing: list[str]) -> str:
    fetch = "; ".join(f"unweave data fetch {name}" for name in missing)
    return f"data not downloaded: {', '.join(missing)}. Run: {fetch}"


def _print_estimate(study: Study, workers: int | None) -> None:
    from unweave.study.engines.processes import default_workers

    time = study.estimate()
    if time is None:
        print_line("time: not known, because no run could be measured.")
    elif time.runs:
        workers = workers or default_workers()
        open_stage = bool(study.spec.select) and len(study.all_planned()) == len(study.planned)
        print_line(_in_words(time, workers, stages=open_stage))


def _in_words(time: Estimate, workers: int, *, stages: bool) -> str:
    from unweave.progress import duration

    share = "" if time.measured == time.kinds else f", from {time.measured} of {time.kinds} kinds of runs"
    many = f"{workers} workers" if workers > 1 else "1 worker"
    scored = time.scoring is not None
    total = time.seconds + (time.scoring or 0.0)
    what = "training and scoring" if time.scoring else "training"
    left_out = [*([] if scored else ["scoring"]), *(["the second stage"] if stages else [])]
    rest = f"; {' and '.join(left_out)} {'are' if len(left_out) > 1 else 'is'} not included" if left_out else ""
    return f"time: about {duration(total / workers)} of {what} with {many}{share}{rest}"


def _part(part: str | None) -> tuple[int, int] | None:
    if part is None:
        return None
    index, slash, parts = part.partition("/")
    if not (slash and all(number.isdecimal() and len(number) < 10 for number in (index, parts))):
        raise InputError(f"--part takes I/N, as in 1/8, got {part!r}.")
    return int(index), int(parts)


def _print_states(states: dict[str, int]) -> None:
    print_table(("state", "runs"), ((state, f"{count:,}") for state, count in sorted(states.items())))
