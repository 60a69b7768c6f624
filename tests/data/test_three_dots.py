from __future__ import annotations

import itertools
import math

import pytest
import torch

import unweave


def supersampled(factors: torch.Tensor, size: int, rays: int = 20) -> torch.Tensor:
    """The share of each pixel that no dot covers, counted on a fine lattice of points."""
    points = (torch.arange(size * rays, dtype=torch.float64) + 0.5) / rays
    covered = torch.zeros(size * rays, size * rays, dtype=torch.bool)
    for x, y in factors.view(3, 2).double() * size / 63:
        covered |= (points - x) ** 2 + (points[:, None] - y) ** 2 <= (0.08 * size) ** 2
    return 1 - covered.double().view(size, rays, size, rays).mean((1, 3))


@pytest.mark.parametrize("size", [32, 64, 100])
def test_images_are_within_a_hair_of_exact_coverage(size: int, generator: torch.Generator) -> None:
    data = unweave.load("three_dots", size=size)
    for factors in data.space.sample(6, generator):
        image = data.images(factors[None])[0, 0].double() / 255
        error = (image - supersampled(factors, size)).abs()
        assert error.mean() < 0.004
        if torch.pdist(factors.view(3, 2).double() / 63).min() > 0.2:  # in a notch between dots the nearer one counts
            assert error.max() < 0.07


def test_the_dots_are_alike_so_their_order_does_not_show() -> None:
    data = unweave.load("three_dots")
    dots = [(3, 50), (30, 31), (33, 31)]
    orders = torch.tensor([sum(order, ()) for order in itertools.permutations(dots)])
    images = data.images(orders)
    assert (images == images[0]).all()


def test_x_goes_right_and_y_goes_down_from_edge_to_edge() -> None:
    data = unweave.load("three_dots")
    image = data.images(torch.tensor([[0, 0, 63, 0, 0, 63]]))[0, 0]
    assert image[0, 0] == image[0, 63] == image[63, 0] == 0
    assert image[63, 63] == 255
    moved = data.images(torch.tensor([[40, 20] * 3]))[0, 0]
    assert moved[20, 40] == 0
    assert moved[40, 20] == 255


def test_each_of_four_dots_stays_in_its_quarter_and_reaches_its_edges() -> None:
    """Dots are numbered down the left column, then down the right one, as the arms of MPI3D-Multi are."""
    data = unweave.load("four_dots", size=32)
    quarters = [(0, 0), (0, 16), (16, 0), (16, 16)]  # x and y of their corners
    for dot, (left, top) in enumerate(quarters):
        for x, y in itertools.product((0, 39), repeat=2):
            others = torch.full((8,), 20)
            moved = others.clone()
            moved[2 * dot : 2 * dot + 2] = torch.tensor([x, y])
            images = data.images(torch.stack([others, moved]))[:, 0].int()
            changed = (images[0] != images[1]).nonzero()  # rows are y
            assert changed.amin(0).tolist() >= [top, left]
            assert changed.amax(0).tolist() <= [top + 15, left + 15]
            black = (images[1, top : top + 16, left : left + 16] < 255).nonzero()
            assert black.amin(0)[0] == 0 if y == 0 else black.amax(0)[0] == 15
            assert black.amin(0)[1] == 0 if x == 0 else black.amax(0)[1] == 15


def test_four_dots_have_the_area_of_discs() -> None:
    data = unweave.load("four_dots", size=64)
    image = data.images(data.space.sample(1, torch.Generator().manual_seed(0)))[0, 0]
    covered = (255 - image.double()).sum() / 255
    assert covered.item() == pytest.approx(4 * math.pi * (0.08 * 64) ** 2, rel=0.01)
