"""Compare training steps with one another, in one run: ``python benchmarks/training.py``, written to ``training.md``.

The net is conv64, on 64 × 64 dSprites, with batches of 64 and two threads, unless a row says otherwise. A step includes
everything: drawing the batch, both passes, the update and the log. Variants take turns, and their medians are compared
with one another and with the peak of matrix multiplication in the same rounds, because absolute times on a shared
machine mean little. The row of disent is written if disent 0.8.0 is installed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

import torch

import unweave
from parts import PARTS, measure_parts
from steps import BATCH, Step, disent_step, gflop, has_disent, measure, our_session, our_step, plain_step
from unweave import FactorData
from unweave.training.process import keep_memory

ROUNDS = 40
SIDE = 2048  # of the matrices whose product is the peak
WIDTHS = (0.25, 0.5, 1.0)
ONE_COLUMN = {"jacobian_l1.columns": 1, "jacobian_l1.share": 0.2}
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "beta_vae": ("beta_vae", {}),
    "jl1, all columns": ("jl1_vae", {"jacobian_l1.schedule": "constant"}),
    "jl1, one column": ("jl1_vae", {"jacobian_l1.schedule": "constant", **ONE_COLUMN}),
    "qlae": ("qlae", {"net": "conv64", "net.activation": "gelu", "batch": BATCH}),
    "tripod, exact": ("tripod", {"net": "conv64"}),
    "tripod, 2 of 64 images": ("tripod", {"net": "conv64", "normalised_hessian.share": 0.03}),
}


class Row(NamedTuple):
    """One row of the table of targets."""

    what: str
    measured: float
    target: str = ""


def peak_step() -> Step:
    """Return the matrix product that gives the peak."""
    first, second = torch.randn(2, SIDE, SIDE)
    return lambda _: first @ second


def share_of_peak(work: float, step: float, product: float) -> float:
    """Return the speed of ``work`` GFLOP in ``step`` ms, divided by the speed of the matrix product."""
    return (work / step) / (2e-9 * SIDE**3 / product)


def targets(data: FactorData, folder: Path) -> tuple[list[Row], float]:
    """Return the rows with targets, measured with two threads, and the peak in GFLOP per second."""
    plain = plain_step(data)
    others = {"product": peak_step(), "plain": plain} | ({"disent": disent_step()} if has_disent() else {})
    as_usual = measure(others, ROUNDS // 2)
    keep_memory()  # for the rest of the process, as training does
    steps = {key: our_step(recipe, settings, data, folder) for key, (recipe, settings) in VARIANTS.items()}
    base = measure({"product": peak_step(), "plain": plain, "beta_vae": steps["beta_vae"]}, ROUNDS)
    times = measure(steps, ROUNDS // 2)
    alone, memory = result(in_a_process(2))
    pair = [in_a_process(1), in_a_process(1)]
    together = sum(result(process)[0] for process in pair)
    ours, kept = (share_of_peak(gflop(), base[key], base["product"]) for key in ("beta_vae", "plain"))
    usual = share_of_peak(gflop(), as_usual["plain"], as_usual["product"])
    vae, qlae = times["beta_vae"], times["qlae"]
    rows = [
        Row("β-VAE step, share of the multiplication peak", ours, "≥ 0.6"),
        Row("plain loop, share of the peak", usual),
        Row("plain loop that keeps its memory, share of the peak", kept),
        Row("β-VAE step, speed relative to the plain loop", ours / usual, "≥ 2"),
        *(disent_row(as_usual, folder) if has_disent() else []),
        *bfloat16_rows(folder),
        Row("Jacobian L1, all ten columns, time relative to a β-VAE step", times["jl1, all columns"] / vae, "≤ 5.5"),
        Row(
            "Jacobian L1, one random column of a fifth of the batch, time relative to a β-VAE step",
            times["jl1, one column"] / vae,
            "≤ 1.35",
        ),
        Row("Tripod, exact, time relative to a QLAE step (the paper: 2.65)", times["tripod, exact"] / qlae, "≤ 2.65"),
        Row(
            "Tripod, penalty of 2 of 64 images, time relative to a QLAE step",
            times["tripod, 2 of 64 images"] / qlae,
            "≤ 1.4",
        ),
        Row("peak memory of training, without the data, GB", memory, "≤ 1"),
        Row("two runs of one thread, steps per second relative to one run of two threads", together / alone, "≥ 1"),
    ]
    return rows, 2e-6 * SIDE**3 / base["product"]


def disent_row(as_usual: dict[str, float], folder: Path) -> list[Row]:
    """Return the comparison on XYSquares with disent, whose time was measured with that of the matrix product."""
    times = measure(
        {"product": peak_step(), "ours": our_step("beta_vae", {}, unweave.load("xysquares"), folder)}, ROUNDS // 2
    )
    speed = (as_usual["disent"] / as_usual["product"]) / (times["ours"] / times["product"])
    return [Row("β-VAE step on XYSquares, speed relative to disent 0.8.0", speed, "≥ 3")]


def bfloat16_rows(folder: Path) -> list[Row]:
    """Return the comparisons on XYSquares of the two precisions: of a step, and of its convolutions alone."""
    data = unweave.load("xysquares")
    steps = {name: our_step("beta_vae", {"precision": name}, data, folder) for name in ("32-true", "bf16-mixed")}
    times = measure(steps, ROUNDS // 2)
    full, half = (convolutions(step) for step in steps.values())
    return [
        Row(
            "β-VAE step on XYSquares in bfloat16, time relative to float32",
            times["bf16-mixed"] / times["32-true"],
            "≤ 0.57",
        ),
        Row("its convolutions alone in bfloat16, time relative to float32", half / full),
    ]


def convolutions(step: Step) -> float:
    """Return the CPU time of all convolutions in some steps, both passes, without the casts around them."""
    with torch.profiler.profile() as profile:
        for number in range(ROUNDS // 2):
            step(number)
    kernels = ("aten::mkldnn_convolution", "aten::_convolution", "aten::convolution_backward")
    return float(sum(event.self_cpu_time_total for event in profile.key_averages() if event.key in kernels))


def in_a_process(threads: int) -> subprocess.Popen[str]:
    """Take β-VAE steps in another process, which prints its steps per second and its peak memory without the data."""
    script = f"""
