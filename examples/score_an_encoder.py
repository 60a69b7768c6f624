"""Score an encoder: how well do principal components of dSprites separate its factors?

``unweave.score`` takes any callable from images to codes: replace ``encode`` by your own.
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


class PrincipalComponents:
    """The first ten principal components, with the reconstructions they give."""

    def __call__(self, images: Tensor) -> Tensor:
        """Encode images (B, 1, 64, 64) in [0, 1] as ten components (B, 10)."""
        return (images.flatten(1) - center) @ directions

    def reconstruct(self, images: Tensor) -> Tensor:
        """Return the images (B, 1, 64, 64) that the components stand for; offering this is optional."""
        return (self(images) @ directions.T + center).clamp(0, 1).view_as(images)


encode = PrincipalComponents()
scores = unweave.score(encode, data, metrics=["mig", "modularity", "sap", "dci", "infomec", "factor_vae_score", "psnr"])
for name, value in scores.table.items():
    show(f"{name:24} {value:.3f}")
best = scores["mig"].mutual_information.argmax(0)
show("component with the most information:", dict(zip(data.space.names, best.tolist(), strict=True)))
