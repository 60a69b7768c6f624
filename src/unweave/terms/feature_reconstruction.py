"""Feature reconstruction: images are compared by the activations of another net, not by pixels (DFC-VAE)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import torch
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.model import Forward
from unweave.settings import named
from unweave.terms.term import Reduction, StatefulTerm

WIDTHS = (16, 32, 64, 64)


class RandomFeatures(nn.Module):
    """Four convolutions with fixed random weights, the same for all runs."""

    def __init__(self, shape: tuple[int, int, int]) -> None:
        super().__init__()
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(0)
            widths = (shape[0], *WIDTHS)
            self.layers = nn.ModuleList(
                nn.Conv2d(widths[i], widths[i + 1], 3, stride=2, padding=1) for i in range(len(WIDTHS))
            )
            for layer in self.layers:
                nn.init.kaiming_normal_(layer.weight)  # type: ignore[arg-type]

    def forward(self, images: Tensor) -> list[Tensor]:
        """Return the activations of all layers."""
        features = []
        for layer in self.layers:
            images = layer(images).relu()
            features.append(images)
        return features


FEATURES = {"random": RandomFeatures}


def feature_reconstruction_loss(
    ours: Sequence[Tensor], theirs: Sequence[Tensor], *, pixels: int, reduction: Reduction = "sum"
) -> Tensor:
    """Compute the sum over layers of the mean squared difference of activations: a scalar.

    Hou et al. 2017, eq. 4 and 5, divides by the size of each layer as well.

    Args:
        ours: The activations of each layer for the reconstructions.
        theirs: The activations of each layer for the images.
        pixels: The number of pixels and channels of an image.
        reduction: ``"sum"`` multiplies the loss by ``pixels``, so that it has the scale of a sum over pixels, as in
            Disent.

    Returns:
        A scalar.
    """
    total = torch.stack([(one - other).square().mean() for one, other in zip(ours, theirs, strict=True)]).sum()
    return pixels * total if reduction == "sum" else total


class FeatureReconstruction(StatefulTerm):
    """The reconstruction loss between the activations of a net that is not trained.

    ``net`` is ``"random"``, four convolutions with random weights, or ``package.module:function`` of your own: a
    function of the shape (C, H, W) of images that returns a module from images in [0, 1] to a list of activations, with
    whatever weights you load there. Nothing is downloaded. Its weights are frozen, and kept with the checkpoint.
    """

    title: ClassVar[str] = "the feature reconstruction term"
    formula: ClassVar[str] = (
        r"$\sum_l \text{mean} (\Phi_l(x) - \Phi_l(\hat{x}))^2$, $\Phi_l$ the activations of a fixed net"
    )
    paper: ClassVar[str] = "Hou et al. 2017 (DFC-VAE), eq. 4 and 5"
    net: str = "random"
    reduction: Reduction = "sum"  # over pixels and channels

    def __call__(self, forward: Forward, state: nn.Module) -> Tensor:  # type: ignore[override]
        """Compute the term from the images of the batch and their reconstructions."""
        with torch.no_grad():
            theirs = state(forward.images)
        pixels = forward.images[0].numel()
        return feature_reconstruction_loss(
            state(forward.reconstructions), theirs, pixels=pixels, reduction=self.reduction
        )

    def make_state(self, shape: tuple[int, int, int]) -> nn.Module:
        """Make the net that the images are compared with."""
        net = named("feature net", self.net, FEATURES)(shape)
        if not isinstance(net, nn.Module):
            raise InputError(f"the feature net {self.net!r} must be a torch module, got {type(net).__name__}.")
        return net.eval().requires_grad_(False)
