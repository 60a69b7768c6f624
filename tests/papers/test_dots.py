"""Whether columns of a Jacobian move one dot or several."""

from __future__ import annotations

import math

import pytest
import torch

import unweave
from unweave.papers.local_disentanglement.dots import discs, share_of_one_dot, spread_places


def test_places_are_apart_and_away_from_the_edge(generator: torch.Generator) -> None:
    places = spread_places(20, generator)
    assert places.shape == (20, 6)
    for row in places.tolist():
        dots = [(row[0], row[1]), (row[2], row[3]), (row[4], row[5])]
        for first in range(3):
            assert min(dots[first]) >= 10  # two radii
            assert max(dots[first]) <= 63 - 10
            for second in range(first):
                assert math.dist(dots[first], dots[second]) >= 4 * 0.08 * 64


def test_discs_cover_the_dots(generator: torch.Generator) -> None:
    places = spread_places(5, generator)
    data = unweave.load("three_dots", size=32)
    black = data.images(places)[:, 0] < 255
    masks = discs(places, 32) > 0
    assert torch.equal(black & ~masks.any(1), torch.zeros_like(black))
    assert int(masks.sum(1).max()) == 1  # they do not overlap
    assert int((black[:, None] & masks).sum((2, 3)).min()) >= 15  # of about 20 pixels of a disc


@pytest.mark.parametrize(("amounts", "share"), [((1, 0, 0), 1.0), ((1, 1, 1), 1 / 3), ((2, 1, 0), 0.8)])
def test_the_share_is_that_of_the_strongest_dot(
    amounts: tuple[float, ...], share: float, generator: torch.Generator
) -> None:
    """Columns that are constant on each disc, with these amplitudes; their energy is the square."""
    places = spread_places(1, generator)
    masks = discs(places, 33)
    masks = masks / masks.sum((2, 3), keepdim=True).sqrt()  # each disc has energy 1
    column = torch.einsum("k,bkhw->bhw", torch.tensor(amounts, dtype=torch.float64), masks)
    assert share_of_one_dot(column[:, None, None], places) == pytest.approx(share)
    unused = torch.zeros_like(column)
    assert share_of_one_dot(torch.stack([column, unused], 1)[:, :, None], places) == pytest.approx(share)
