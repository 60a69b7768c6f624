"""Training steps beside one another, in one run: ``python benchmarks/training.py``, written to ``training.md``.

conv64 on drawn 64 × 64 dSprites, batches of 64, two threads. A step is everything: drawing the batch, the pass, the
update, the log. Variants take turns, round after round, and the medians are compared with one another and with the
matrix multiplication peak of the same rounds, because seconds on a shared machine say little.
"""

from __future__ import annotations

import re
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.utils.data import DataLoader, Dataset

import unweave
from unweave import FactorData
from unweave.training.allocator import keep_memory
from unweave.training.configuration import configure
from unweave.training.log import Log
from unweave.training.loop import Session, launched
from unweave.training.run import build_model

BATCH, LATENTS, ROUNDS = 64, 10, 40
PENALTY = 0.03  # the part of the batch that Tripod's penalty is made of: 2 of 64
VARIANTS: dict[str, tuple[str, dict[str, Any]]] = {
    "beta_vae": ("beta_vae", {}),
    "jl1_vae, all columns": ("jl1_vae", {"jacobian_l1.schedule": "constant"}),
    "jl1_vae, a column of a fifth": (
        "jl1_vae",
        {"jacobian_l1.schedule": "constant", "jacobian_l1.columns": 1, "jacobian_l1.share": 0.2},
    ),
    "qlae": ("qlae", {"net": "conv64", "batch": BATCH}),
    "tripod, exact": ("tripod", {"net": "conv64"}),
    "tripod, 2 of 64 images": ("tripod", {"net": "conv64", "normalised_hessian.share": PENALTY}),
}


def flop() -> float:
    """Multiplications and additions of one β-VAE step, from the layers' shapes; the images need no gradient."""
    encoder = [16 * a * b * n for a, b, n in ((1, 32, 1024), (32, 32, 256), (32, 64, 64), (64, 64, 16))]
    decoder = [16 * a * b * n for a, b, n in ((64, 64, 16), (64, 32, 64), (32, 32, 256), (32, 1, 1024))]
    full = [1024 * 256, 256 * 2 * LATENTS, LATENTS * 256, 256 * 1024]
    return 2.0 * BATCH * (3 * (sum(encoder) + sum(decoder) + sum(full)) - encoder[0])


class Images(Dataset[Tensor]):
    """One image at a time, as most public code reads them."""

    def __init__(self, data: FactorData) -> None:
        self._data = data

    def __len__(self) -> int:
        return self._data.size

    def __getitem__(self, index: int) -> Tensor:
        return self._data.rows(torch.tensor([index]))[0].float() / 255


def plain_step(data: FactorData) -> Callable[[int], object]:
    """A loop as it is usually written: torch's layers as they come, Adam, and a DataLoader of single images."""
    torch.manual_seed(0)
    layers: list[nn.Module] = []
    for a, b in ((1, 32), (32, 32), (32, 64), (64, 64)):
        layers += [nn.Conv2d(a, b, 4, 2, 1), nn.ReLU()]
    encoder = nn.Sequential(*layers, nn.Flatten(), nn.Linear(1024, 256), nn.ReLU(), nn.Linear(256, 2 * LATENTS))
    layers = [nn.Linear(LATENTS, 256), nn.ReLU(), nn.Linear(256, 1024), nn.ReLU(), nn.Unflatten(1, (64, 4, 4))]
    for a, b in ((64, 64), (64, 32), (32, 32)):
        layers += [nn.ConvTranspose2d(a, b, 4, 2, 1), nn.ReLU()]
    decoder = nn.Sequential(*layers, nn.ConvTranspose2d(32, 1, 4, 2, 1))
    optimiser = torch.optim.Adam([*encoder.parameters(), *decoder.parameters()], lr=1e-4)
    batches: Iterator[Tensor] = iter(DataLoader(Images(data), BATCH, shuffle=True))

    def step(number: int) -> None:
        x = next(batches)
        mean, logvar = encoder(x).chunk(2, dim=1)
        z = mean + (0.5 * logvar).exp() * torch.randn_like(mean)
        fit = F.binary_cross_entropy_with_logits(decoder(z), x, reduction="sum") / len(x)
        kl = -0.5 * (1 + logvar - mean**2 - logvar.exp()).sum(1).mean()
        optimiser.zero_grad()
        loss = fit + 4 * kl
        loss.backward()
        optimiser.step()
        loss.item()

    return step


def our_step(recipe: str, settings: dict[str, Any], data: FactorData, folder: Path) -> Callable[[int], object]:
    """A step of a session, with its log, exactly as the loop makes it."""
    configuration, execution = configure(recipe, data, {"device": "cpu", "latents": LATENTS, **settings})
    fabric = launched(configuration, execution)
    session = Session(configuration, execution, data, folder, build_model(configuration), None, fabric)
    log = Log(folder / f"{recipe}-{len(list(folder.iterdir()))}.jsonl", 0)

    def step(number: int) -> None:
        values = session.step(100_000 + number)  # when every ramp is at its top
        if number % execution.log_steps == 0:
            log.write(number, {name: float(value) for name, value in values.items()})

    return step


