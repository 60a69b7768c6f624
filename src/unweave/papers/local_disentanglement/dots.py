"""Whether a column of the Jacobian moves one of the three dots or several (Rhodes & Lee 2021, figure 2)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.data.three_dots import PLACES, RADIUS

if TYPE_CHECKING:
    from unweave.training import Run

POINTS = 32  # images
APART = 4.0  # distance of the dots' centres from each other, and half of it from the edge, in radii
SEED = 0


def isolation(run: Run) -> float:
    """Return how far the columns of a run's Jacobian move single dots, at images whose dots are apart."""
    places = spread_places(POINTS, torch.Generator().manual_seed(SEED))
    return share_of_one_dot(run.jacobian(run.encode(run.data().images(places))), places)


def share_of_one_dot(columns: Tensor, places: Tensor) -> float:
    """Return the share of the columns' energy at the dots that is at the dot where the column has most of it.

    ``columns`` (B, D, C, H, W) belong to images with the factors ``places`` (B, 6). 1 means that every latent moves a
    single dot, and 1/3 that each moves all dots alike. Each column counts by its energy. A dot is a disc of 1.5 radii,
    to contain the edges that move.
    """
    energy = columns.double().square().sum(2)  # (B, D, H, W)
    held = torch.einsum("bdhw,bkhw->bdk", energy, discs(places, columns.shape[-1]))
    return float(held.amax(2).sum() / held.sum())


def discs(places: Tensor, size: int) -> Tensor:
    """Return a mask (B, 3, H, W) of each dot of images with these factors (B, 6)."""
    centres = places.view(-1, 3, 2).double() * (size / (PLACES - 1))  # (B, dot, axis), in pixels
    pixels = torch.arange(size, dtype=torch.float64) + 0.5
    squared = (pixels - centres[..., None]) ** 2  # (B, dot, axis, W)
    distance = (squared[:, :, 0, None, :] + squared[:, :, 1, :, None]).sqrt()
    return (distance <= 1.5 * RADIUS * size).double()


def spread_places(images: int, generator: torch.Generator) -> Tensor:
    """Draw factors (images, 6) of three dots that are apart from each other and from the edge."""
    margin, found = round(APART / 2 * RADIUS * PLACES), torch.empty(0, 6, dtype=torch.long)
    while len(found) < images:
        places = torch.randint(margin, PLACES - margin, (images, 6), generator=generator)
        dots = places.view(-1, 3, 2).double()
        nearest = (torch.cdist(dots, dots) + 1e9 * torch.eye(3)).amin((1, 2))
        found = torch.cat([found, places[nearest >= APART * RADIUS * PLACES]])
    return found[:images]
