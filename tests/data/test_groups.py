from __future__ import annotations

import itertools

import pytest
import torch

from unweave.data.groups import GROUPS, NearPairs, RankedTriplets, Triplets, Walks
from unweave.errors import InputError
from unweave.factors import FactorSpace

SPACE = FactorSpace.of(a=7, b=4, c=1, d=5)


@pytest.mark.parametrize("name", GROUPS)
def test_points_are_on_the_grid(name: str, generator: torch.Generator) -> None:
    kind = GROUPS[name]()
    points = kind.points(SPACE, 500, generator)
    assert points.shape == (kind.members, 500, 4)
    SPACE.check(points.flatten(0, 1))


def test_pairs_by_radius(generator: torch.Generator) -> None:
    first, second = NearPairs(changed=2, radius=2).points(SPACE, 20_000, generator)
    steps = (second - first).abs()
    assert (steps > 0).sum(1).eq(2).all()
    assert steps.max() == 2
    middle = (second - first)[(first[:, 0] == 3) & (second[:, 0] != 3), 0]
    shares = torch.stack([(middle == step).float().mean() for step in (-2, -1, 1, 2)])
    torch.testing.assert_close(shares, torch.full((4,), 0.25), atol=0.04, rtol=0)
    corner = second[(first[:, 0] == 0) & (second[:, 0] != 0), 0]
    assert set(corner.tolist()) == {1, 2}


def test_negatives_are_farther_than_positives(generator: torch.Generator) -> None:
    anchor, positive, negative = Triplets(changed=1, radius=2).points(SPACE, 5_000, generator)
    near, far = (positive - anchor).abs(), (negative - anchor).abs()
    assert (near > 0).sum(1).eq(1).all()
    assert (far >= near).all()
    assert set((far > 0).sum(1).tolist()) == {2, 3}
    with pytest.raises(InputError, match="only 3 factors can change"):
        Triplets(changed=3, more=1).points(SPACE, 1, generator)


def test_ranked_triplets_by_the_distances_of_disent(generator: torch.Generator) -> None:
    """Its factor_dist sums |difference| / max(1, size − 1) as fractions, and the positive is not farther."""
    kind = RankedTriplets()
    anchor, positive, negative = kind.points(SPACE, 2_000, generator)
    scale = torch.tensor([6, 3, 1, 4])

    def distance(other: torch.Tensor) -> torch.Tensor:
        total: torch.Tensor = ((other - anchor).abs() * (12 / scale)).sum(1)  # in twelfths
        return total

    assert (distance(positive) <= distance(negative) + 1e-9).all()
    one, other = torch.tensor([[0, 0, 0, 0]]), torch.tensor([[6, 1, 0, 2]])
    expected = {"scaled": 1 + 1 / 3 + 1 / 2, "manhattan": 9, "factors": 3}
    for name, value in expected.items():
        assert float(RankedTriplets(distance=name).between(SPACE, one, other)) == pytest.approx(value)  # type: ignore[arg-type]


def test_walks_are_uniform_over_possible_steps(generator: torch.Generator) -> None:
    """From a corner of a 3 × 3 grid one step leads to 2 points, and two steps back with probability 1/3 each."""
    space = FactorSpace.of(a=3, b=3)
    anchor, near, far = Walks(near=1, far=1).points(space, 30_000, generator)
    assert (near - anchor).abs().sum(1).eq(1).all()
    assert (far - near).abs().sum(1).eq(1).all()
    corner = (anchor == 0).all(1)
    assert (near[corner, 0] == 1).float().mean() == pytest.approx(0.5, abs=0.03)
    assert (far[corner] == 0).all(1).float().mean() == pytest.approx(1 / 3, abs=0.03)
    reached = {tuple(point) for point in Walks(near=8).points(space, 5_000, generator)[1].tolist()}
    assert reached == set(itertools.product(range(3), repeat=2))
