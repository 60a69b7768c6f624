"""Does a method separate the factors? A β-VAE and an Ada-GVAE on three squares, trained side by side and scored.

Six factors change an image: two coordinates of each square. The squares move in steps of one pixel, so that their
images overlap and the reconstruction loss knows which places are near. A β-VAE, which sees single images, mixes the
coordinates; an Ada-GVAE, which sees pairs of images that have some factors in common, gives four of the six a latent of
their own. The runs are those of ``unweave study run examples/squares.toml --store demo/runs``, which can be stopped at
any moment and continues when it is started again.
"""

from pathlib import Path

import torch

import unweave
from unweave.figures import FIGURES, save_figure

OUT = Path("demo")
SHOWN = ["recipe", "psnr", "mig", "dci.disentanglement", "dci.completeness", "sap"]

study = unweave.Study("examples/squares.toml", store=OUT / "runs")
print(study.table()[SHOWN].to_string(index=False, float_format="{:.2f}".format))
runs = study.runs()
figure = FIGURES["mutual_information"]
drawn = figure.draw(figure.of_runs(runs, [run.data() for run in runs], torch.Generator().manual_seed(0)))
save_figure(drawn, OUT / "mutual_information.png")
unweave.report(runs, out=OUT / "report.html")