import re, sys, tempfile, time, pathlib
sys.path.insert(0, {str(Path(__file__).parent)!r})
import torch, unweave, steps
from unweave.training.process import keep_memory
torch.set_num_threads({threads})
keep_memory()
peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 2**20
data = unweave.load('dsprites')
step = steps.our_step('beta_vae', {{}}, data, pathlib.Path(tempfile.mkdtemp()))
before = peak()
for number in range(5): step(number)
start = time.perf_counter()
for number in range(60): step(number)
print(60 / (time.perf_counter() - start), peak() - before)
"""
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> tuple[float, float]:
    """Return the steps per second and the gigabytes that a process printed."""
    shown, _ = process.communicate()
    speed, memory = re.findall(r"[\d.]+", shown)[-2:]
    return float(speed), float(memory)


def narrow(folder: Path) -> list[tuple[float, float, float]]:
    """Return width, steps per second and share of the peak of β-VAE at 32 × 32 with one thread."""
    data = unweave.load("dsprites", size=32)
    steps = {f"{width:g}": our_step("beta_vae", {"net.width": width}, data, folder) for width in WIDTHS}
    times = measure({"product": peak_step(), **steps}, ROUNDS)
    return [
        (width, 1e3 / times[f"{width:g}"], share_of_peak(gflop(32, width), times[f"{width:g}"], times["product"]))
        for width in WIDTHS
    ]


def main() -> None:
    """Measure everything and write the page."""
    torch.set_num_threads(2)
    data = unweave.load("dsprites")
    data.rows(torch.arange(1))
    with tempfile.TemporaryDirectory() as name:
        rows, peak = targets(data, Path(name))
        parts = measure_parts(*our_session("beta_vae", {}, data, Path(name)), ROUNDS)
        torch.set_num_threads(1)
        widths = narrow(Path(name))
    lines = [
        "# The speed of training",
        "",
        "Written by `python benchmarks/training.py`: conv64 on 64 × 64 dSprites, batches of 64, two CPU threads,",
        f"medians of {ROUNDS} steps that take turns. A step includes drawing the batch, the update and the log. The",
        f"peak in this run was {peak:.0f} GFLOP/s (float32 matrices of {SIDE} × {SIDE}); a β-VAE step is {gflop():.2f}",
        "GFLOP. Tripod and the QLAE that it is compared with use GELU, which Tripod's penalty needs.",
        "",
        "| what | measured | target |",
        "|---|---|---|",
        *(f"| {row.what} | {row.measured:.2f} | {row.target} |" for row in rows),
        "",
        f"A β-VAE step by part, {parts['step']:.1f} ms in total; the median of each part:",
        "",
        "| part | ms | share of the step |",
        "|---|---|---|",
        *(f"| {part} | {parts[part]:.2f} | {parts[part] / parts['step']:.1%} |" for part in PARTS),
        "",
        "β-VAE on 32 × 32 dSprites with one thread, compared with the peak of one thread:",
        "",
        "| net.width | steps per second | share of the peak |",
        "|---|---|---|",
        *(f"| {width:g} | {speed:.0f} | {share:.2f} |" for width, speed, share in widths),
        "",
    ]
    Path(__file__).with_suffix(".md").write_text("\n".join(lines), encoding="utf-8")
    print("\n".join(lines))


if __name__ == "__main__":
    main()
