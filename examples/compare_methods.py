"""Does a method separate the factors? Principal components, a β-VAE and a QLAE on drawn rooms, trained and scored.

Six factors change a room: the hues of floor, wall and object, the shape and the size of the object, and the angle of
the camera. Principal components and a β-VAE mix them. The latents of a QLAE, which have ten levels each, follow single
factors more: its InfoM is higher. Runs are kept in ``demo/runs``: stop this at any moment, start it again, and it
continues.
"""

from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import unweave
from unweave.figures import FIGURES, save_figure
from unweave.reports import report

OUT = Path("demo")
METHODS: dict[str, dict[str, Any]] = {"pca": {}, "beta_vae": {"beta": 1.0}, "qlae": {"batch": 64}}
TRAINING: dict[str, Any] = {"steps": 4_000, "lr": 1e-3, "net": "conv64", "net.width": 0.5}
SHOWN = {"MIG": "mig", "DCI D": "dci.disentanglement", "DCI I": "dci.informativeness", "InfoM": "infomec.modularity"}

data = unweave.load("rooms3d", size=32)
table = Table("method", "PSNR", *SHOWN, box=None, title="Rooms3D 32 × 32, 4,000 steps")
runs = []
for recipe, settings in METHODS.items():
    training = {} if recipe == "pca" else TRAINING
    run = unweave.train(recipe, data, latents=12, store=OUT / "runs", **training, **settings)
    runs.append(run)
    scores = unweave.score(run, metrics=["mig", "dci", "infomec"], samples=5_000, test_samples=2_500).table
    table.add_row(recipe, f"{run.state.psnr:.1f} dB", *(f"{scores[name]:.3f}" for name in SHOWN.values()))
for name in ("reconstructions", "mutual_information", "interventions"):
    figure = FIGURES[name]
    several = runs if figure.source == "runs" else runs[-1:]
    drawn = figure.draw(figure.of_runs(several, [data] * len(several), torch.Generator().manual_seed(0)))
    save_figure(drawn, OUT / f"{name}.png")
report(runs, out=OUT / "report.html")
Console().print(table)
