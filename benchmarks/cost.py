"""The cost of the published studies: ``python benchmarks/cost.py [large] [table_6]``, written to ``cost.md``.

Measures the steps of the methods with the published nets, images and batches, one thread, and computes from them the
12,600 models of Locatello et al. 2019, and the ratios of Table 6 of Hsu et al. 2024.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path
from typing import Any

import torch
from torch.utils.flop_counter import FlopCounterMode

import unweave
from steps import measure, our_step
from unweave.training.assembly import Objective, build_model
from unweave.training.configuration import configure

PAGE = Path(__file__).parent / "cost.md"
LARGE = ("beta_vae", "annealed_vae", "factor_vae", "dip_vae_i", "dip_vae_ii", "beta_tcvae")
GREY, COLOUR = 2, 5  # of the seven data sets: dSprites, smallNORB; Color-, Noisy-, Scream-dSprites, Cars3D, Shapes3D
MODELS, STEPS = 12_600, 300_000
YEAR = 365.25 * 24 * 3600
GPU_YEARS = 2.54  # NVIDIA P100, footnote 1 of Locatello et al. 2019
SMOOTH: dict[str, tuple[str, dict[str, Any], float]] = {  # recipe, settings, published seconds of an iteration
    "β-TCVAE": ("beta_tcvae", {}, 0.040),
    "QLAE": ("qlae", {}, 0.040),
    "QLAE + KLM": ("qlae", {"terms": {"kernel_multiinformation": 1e-4}}, 0.040),
    "Tripod": ("tripod", {}, 0.106),
}
FEWER = "Tripod, `normalised_hessian.share=0.05`"
PUBLISHED: dict[str, Any] = {"net": "tripod", "batch": 64, "latents": 12}  # of all four: one net, Table 4
ROUNDS = 15
TURNS = 3  # of the models of Table 6, whose steps take seconds


def main() -> None:
    """Measure the sections that are named, or both, and write the page; the other one keeps its text."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", choices=[*SECTIONS, []], default=[])
    parser.add_argument("--batch", type=int, default=64, help="of the steps of Table 6, published 64")
    given = parser.parse_args()
    PUBLISHED["batch"] = given.batch
    torch.set_num_threads(1)
    before = PAGE.read_text(encoding="utf-8").split("\n## ")
    kept = dict(zip(SECTIONS, before[1:], strict=False))
    wanted = given.sections or list(SECTIONS)
    found = {name: SECTIONS[name]() if name in wanted else kept[name].strip() for name in SECTIONS}
    head = "# What the published studies cost\n\nMade by `python benchmarks/cost.py`, with one thread of a CPU."
    PAGE.write_text("\n\n## ".join([head, *found.values()]) + "\n", encoding="utf-8")


def large() -> str:
    """Return the section on the 12,600 models."""
    with tempfile.TemporaryDirectory() as folder:
        grey, colour = (_large(data, Path(folder)) for data in ("dsprites", "rooms3d"))
    mean = {name: (GREY * grey[name] + COLOUR * colour[name]) / (GREY + COLOUR) for name in LARGE}
    years = {name: MODELS / len(LARGE) * STEPS * mean[name] / 1e3 / YEAR for name in LARGE}
    total = sum(years.values())
    lines = [
        "The 12,600 models of Locatello et al. 2019\n",
        f"{STEPS:,} steps of 64 for each; 2,100 models per method. Two of the seven data sets are grey and five in "
        f"colour; milliseconds per step, medians of {ROUNDS}, are measured on dSprites and rooms3d at 64 × 64.\n",
        "| method | grey, ms | colour, ms | core-years |\n|---|---|---|---|",
        *(f"| {n} | {grey[n]:.1f} | {colour[n]:.1f} | {years[n]:.2f} |" for n in LARGE),
        f"| all | | | {total:.1f} |\n",
        f"So a machine with 64 such cores needs {total / 64 * 365.25:.0f} days for training. The authors state "
        f"{GPU_YEARS} GPU-years (NVIDIA P100), which is {GPU_YEARS * YEAR / MODELS / 3600:.2f} hours per model or "
        f"{MODELS * STEPS / (GPU_YEARS * YEAR):.0f} steps a second: {total / GPU_YEARS:.1f} of these cores are as fast "
        "as one such GPU. Unweave was not measured on a GPU; `unweave study plan challenging-assumptions/paper` "
        "estimates the time on the machine where it is called.",
    ]
    return "\n".join(lines)


