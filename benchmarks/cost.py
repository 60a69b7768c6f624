"""The cost of the published studies: ``python benchmarks/cost.py``, written to ``cost.md``.

Measures the steps of the methods with the published nets, images and batches, one thread, and computes from them the
12,600 models of Locatello et al. 2019, and the ratios of Table 6 of Hsu et al. 2024.
"""

from __future__ import annotations

import tempfile
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
PUBLISHED = {"net": "tripod", "batch": 64, "latents": 12}  # of all four: one net, Table 4
ROUNDS = 15


def main() -> None:
    """Measure, and write the page."""
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as folder:
        grey = _large("dsprites", Path(folder))
        colour = _large("rooms3d", Path(folder))
        smooth, work = _smooth(Path(folder)), _work()
    mean = {name: (GREY * grey[name] + COLOUR * colour[name]) / (GREY + COLOUR) for name in LARGE}
    years = {name: MODELS / len(LARGE) * STEPS * mean[name] / 1e3 / YEAR for name in LARGE}
    total = sum(years.values())
    lines = [
        "# What the published studies cost\n",
        f"Medians of {ROUNDS} steps, one thread of a CPU, 64 × 64 images. Made by `python benchmarks/cost.py`.\n",
        "## The 12,600 models of Locatello et al. 2019\n",
        f"{STEPS:,} steps of 64 for each; 2,100 models per method. Two of the seven data sets are grey and five in "
        "colour; milliseconds per step are measured on dSprites and rooms3d.\n",
        "| method | grey, ms | colour, ms | core-years |\n|---|---|---|---|",
        *(f"| {n} | {grey[n]:.1f} | {colour[n]:.1f} | {years[n]:.2f} |" for n in LARGE),
        f"| all | | | {total:.1f} |\n",
        f"So a machine with 64 such cores needs {total / 64 * 365.25:.0f} days for training. The authors state "
        f"{GPU_YEARS} GPU-years (NVIDIA P100), which is {GPU_YEARS * YEAR / MODELS / 3600:.2f} hours per model or "
        f"{MODELS * STEPS / (GPU_YEARS * YEAR):.0f} steps a second: {total / GPU_YEARS:.1f} of these cores are as fast "
        "as one such GPU. Unweave was not measured on a GPU; `unweave study plan challenging-assumptions/paper` "
        "estimates the time on the machine where it is called.\n",
        "## Steps of Tripod (Table 6 of Hsu et al. 2024)\n",
        "The published net and batch of 64, rooms3d. Ratios to QLAE, of the time of a step and of its multiplications, "
        "which are counted for two images.\n",
        "| model | ms | ratio | ratio of multiplications | published ratio (GPU) |\n|---|---|---|---|---|",
        *(
            f"| {name} | {smooth[name]:.0f} | {smooth[name] / smooth['QLAE']:.2f} | {work[name] / work['QLAE']:.2f} | "
            f"{seconds / SMOOTH['QLAE'][2]:.2f} |"
            for name, (_, _, seconds) in SMOOTH.items()
        ),
    ]
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")


def _large(data: str, folder: Path) -> dict[str, float]:
    own = unweave.load(data, size=64)
    return measure({name: our_step(name, {}, own, folder) for name in LARGE}, ROUNDS)


def _smooth(folder: Path) -> dict[str, float]:
    own = unweave.load("rooms3d", size=64)
    steps = {
        name: our_step(recipe, {**PUBLISHED, **settings}, own, folder) for name, (recipe, settings, _) in SMOOTH.items()
    }
    return measure(steps, ROUNDS)


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


if __name__ == "__main__":
    main()
