"""Train every recipe in the same way, to see that each one learns: ``python benchmarks/recipes.py [STORE]``.

All recipes use the same number of steps, batch size, net and data, 32 × 32 dSprites. Two runs train at a time, with one
thread each; finished runs in the store are not trained again, and interrupted ones continue. Writes
``benchmarks/recipes.md`` and ``recipes.png``.
"""

from __future__ import annotations

import multiprocessing
import os
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import torch

import unweave
from steps import measure, our_step
from unweave.figures.drawing.strips import draw_strips, to_bytes
from unweave.recipes import RECIPES
from unweave.training import Run

STEPS, BATCH, LR, SAMPLES = 4_000, 64, 1e-3, 5_000
COMMON: dict[str, Any] = {"steps": STEPS, "batch": BATCH, "lr": LR, "net": "conv64", "threads": 1, "device": "cpu"}
PART = {"nhp": 1e-4, "normalised_hessian.share": 0.05}
# A 32 × 32 image has a quarter of the pixels that the published weights were chosen for, and so a quarter of the
# reconstruction loss. Weights relative to a sum over pixels are therefore about a quarter of the published ones.
SETTINGS: dict[str, dict[str, Any]] = {
    "beta_vae": {"beta": 1.0},
    "vae": {"kl.weight": 0.25},
    "annealed_vae": {"gamma": 10.0, "capacity": 15.0},
    "factor_vae": {"gamma": 5.0, "kl.weight": 0.25},
    "beta_tcvae": {"kl.weight": 0.25, "total_correlation.weight": 0.75},
    "dip_vae_i": {"kl.weight": 0.25, "off_diagonal": 1.25},
    "dip_vae_ii": {"kl.weight": 0.25, "off_diagonal": 1.25},
    "jl1_vae": {"beta": 1.0, "gamma": 0.025, "jacobian_l1.columns": 1, "jacobian_l1.share": 0.25},
    "jl2_vae": {"beta": 1.0, "gamma": 0.025, "jacobian_l2.columns": 1, "jacobian_l2.share": 0.25},
    "ada_gvae": {"beta": 0.25},
    "ada_ml_vae": {"beta": 0.25},
    "tripod_naive": {"hessian_penalty.share": 0.05},
    "tripod": PART,
    "tripod_without_klm": PART,
    "tripod_finer": PART,
}
METRICS = ["mig", "dci", "infomec"]


def work(recipe: str, store: str) -> dict[str, Any]:
    """Train and score one recipe. Runs in a worker process."""
    torch.set_num_threads(1)
    data = unweave.load("dsprites", size=32)
    common = {} if recipe in ("pca", "ica") else COMMON
    run = unweave.train(recipe, data, store=store, **common | SETTINGS.get(recipe, {}))
    scores = unweave.score(run, data, metrics=METRICS, samples=SAMPLES, test_samples=SAMPLES // 2, workers=1).table
    images = data.sample(16, torch.Generator().manual_seed(0)).images
    return {
        "recipe": recipe,
        "images": images,
        "strip": to_bytes(run.reconstruct(images)),
        "psnr": run.state.psnr,
        "code": describe(run),
        "name": run.name,
        **scores,
    }


def describe(run: Run) -> str:
    """Describe the code: its KL and the number of latents that carry it, or the number of values that are used."""
    summary = run.summary
    if summary.kl is not None:
        return f"KL {sum(summary.kl):.1f} nats in {sum(kl > 0.1 for kl in summary.kl)} latents"
    if summary.usage is not None:
        used = [sum(share > 0.001 for share in row) for row in summary.usage]
        varying = [u for u in used if u > 1]
        return f"{sum(used) / len(used):.1f} of {len(summary.usage[0])} values, {len(varying)} latents vary"
    return f"{sum(std > 1e-3 for std in summary.std)} latents vary"


def main() -> None:
    """Train, score, and write the page and the picture."""
    store = sys.argv[1] if len(sys.argv) > 1 else "runs"
    unweave.load("dsprites", size=32).rows(torch.arange(1))  # draws the grid once for both workers
    os.environ["OMP_NUM_THREADS"] = "1"
    with ProcessPoolExecutor(2, multiprocessing.get_context("spawn")) as pool:
        futures = {name: pool.submit(work, name, store) for name in RECIPES}
        rows = []
        for name, future in futures.items():
            rows.append(future.result())
            print(f"{name:20} {rows[-1]['psnr']:.1f} dB, {rows[-1]['code']}", flush=True)
    times = step_times()
    strips = [("images", rows[0]["images"]), *((row["recipe"], row["strip"]) for row in rows)]
    here = Path(__file__)
    draw_strips(f"dSprites 32 × 32 after {STEPS:,} steps", strips).savefig(here.with_suffix(".png"))
    here.with_suffix(".md").write_text("\n".join(page(rows, times)))


def step_times() -> dict[str, float]:
    """Return the milliseconds of a step of each recipe. The recipes take turns, so that a busy machine slows all."""
    torch.set_num_threads(1)
    data = unweave.load("dsprites", size=32)
    with tempfile.TemporaryDirectory() as folder:
        steps = {
            name: our_step(name, {**COMMON, **SETTINGS.get(name, {})}, data, Path(folder))
            for name in RECIPES
            if name not in ("pca", "ica")
        }
        return measure(steps, 15)


def page(rows: list[dict[str, Any]], times: dict[str, float]) -> list[str]:
    """Return the lines of the page."""
    names = ["mig", "dci.disentanglement", "dci.completeness", "dci.informativeness", "infomec.modularity"]
    lines = [
        "# Every recipe, trained in the same way",
        "",
        f"Written by `python benchmarks/recipes.py`: {STEPS:,} steps with batches of {BATCH} on 32 × 32 dSprites, the",
        f"net conv64 and a learning rate of {LR:g}, two runs at a time with one thread each. Scores use {SAMPLES:,}",
        "images. PCA and ICA are fitted to 10,000 images. There is one seed per recipe: the table shows that each",
        "recipe learns, not which one is better. Weights are adapted to images with a quarter of the published number",
        "of pixels, and Tripod's to the small loss of images that are mostly black. All other settings are the",
        "defaults. Recipes with a Hessian penalty use GELU, the others ReLU. Speed is in steps per second, relative to",
        "`beta_vae`.",
        "",
        "| recipe | settings | PSNR, dB | code | MIG | DCI D | DCI C | DCI I | InfoM | relative speed |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        settings = ", ".join(f"{key}={value:g}" for key, value in SETTINGS.get(row["recipe"], {}).items())
        speed = f"{times['beta_vae'] / times[row['recipe']]:.2f}" if row["recipe"] in times else ""
        numbers = " | ".join(f"{row[name]:.3f}" for name in names)
        lines.append(f"| {row['recipe']} | {settings} | {row['psnr']:.1f} | {row['code']} | {numbers} | {speed} |")
    return [*lines, "", "![Images in the first row, and their reconstructions by each recipe](recipes.png)", ""]


if __name__ == "__main__":
    main()
