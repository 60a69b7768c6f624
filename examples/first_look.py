"""What has a trained model separated? Open one of the zoo, score it on fresh images, draw it, and write a report.

Nothing is trained here. The model is a QLAE, an autoencoder whose latents have a few levels each. Six factors change
its images: the hues of floor, wall and object, the shape and the size of the object, and the angle of the camera.
"""

from pathlib import Path

import torch

import unweave
from unweave.figures import FIGURES, save_figure

OUT = Path("demo")

run = unweave.open("zoo:qlae-shapes3d-drawn")
data = run.data()
scores = unweave.score(
    run, metrics=["mig", "infomec", "psnr"], samples=5_000, seed=2026
)  # other images than in training
for name, value in scores.table.items():
    print(f"{name:22} {value:.2f}")

figure = FIGURES["interventions"]
save_figure(figure.draw(figure.of_runs([run], [data], torch.Generator().manual_seed(0))), OUT / "interventions.png")
unweave.report(run, out=OUT / "zoo.html")
