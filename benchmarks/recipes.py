"""Every recipe trained alike, to see that each one learns: ``python benchmarks/recipes.py [STORE]``.

The same steps of the same batch on the same drawn data, 32 × 32 dSprites, by the same net; two runs at a time, a thread
each. Runs that the store has already are not trained again. Written to ``benchmarks/recipes.md`` and ``recipes.png``.
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
from training import measure, our_step
from unweave.figures.strips import draw_strips, to_bytes
from unweave.recipes import RECIPES
from unweave.training import Run

STEPS, BATCH, LR, SAMPLES = 4_000, 64, 1e-3, 5_000
COMMON: dict[str, Any] = {"steps": STEPS, "batch": BATCH, "lr": LR, "net": "conv64", "threads": 1, "device": "cpu"}
PART = {"nhp": 1e-4, "normalised_hessian.share": 0.05}
# A 32 × 32 image has a quarter of the pixels that the published weights were chosen for, and so of the reconstruction
# loss: weights in units of the sum over pixels are a quarter of the published ones, or near it.
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
    """Train and score one recipe, in a process of its own."""
    torch.set_num_threads(1)
    data = unweave.load("dsprites", size=32)
    common = {} if recipe in ("pca", "ica") else COMMON
    run = unweave.train(recipe, data, store=store, **common | SETTINGS.get(recipe, {}))
    scores = unweave.score(
        run, data, metrics=METRICS, samples=SAMPLES, test_samples=SAMPLES // 2, settings=run.settings
    ).table
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
    """What the code holds: its KL and how many latents have some; or how many values are used."""
    summary = run.summary
    if summary.kl is not None:
        return f"KL {sum(summary.kl):.1f} nats in {sum(kl > 0.1 for kl in summary.kl)} latents"
    if summary.usage is not None:
        used = [sum(share > 0.001 for share in row) for row in summary.usage]
        varying = [u for u in used if u > 1]
        return f"{sum(used) / len(used):.1f} of {len(summary.usage[0])} values, {len(varying)} latents vary"
    return f"{sum(std > 1e-3 for std in summary.std)} latents vary"


def main() -> None:
    store = sys.argv[1] if len(sys.argv) > 1 else "runs"
    unweave.load("dsprites", size=32).rows(torch.arange(1))  # drawn once for both workers
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
    """Milliseconds of a step of each recipe, taken in turn, so that a busy machine is busy for all of them."""
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
    names = ["mig", "dci.disentanglement", "dci.completeness", "dci.informativeness", "infomec.modularity"]
    lines = [
        "# Every recipe, trained alike",
        "",
        f"Made by `python benchmarks/recipes.py`: {STEPS:,} steps of {BATCH} images of dSprites at 32 × 32, drawn",
        f"here, by the net conv64 with a learning rate of {LR:g}, two at a time on a thread each; scores of",
        f"{SAMPLES:,} images. PCA and ICA are fitted to 10,000 images. One seed each: this shows that each one learns,",
        "not which one is better. Weights are fitted to images of a quarter of the published pixels, Tripod's to the",
        "small loss of images that are mostly black; all other settings are the recipes' own.",
        "",
        "| recipe | settings | PSNR, dB | code | MIG | DCI D | DCI C | DCI I | InfoM | speed by β-VAE's |",
        "|---|---|---|---|---|---|---|---|---|---|",
    ]
    for row in rows:
        settings = ", ".join(f"{key}={value:g}" for key, value in SETTINGS.get(row["recipe"], {}).items())
        speed = f"{times['beta_vae'] / times[row['recipe']]:.2f}" if row["recipe"] in times else ""
        numbers = " | ".join(f"{row[name]:.3f}" for name in names)
        lines.append(f"| {row['recipe']} | {settings} | {row['psnr']:.1f} | {row['code']} | {numbers} | {speed} |")
    return [*lines, "", "![The first row are images, the others their reconstructions](recipes.png)", ""]


if __name__ == "__main__":
    main()
