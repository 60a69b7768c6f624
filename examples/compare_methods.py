"""Does a method separate the factors? A β-VAE and an Ada-GVAE on three squares, trained side by side and scored.

Six factors change an image: the place of each square. The squares move in steps of one pixel, so that their images
overlap and the reconstruction loss knows which places are near. A β-VAE, which sees single images, mixes the places; an
Ada-GVAE, which sees pairs of images that have some factors in common, gives nearly each of them a latent of its own.
Runs are kept in ``demo/runs``: stop this at any moment, start it again, and it continues.
"""

from pathlib import Path

import torch

import unweave
from unweave.figures import FIGURES, save_figure

OUT = Path("demo")
STUDY = """
name = "overlapping-squares"
metrics = ["mig", "dci", "sap"]

[score]
samples = 5_000
test_samples = 2_500

[fixed]
data = "xysquares"
"data.size" = 32
"data.spacing" = 1
likelihood = "gaussian"
standardised = true
reduction = "mean"
latents = 9
beta = 0.001
lr = 1e-3
net = "mlp"
"net.width" = 0.5
steps = 10_000
seed = 0

[[grid]]
zip = { recipe = ["beta_vae", "ada_gvae"], batch = [64, 128] }  # 128 images are 64 pairs
"""
SHOWN = ["recipe", "psnr", "mig", "dci.disentanglement", "dci.completeness", "sap"]

if __name__ == "__main__":
    study = unweave.Study(STUDY, store=OUT / "runs")
    study.run(workers=2)
    print(study.table()[SHOWN].to_string(index=False, float_format="{:.2f}".format))
    runs = study.runs()
    figure = FIGURES["mutual_information"]
    drawn = figure.draw(figure.of_runs(runs, [run.data() for run in runs], torch.Generator().manual_seed(0)))
    save_figure(drawn, OUT / "mutual_information.png")
    unweave.report(runs, out=OUT / "report.html")
