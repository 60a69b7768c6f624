"""The drawn 3D Shapes beside the official ones: published statistics, genuine images, a published model."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import unweave
from tests.data.fabricated import SMALL, Shelf, channels_first, h5, noise
from unweave.data.distances import factor_importance

GENUINE = Path(__file__).parents[3] / "shared" / "genuine" / "shapes3d"
FACTORS = [[5, 1, 2, 0, 2, 4], [9, 2, 3, 1, 0, 0], [6, 2, 9, 4, 1, 4]]  # of the genuine images, found by fitting
TABLE_A1 = {  # Michlo et al. 2023
    "random": 0.2432,
    "wall_hue": 0.1122,
    "floor_hue": 0.1086,
    "object_hue": 0.0416,
    "shape": 0.0207,
    "scale": 0.0182,
    "orientation": 0.0116,
}
TABLE_A2 = (0.502585, 0.578760, 0.603450)


@pytest.fixture
def genuine() -> Path:
    if not GENUINE.is_dir():
        pytest.skip("the shared folder with genuine images is not beside the project")
    return GENUINE


def test_distances_and_means_are_the_published_ones_of_3d_shapes(generator: torch.Generator) -> None:
    data = unweave.load("shapes3d_drawn")
    measured = {row.factor: row.mean for row in factor_importance(data, generator, pairs=3000)}
    assert measured == pytest.approx(TABLE_A1, rel=0.1)
    hues = torch.cartesian_prod(*[torch.arange(10)] * 3)  # (1000, 3): each colour of each material, over random views
    views = data.space.sample(len(hues), generator)[:, 3:]
    means = data.images(torch.cat([hues, views], dim=1)).float().div(255).mean((0, 2, 3))
    assert means.tolist() == pytest.approx(TABLE_A2, abs=0.005)


def test_genuine_images_are_drawn_again(genuine: Path) -> None:
    images = torch.from_numpy(np.load(genuine / "images.npz")["lossless"]).permute(0, 3, 1, 2)
    drawn = unweave.load("shapes3d_drawn").images(torch.tensor(FACTORS))
    errors = (drawn.float() - images.float()).div(255).square().mean((1, 2, 3))
    assert errors.max() < 0.0005


def test_a_model_of_the_official_images_reconstructs_drawn_ones(genuine: Path, generator: torch.Generator) -> None:
    """The model reconstructs genuine images with 0.0009 to 0.0016, and Rooms3D with 0.132."""
    weights = {name: torch.from_numpy(array) for name, array in np.load(genuine / "beta_vae.npz").items()}
    images = unweave.load("shapes3d_drawn").sample(200, generator).images.float() / 255
    errors = (_reconstruct(images, weights) - images).square().mean((1, 2, 3))
    assert errors.mean() < 0.002
    assert errors.max() < 0.005


def _reconstruct(images: Tensor, weights: dict[str, Tensor]) -> Tensor:
    """Encode and decode by the net of eageby/disentangled-representations, whose features are (H, W, C)."""
    x = images
    for i in range(4):
        x = F.relu(F.conv2d(x, weights[f"encoder.conv{i}.weight"], weights[f"encoder.conv{i}.bias"], stride=2))
    mean = x.permute(0, 2, 3, 1).flatten(1) @ weights["encoder.mean.weight"] + weights["encoder.mean.bias"]
    x = F.relu(mean @ weights["decoder.linear.weight"] + weights["decoder.linear.bias"])
    x = x.view(-1, 2, 2, 64).permute(0, 3, 1, 2)
    for i in range(4):
        x = F.conv_transpose2d(x, weights[f"decoder.upconv{i}.weight"], weights[f"decoder.upconv{i}.bias"], stride=2)
        x = F.relu(x)
    return F.conv_transpose2d(x, weights["decoder.upconv4.weight"], weights["decoder.upconv4.bias"]).sigmoid()


def test_the_camera_turns_and_the_object_grows() -> None:
    data = unweave.load("shapes3d_drawn")
    red, green, blue = 0, 3, 7
    line = data.space.traverse(torch.tensor([red, green, blue, 0, 2, 7]), "scale")
    areas = ((data.images(line)[:, 2] > 60) & (data.images(line)[:, 1] < 60)).sum((1, 2))
    assert (areas.diff() > 0).all()
    turned = data.images(data.space.traverse(torch.tensor([red, green, blue, 0, 2, 0]), "orientation"))
    right, left = turned[0, 1, 26, 55:].float().mean(), turned[14, 1, 26, :9].float().mean()
    assert right < left < turned[7, 1, 26, :9].float().mean()  # the wall at the right has the lamp behind it
    sky = turned[:, :, :8].float().mean((0, 2, 3)).round().tolist()
    assert sky == [154, 226, 250]


def test_it_says_that_it_is_a_reconstruction() -> None:
    data = unweave.load("shapes3d_drawn", size=16)
    assert "reconstruction" in data.card.title
    assert data.space == unweave.data.SETS["shapes3d"].card.space


def test_shapes3d_reads_the_h5_file_in_its_order(shelf: Shelf) -> None:
    images = noise(12, 64, 64, 3)
    shelf.put("shapes3d", [h5(images)], SMALL)
    data = unweave.load("shapes3d")
    assert torch.equal(data.rows(torch.arange(12)), channels_first(images))
    assert torch.equal(data.images(torch.tensor([[2, 0, 1]])), channels_first(images)[[9]])
