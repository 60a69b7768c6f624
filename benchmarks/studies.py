"""Measure the engines of studies: ``python benchmarks/studies.py [part …]``, written to ``studies.md``.

Parts: plan, killed, table, overhead, parallel, ray, requests, learning; all by default. ``--runs`` and ``--kills``
scale studies of very short runs, ``--seconds`` the longer runs. A part that is not measured keeps its rows in
``studies.md``.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tiny_runs
from killing import WORKERS, disturbed
from simulated_study import BUCKET, Counted, checkpoint, hold, new_machine, serving, simulated_workers
from unweave.data import load
from unweave.study import Study
from unweave.study.engines.worker import Report
from unweave.training import Execution, fit
from unweave.training.loop import Callback, Moment

HERE = Path(__file__).parent
PAGE = HERE / "studies.md"
LARGE = "challenging-assumptions/paper"
PROGRAM = "from unweave.cli import main; main()"
OPENED = """
import sys, time
import tiny_runs
from unweave.study import Study
import pandas
study = Study(tiny_runs.spec(int(sys.argv[2])), store=sys.argv[1])
study.planned
began = time.perf_counter()
print(len(study.table()), time.perf_counter() - began)
"""


class Row(NamedTuple):
    """One row of the page."""

    what: str
    measured: str
    target: str = ""


class Scale(NamedTuple):
    """The amount that is measured."""

    runs: int
    kills: int
    seconds: float
    folder: Path


def plan(scale: Scale) -> list[Row]:
    """Time the command line on the grid of 12,600 runs."""

    def seconds(*words: str) -> float:
        command = [sys.executable, "-c", PROGRAM, "study", "plan", LARGE, "--store", str(scale.folder / "none")]
        return _median(lambda: subprocess.run([*command, *words], check=True, capture_output=True), 5)

    torch = _median(lambda: subprocess.run([sys.executable, "-c", "import torch"], check=True), 3)
    return [
        Row("`unweave study plan` of 12,600 runs, seconds", f"{seconds('--no-estimate'):.2f}", "≤ 2"),
        Row("the same with an estimate from kept measurements, seconds", f"{_kept_estimate(seconds):.2f}", "≤ 2"),
        Row("`import torch` alone, seconds", f"{torch:.2f}"),
    ]


def _kept_estimate(seconds: Callable[[], float]) -> float:
    command = [sys.executable, "-c", PROGRAM, "study", "plan", LARGE, "--store", "none"]
    subprocess.run(command, check=True, capture_output=True)  # measures what is not known yet
    return seconds()


def killed(scale: Scale) -> list[Row]:
    """Carry out very short runs while launcher and workers are killed."""
    store = scale.folder / "killed" / "store"
    shutil.rmtree(store.parent, ignore_errors=True)
    store.parent.mkdir(parents=True)
    found = disturbed(store, scale.runs, scale.kills)
    quiet = scale.folder / "quiet" / "store"
    shutil.rmtree(quiet.parent, ignore_errors=True)
    quiet.parent.mkdir(parents=True)
    per_run = _seconds_per_run(quiet, min(200, scale.runs), workers=1)
    bare = _bare_tiny()
    return [
        Row("very short runs", f"{found.runs:,}", ""),
        Row("launchers and workers killed with SIGKILL", f"{found.launchers_killed} and {found.workers_killed}"),
        Row("runs not finished", f"{found.runs - found.finished}", "≤ 0"),
        Row("runs trained to the end twice", f"{found.doubled}", "≤ 0"),
        Row("runs missing", f"{found.missing}", "≤ 0"),
        Row("runs per second with two workers, kills and restarts included", f"{found.runs / found.seconds:.1f}"),
        Row("seconds per run of one worker, undisturbed", f"{per_run:.3f}"),
        Row(
            f"of these the engine, the store and scoring; {tiny_runs.STEPS} bare steps are the rest",
            f"{per_run - bare:.3f}",
        ),
    ]


def table(scale: Scale) -> list[Row]:
    """Open the finished runs of the study that was disturbed as a table."""
    store = scale.folder / "killed" / "store"
    command = [sys.executable, "-c", OPENED, str(store), str(scale.runs)]
    times = []
    for _ in range(3):
        shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=HERE).stdout
        rows, seconds = shown.split()
        times.append(float(seconds))
    return [
        Row(f"{int(rows):,} finished runs opened as a table for the first time, seconds", f"{times[0]:.2f}"),
        Row(f"{int(rows):,} finished runs opened as a table again, seconds", f"{min(times[1:]):.2f}", "≤ 2"),
    ]


def overhead(scale: Scale) -> list[Row]:
    """Compare runs of a study with bare training of the same steps."""
    steps = _steps(scale.seconds)
    bare, ours = [], []
    for number in range(2):
        bare.append(_bare(steps, seed=number))
        said: list[Report] = []
        store = scale.folder / "overhead" / str(number)
        shutil.rmtree(store, ignore_errors=True)
        _study(steps, 1, store, first=number).run(workers=1, report=said.append)
        ours.append(said[0].seconds)
    share = sum(ours) / sum(bare) - 1
    return [Row(f"overhead over bare training, runs of {statistics.mean(bare):.0f} s", f"{100 * share:.2f}%", "≤ 2%")]


def parallel(scale: Scale) -> list[Row]:
    """Compare two workers of one thread with one sequential loop of two threads."""
    steps, runs = _steps(scale.seconds / 2), 4
    folder = scale.folder / "parallel"
    shutil.rmtree(folder, ignore_errors=True)
    began = time.perf_counter()
    _study(steps, runs, folder / "workers").run(workers=WORKERS)
    workers = time.perf_counter() - began
    began = time.perf_counter()
    for planned in _study(steps, runs, folder / "loop").planned:
        execution = Execution(threads=2, device="cpu")
        fit(planned.configuration, execution, load("xysquares", size=16), folder / "loop")
    return [
        Row(
            "two workers of one thread, speed relative to one sequential loop of two threads",
            f"{(time.perf_counter() - began) / workers:.2f}",
            "≥ 1",
        )
    ]


def ray(scale: Scale) -> list[Row]:
    """Compare Ray on this machine with the local engine, on very short runs and on runs of some seconds."""
    rows = []
    runs = min(100, scale.runs)
    times = {}
    for engine in ("local", "ray"):
        store = scale.folder / f"short-{engine}" / "store"
        shutil.rmtree(store.parent, ignore_errors=True)
        store.parent.mkdir(parents=True)
        times[engine] = _seconds_per_run(store, runs, workers=WORKERS, engine=engine)
    rows.append(
        Row("Ray on one machine, time of very short runs relative to local", f"{times['ray'] / times['local']:.2f}")
    )
    steps = _steps(scale.seconds / 6)
    for engine in ("local", "ray"):
        store = scale.folder / f"long-{engine}"
        shutil.rmtree(store, ignore_errors=True)
        times[engine] = _between_ends(_study(steps, 6, store), 2, workers=WORKERS, engine=engine)
    what = f"Ray on one machine, time of runs of {scale.seconds / 6:.0f} s relative to local"
    rows.append(Row(what, f"{times['ray'] / times['local']:.2f}"))
    return rows


def requests(scale: Scale) -> list[Row]:
    """Count the requests to S3 of a simulated study and its cost; the server answers as slowly as S3 does."""
    folder = scale.folder / "requests"
    shutil.rmtree(folder, ignore_errors=True)
    runs, workers, hours, parts, seconds = scale.runs, 500, 1.5, 500, 90.0
    study = Study(tiny_runs.spec(runs).replace('metrics = ["mig"]', ""), store=f"s3://{BUCKET}")
    names = [planned.name for planned in study.planned]

    def elsewhere(number: int) -> Study:
        new_machine(folder / f"machine-{number}")
        other = Study(study.spec, store=f"s3://{BUCKET}")
        other.planned = study.planned  # which takes a second
        return other

    with serving(folder) as counted:
        with simulated_workers(workers):
            assert elsewhere(0).run() == {"finished": runs}
        whole = counted()
        address = f"s3://{BUCKET}"
        holding = hold(address, [f"{number:016x}" for number in range(workers)], counted, seconds)
        saving = checkpoint(address, "f" * 16, counted)
        other = elsewhere(1)
        counted()
        assert {record.state for record in other.stored.records(names).records.values()} == {"finished"}
        learned = counted()
        assert elsewhere(2).run() == {"finished": runs}
        launching = counted()
        again = []
        for number in range(1, parts + 1, parts // 20):
            part = elsewhere(3 + number)
            own = {planned.name for planned in part._in_part((number, parts))}
            assert part.run(part=(number, parts)) == {"finished": len(own)}
            again.append(counted())
            assert again[-1].touched == own
    prices = {"PUT": 5e-6, "LIST": 5e-6, "GET": 4e-7}  # dollars, of S3 Standard in us-east-1; deletions are free

    def dollars(found: Counted) -> float:
        return sum(prices.get(kind, 0.0) * count for kind, count in found.kinds().items())

    def shown(found: Counted, per: int) -> str:
        return ", ".join(f"{count / per:.{1 if per > 1 else 0}f} {kind}" for kind, count in found.kinds().items())

    index = sum(count for kind, count in whole.requests.items() if kind.endswith(" index"))
    beats = holding.requests.total() / workers / (seconds / 30)
    in_part = sum(found.requests.total() for found in again) / len(again)
    minutes, total = 60 * hours, whole.requests.total()
    return [
        Row(f"{runs:,} runs delivered by {workers} workers of one launcher, requests per run", f"{total / runs:.1f}"),
        Row(f"these by kind, without heartbeats and checkpoints: {shown(whole, runs)}", f"{total:,}"),
        Row("of these for the index, which workers write and the launcher joins, per run", f"{index / runs:.1f}"),
        Row("listings of the whole store by the launcher", f"{whole.requests['LIST all']}", "≤ 1"),
        Row(f"heartbeats: requests of each of {workers} workers in 30 s", f"{beats:.2f}", "≤ 1"),
        Row(
            f"the delivery of a checkpoint, at most once a minute, requests ({shown(saving, 1)})",
            f"{saving.requests.total()}",
        ),
        Row(
            f"a new machine learns the state of {runs:,} finished runs, requests ({shown(learned, 1)})",
            f"{learned.requests.total():,}",
            "≤ 500",
        ),
        Row(
            f"`study run` on a new machine, {runs:,} finished runs, requests",
            f"{launching.requests.total():,}",
            "≤ 500",
        ),
        Row(f"a part of a job array of {parts}, {runs / parts:.0f} finished runs, requests", f"{in_part:.0f}"),
        Row("runs of other parts that it looks at", "0", "≤ 0"),
        Row(
            "all parts of this job array, submitted again, dollars",
            f"{parts * sum(map(dollars, again)) / len(again):.2f}",
        ),
        Row(f"claims, results and index of {runs:,} runs, dollars", f"{dollars(whole):.2f}"),
        Row(
            f"heartbeats of {runs:,} runs of {hours:g} h, one per 30 s, dollars",
            f"{runs * 2 * minutes * prices['PUT']:.2f}",
        ),
        Row(
            f"checkpoints of {runs:,} runs of {hours:g} h, one per minute, dollars",
            f"{runs * minutes * dollars(saving):.2f}",
        ),
    ]


def learning(scale: Scale) -> list[Row]:
    """Time how a new machine learns what a store with finished runs has; the server answers as slowly as S3 does."""
    folder = scale.folder / "learning"
    shutil.rmtree(folder, ignore_errors=True)
    study = Study(tiny_runs.spec(scale.runs).replace('metrics = ["mig"]', ""), store=folder / "none")
    names = [planned.name for planned in study.planned]
    with serving(folder, names) as counted:
        store = Study(study.spec, store=f"s3://{BUCKET}").stored
        began, processor = time.perf_counter(), time.process_time()
        assert {record.state for record in store.records(names).records.values()} == {"finished"}
        took, processor = time.perf_counter() - began, time.process_time() - processor
        requests, load = counted().requests.total(), os.getloadavg()[0]
    loaded = f"at a load of {load:.0f} on {os.cpu_count()} cores"
    return [
        Row(
            f"a new machine learns the state of {scale.runs:,} finished runs, seconds, {loaded}", f"{took:.1f}", "≤ 20"
        ),
        Row("of these the processor time of the machine", f"{processor:.1f}"),
        Row("requests, as many as in the store of a simulated study", f"{requests}", "≤ 500"),
    ]


def _study(steps: int, runs: int, store: Path, first: int = 0) -> Study:
    seeds = list(range(first, first + runs))
    grid = f'recipe = "beta_vae"\ndata = "xysquares"\nnet = "conv16"\n"data.size" = 16\nsteps = {steps}\nseed = {seeds}'
    return Study(f'name = "long"\n[[grid]]\n{grid}\n', store=store)


def _bare(steps: int, seed: int = 0) -> float:
    """Return the seconds of the steps of a run alone, with one thread: the first to the last."""
    planned = _study(steps, 1, Path("none"), first=seed).planned[0]
    times: list[float] = []

    def note(moment: Moment) -> None:
        times.append(time.perf_counter())

    with tempfile.TemporaryDirectory() as folder:
        quiet = Execution(threads=1, device="cpu", checkpoint_seconds=0, log_steps=10**9)
        fit(planned.configuration, quiet, load("xysquares", size=16), Path(folder), callback=Callback(note, 1))
    return (times[-1] - times[0]) * steps / (steps - 1)


def _steps(seconds: float) -> int:
    """Return how many steps take so many seconds."""
    _bare(20)
    return max(20, int(seconds / (_bare(200) / 200)))


def _bare_tiny() -> float:
    spec = tiny_runs.spec(1).replace(f"steps = {tiny_runs.STEPS}", "steps = 1000")
    longer = Study(spec).planned[0].configuration
    times: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        note = Callback(lambda moment: times.append(time.perf_counter()), 1)
        store = Path(folder) / "store"
        fit(longer, Execution(threads=1, device="cpu"), tiny_runs.Dots(), store, callback=note)
    return tiny_runs.STEPS * (times[-1] - times[0]) / (len(times) - 1)


def _seconds_per_run(store: Path, runs: int, *, workers: int, engine: str = "local") -> float:
    """Return the time between two ends of very short runs."""
    study = Study(tiny_runs.spec(runs), store=store)
    return _between_ends(study, max(2, runs // 10), workers=workers, engine=engine)


def _between_ends(study: Study, skipped: int, *, workers: int, engine: str) -> float:
    """Carry out a study; return the mean time between two ends after the first, which wait for processes to start."""
    ends: list[float] = []
    study.run(workers=workers, engine=engine, report=lambda said: ends.append(time.perf_counter()))
    return (ends[-1] - ends[skipped - 1]) / (len(ends) - skipped)


def _median(function: Callable[[], object], times: int) -> float:
    taken = []
    for _ in range(times):
        began = time.perf_counter()
        function()
        taken.append(time.perf_counter() - began)
    return statistics.median(taken)


PARTS: dict[str, Callable[[Scale], list[Row]]] = {
    "plan": plan,
    "killed": killed,
    "table": table,
    "overhead": overhead,
    "parallel": parallel,
    "ray": ray,
    "requests": requests,
    "learning": learning,
}


def write(measured: dict[str, list[Row]]) -> None:
    """Write the page; parts that were not measured keep their rows."""
    before = PAGE.read_text(encoding="utf-8") if PAGE.exists() else ""
    blocks = []
    for name in PARTS:
        if name in measured:
            lines = [f"| {row.what} | {row.measured} | {row.target} |" for row in measured[name]]
            blocks.append("\n".join([f"<!-- {name} -->", "| what | measured | target |", "|---|---|---|", *lines]))
        elif kept := re.search(rf"<!-- {name} -->\n(?:\|.*\n?)+", before):
            blocks.append(kept[0].strip())
    head = (
        "# The engines of studies\n\nWritten by `python benchmarks/studies.py`, which says what each part measures.\n"
    )
    PAGE.write_text(head + "".join(f"\n{block}\n" for block in blocks), encoding="utf-8")


def main() -> None:
    """Measure the parts that were asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], default=[])
    parser.add_argument("--runs", type=int, default=12_600)
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "unweave-studies")
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    scale = Scale(given.runs, given.kills, given.seconds, given.folder)
    for name in given.parts or PARTS:
        rows = PARTS[name](scale)
        for row in rows:
            print(f"{row.what}: {row.measured} {row.target}", flush=True)
        write({name: rows})


if __name__ == "__main__":
    main()
