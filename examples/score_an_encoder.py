"""What has an encoder separated? Principal components of dSprites, scored without any training.

``unweave.score`` takes any callable from images to codes: put your own in the place of ``encode``.
"""

import torch
from rich import print as show
from torch import Tensor

import unweave

data = unweave.load("dsprites")
images, _ = data.sample(5_000, torch.Generator().manual_seed(0))
pixels = images.flatten(1).float() / 255
center = pixels.mean(0)
_, _, directions = torch.svd_lowrank(pixels - center, q=10, niter=4)


def encode(images: Tensor) -> Tensor:
    """Images (B, 1, 64, 64) in [0, 1] to ten components (B, 10)."""
    return (images.flatten(1) - center) @ directions


scores = unweave.score(encode, data, metrics=["mig", "modularity", "sap", "dci", "infomec", "factor_vae_score"])
for name, value in scores.table.items():
    show(f"{name:24} {value:.3f}")
knows = scores["mig"].mutual_information.argmax(0)
show("best known to component:", dict(zip(data.space.names, knows.tolist(), strict=True)))