def measure(steps: dict[str, Callable[[int], object]], rounds: int) -> dict[str, float]:
    """Median milliseconds of each, taken in turn."""
    times: dict[str, list[float]] = {name: [] for name in steps}
    for number in range(rounds + 3):
        for name, step in steps.items():
            start = time.perf_counter()
            step(number)
            if number >= 3:
                times[name].append(1e3 * (time.perf_counter() - start))
    return {name: statistics.median(values) for name, values in times.items()}


def in_a_process(threads: int) -> subprocess.Popen[str]:
    """β-VAE steps in a process of its own; it prints its steps a second and its peak memory beyond the data, in GB."""
    script = f"""
import re, sys, tempfile, time, pathlib
sys.path.insert(0, {str(Path(__file__).parent)!r})
import torch, unweave, training
torch.set_num_threads({threads})
training.keep_memory()
peak = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1]) / 2**20
data = unweave.load('dsprites')
step = training.our_step('beta_vae', {{}}, data, pathlib.Path(tempfile.mkdtemp()))
before = peak()
for number in range(5): step(number)
start = time.perf_counter()
for number in range(60): step(number)
print(60 / (time.perf_counter() - start), peak() - before)
"""
    return subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True)


def result(process: subprocess.Popen[str]) -> tuple[float, float]:
    shown, _ = process.communicate()
    speed, memory = re.findall(r"[\d.]+", shown)[-2:]
    return float(speed), float(memory)


def main() -> None:
    torch.set_num_threads(2)
    data = unweave.load("dsprites")
    data.rows(torch.arange(1))
    matrices = torch.randn(2, 2048, 2048)
    with tempfile.TemporaryDirectory() as name:
        plain = plain_step(data)
        unkept = measure({"product": lambda _: matrices[0] @ matrices[1], "plain": plain}, ROUNDS // 2)
        keep_memory()
        folder = Path(name)
        steps = {key: our_step(recipe, settings, data, folder) for key, (recipe, settings) in VARIANTS.items()}
        base: dict[str, Callable[[int], object]] = {
            "product": lambda _: matrices[0] @ matrices[1],
            "plain": plain,
            "beta_vae": steps["beta_vae"],
        }
        first = measure(base, ROUNDS)
        penalties = measure(steps, ROUNDS // 2)
        single, memory = result(in_a_process(2))
        pair = [in_a_process(1), in_a_process(1)]
        together = sum(result(process)[0] for process in pair)
    peak = 2 * 2048**3 / first["product"] / 1e6  # GFLOP/s
    share = {key: flop() / 1e6 / first[key] / peak for key in ("plain", "beta_vae")}
    unkept_share = flop() / 1e6 / unkept["plain"] / (2 * 2048**3 / unkept["product"] / 1e6)
    vae, q = penalties["beta_vae"], penalties["qlae"]
    rows = [
        ("β-VAE step, share of the multiplication peak", f"{share['beta_vae']:.2f}", "0.5"),
        ("plain loop, share of the peak", f"{unkept_share:.2f}", ""),
        ("plain loop with memory kept, share of the peak", f"{share['plain']:.2f}", ""),
        ("β-VAE, times as fast as the plain loop", f"{share['beta_vae'] / unkept_share:.2f}", "2"),
        ("Jacobian L1, all ten columns, by a β-VAE step", f"{penalties['jl1_vae, all columns'] / vae:.2f}", "5.5"),
        (
            "Jacobian L1, one random column of a fifth of the batch, by a β-VAE step",
            f"{penalties['jl1_vae, a column of a fifth'] / vae:.2f}",
            "1.35",
        ),
        ("Tripod, exact, by a QLAE step", f"{penalties['tripod, exact'] / q:.2f}", "the paper's 2.65"),
        (
            "Tripod, penalty of 2 of 64 images, by a QLAE step",
            f"{penalties['tripod, 2 of 64 images'] / q:.2f}",
            "1.4",
        ),
        ("peak memory of training beyond the data, GB", f"{memory:.2f}", "1"),
        ("two runs of one thread, by one run of two threads, steps a second", f"{together / single:.2f}", "1"),
    ]
    lines = [
        "# The speed of training",
        "",
        "Made by `python benchmarks/training.py`: conv64 on 64 × 64 dSprites, batches of 64, two CPU threads, medians",
        f"of {ROUNDS} steps in turn. A step is everything: drawing the batch, the update, the log. The peak of this",
        f"run was {peak:.0f} GFLOP/s (2048³ float32); a step is {flop() / 1e9:.2f} GFLOP and took",
        f"{first['beta_vae']:.1f} ms.",
        "",
        "| what | measured | target |",
        "|---|---|---|",
        *(f"| {what} | {value} | {target} |" for what, value, target in rows),
        "",
    ]
    Path(__file__).with_suffix(".md").write_text("\n".join(lines))
    print("\n".join(lines))


if __name__ == "__main__":
    main()