def table_6() -> str:
    """Return the section on Tripod."""
    with tempfile.TemporaryDirectory() as folder:
        seconds = _processor_seconds(Path(folder))
    work = _work()
    rows = [
        f"| {name} | {seconds[name]:.2f} | {seconds[name] / seconds['QLAE']:.2f} | {work[name] / work['QLAE']:.2f} | "
        f"{published / SMOOTH['QLAE'][2]:.2f} |"
        for name, (_, _, published) in SMOOTH.items()
    ]
    few = seconds[FEWER]
    lines = [
        "Steps of Tripod (Table 6 of Hsu et al. 2024)\n",
        f"The net of Tripod for all four models, a batch of {PUBLISHED['batch']}, rooms3d at 64 × 64. The processor "
        f"time of a step, the least of {TURNS} in turns, so that other work on the machine counts little; the "
        "multiplications and additions of a step, counted for two images; and the published seconds on a GPU (batch "
        "64), as ratios to QLAE.\n",
        "| model | processor seconds | ratio | ratio of multiplications | published ratio |\n|---|---|---|---|---|",
        *rows,
        f"| {FEWER} | {few:.2f} | {few / seconds['QLAE']:.2f} | | |\n",
        "The estimate of Tripod's penalty decodes eight more codes per image, through the condition and three of the "
        "four stages of the decoder, forward and backward; nothing else of its cost is left. The code itself is "
        "decoded once, for the reconstruction and the penalty; the first convolution, of a constant, is computed once "
        "per pass; upsampling and the convolution after it are one transposed convolution. In the authors' net, where "
        "they are apart, the ratio of multiplications would be 4.63, so the published ratio of times is not one of "
        "work: a GPU has costs per step that do not grow with it.",
    ]
    return "\n".join(lines)


def _large(data: str, folder: Path) -> dict[str, float]:
    own = unweave.load(data, size=64)
    return measure({name: our_step(name, {}, own, folder) for name in LARGE}, ROUNDS)


def _processor_seconds(folder: Path) -> dict[str, float]:
    """Return the least processor seconds of a step of each model; the models take turns."""
    own = unweave.load("rooms3d", size=64)
    fewer = {FEWER: ("tripod", {"normalised_hessian.share": 0.05}, 0.0)}
    every = (SMOOTH | fewer).items()
    steps = {name: our_step(recipe, {**PUBLISHED, **settings}, own, folder) for name, (recipe, settings, _) in every}
    found = dict.fromkeys(steps, float("inf"))
    for number in range(TURNS):
        for name, step in steps.items():
            began = time.process_time()
            step(number)
            found[name] = min(found[name], time.process_time() - began)
    return found


def _work() -> dict[str, int]:
    """Return the floating-point operations of a step of each model, for two images."""
    own, images, found = unweave.load("xysquares", size=64), torch.rand(2, 3, 64, 64), {}
    for name, (recipe, settings, _) in SMOOTH.items():
        configuration, _ = configure(recipe, own, {**PUBLISHED, **settings})
        objective = Objective(build_model(configuration), configuration)
        with FlopCounterMode(display=False) as counter:
            objective(images, 1, torch.Generator().manual_seed(0)).total.backward()
        found[name] = counter.get_total_flops()
    return found


SECTIONS = {"large": large, "table_6": table_6}

if __name__ == "__main__":
    main()
