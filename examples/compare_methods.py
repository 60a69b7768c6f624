"""Does weak supervision help? Principal components, a β-VAE and an Ada-GVAE on 32 × 32 dSprites, trained and scored.

A linear code mixes the factors. After so few steps, a β-VAE reconstructs better but mixes them as much. An Ada-GVAE
sees pairs of images that share factors, and has one latent each for x, y and scale: its MIG is ten times theirs. Runs
are kept in ``demo/runs``: stop this at any moment, start it again, and it continues.
"""

from pathlib import Path
from typing import Any

import torch
from rich.console import Console
from rich.table import Table

import unweave
from unweave.figures import draw_reconstructions, draw_traversals, make_reconstructions, make_traversals
from unweave.reports import report

OUT = Path("demo")
METHODS: dict[str, dict[str, Any]] = {"pca": {}, "beta_vae": {"beta": 1.0}, "ada_gvae": {"beta": 1.0}}

data = unweave.load("dsprites", size=32)
table = Table("method", "PSNR", "MIG", "DCI D", "DCI I", "InfoM", box=None, title="dSprites 32 × 32, 3,000 steps")
runs = []
for recipe, settings in METHODS.items():
    training: dict[str, Any] = {} if recipe == "pca" else {"steps": 3_000, "lr": 1e-3}
    run = unweave.train(recipe, data, store=OUT / "runs", **training, **settings)
    runs.append(run)
    scores = unweave.score(run, data, metrics=["mig", "dci", "infomec"], samples=5_000, test_samples=2_500).table
    names = ("mig", "dci.disentanglement", "dci.informativeness", "infomec.modularity")
    table.add_row(recipe, f"{run.state.psnr:.1f} dB", *(f"{scores[name]:.3f}" for name in names))
    generator = torch.Generator().manual_seed(0)
    draw_reconstructions(make_reconstructions(run, data, generator)).savefig(OUT / f"{recipe}-reconstructions.png")
    draw_traversals(make_traversals(run, data, generator)).savefig(OUT / f"{recipe}-traversals.png")
Console().print(table)
report(runs, out=OUT / "report.html")
