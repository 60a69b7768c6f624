"""Groups of images that belong together, as weak supervision: pairs and triplets of points of a factor space."""

from __future__ import annotations

from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import Tensor

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.settings import Settings


class Groups(Settings):
    """A way of drawing groups of points. A kind of your own defines ``members`` and :meth:`points`."""

    members: ClassVar[int]  # points in a group

    def points(self, space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
        """Draw n groups: points (members, n, K)."""
        raise NotImplementedError


class NearPairs(Groups):
    """Pairs that differ in ``changed`` factors, each by at most ``radius`` steps (Disent's pairs by radius).

    The new value is uniform over the other values within the radius. Factors do not wrap around.
    """

    title: ClassVar[str] = "the pairs by radius"
    members: ClassVar[int] = 2
    changed: int | tuple[int, int] | None = None  # a number, or a range of numbers; None: 1 to all factors
    radius: int = Field(default=1, ge=1)

    def points(self, space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
        """Draw n pairs (2, n, K)."""
        pairs = space.pairs(n, self.changed, generator)
        moved = _moved(pairs.first, _limits(space), self.radius, generator)
        return torch.stack([pairs.first, torch.where(pairs.changed, moved, pairs.first)])


class Triplets(Groups):
    """An anchor; a positive that differs in ``changed`` factors by at most ``radius`` steps; a negative farther away.

    The negative differs in the same factors, by at least as many steps, and in ``more`` others at least.
    """

    title: ClassVar[str] = "the triplets"
    members: ClassVar[int] = 3
    changed: int = Field(default=1, ge=1)
    more: int = Field(default=1, ge=0)
    radius: int = Field(default=1, ge=1)

    def points(self, space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
        """Draw n triplets (3, n, K)."""
        limits = _limits(space)
        changeable = int((limits > 0).sum())
        least = self.changed + self.more
        if least > changeable:
            raise InputError(f"{self.title}: changed + more is {least}, but only {changeable} factors can change.")
        anchor = space.sample(n, generator)
        order = torch.rand(n, len(space), generator=generator).masked_fill(limits == 0, 2.0)
        rank = order.argsort(-1).argsort(-1)  # (n, K): the factors that change first
        count = torch.randint(least, changeable + 1, (n, 1), generator=generator)
        near = _moved(anchor, limits, self.radius, generator)
        positive = torch.where(rank < self.changed, near, anchor)
        steps = (positive - anchor).abs().clamp(min=1)
        negative = torch.where(rank < count, _beyond(anchor, limits, steps, generator), anchor)
        return torch.stack([anchor, positive, negative])


class RankedTriplets(Groups):
    """An anchor and two random points, of which the one nearer to the anchor is the positive (Disent's default).

    The distance is the sum over factors of the difference, divided by the largest one with ``distance="scaled"``, or
    the number of factors that differ.
    """

    title: ClassVar[str] = "the ranked triplets"
    members: ClassVar[int] = 3
    distance: Literal["scaled", "manhattan", "factors"] = "scaled"

    def points(self, space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
        """Draw n triplets (3, n, K)."""
        anchor, first, second = space.sample(3 * n, generator).unflatten(0, (3, n))
        swapped = self.between(space, anchor, first) > self.between(space, anchor, second)  # (n,)
        positive = torch.where(swapped[:, None], second, first)
        return torch.stack([anchor, positive, torch.where(swapped[:, None], first, second)])

    def between(self, space: FactorSpace, one: Tensor, other: Tensor) -> Tensor:
        """Return the distances (n,) of points (n, K)."""
        if self.distance == "factors":
            return (one != other).sum(1)
        steps = (one - other).abs().double()
        return (steps / _limits(space).clamp(min=1) if self.distance == "scaled" else steps).sum(1)


class Walks(Groups):
    """An anchor, the point after 1 to ``near`` random steps, and the one 1 to ``far`` steps later (Disent's walks).

    A step changes one factor by one, uniformly over all steps that stay on the grid.
    """

    title: ClassVar[str] = "the random walks"
    members: ClassVar[int] = 3
    near: int = Field(default=8, ge=1, le=10_000)
    far: int = Field(default=32, ge=1, le=10_000)

    def points(self, space: FactorSpace, n: int, generator: torch.Generator) -> Tensor:
        """Draw n walks (3, n, K)."""
        anchor = space.sample(n, generator)
        positive = _walked(anchor, _limits(space), self.near, generator)
        return torch.stack([anchor, positive, _walked(positive, _limits(space), self.far, generator)])


GROUPS: dict[str, type[Groups]] = {
    "near_pairs": NearPairs,
    "triplets": Triplets,
    "ranked_triplets": RankedTriplets,
    "walks": Walks,
}


def _limits(space: FactorSpace) -> Tensor:
    return torch.tensor(space.sizes) - 1  # (K,): the largest value of each factor


def _moved(points: Tensor, limits: Tensor, radius: int, generator: torch.Generator) -> Tensor:
    """Redraw every factor within ``radius`` steps, uniformly over the other values; constant factors stay."""
    below = points.clamp(max=radius)  # (n, K): how many values there are on either side
    above = (limits - points).clamp(max=radius)
    drawn = _below(below + above, generator)
    return torch.where(drawn < below, points - below + drawn, points + 1 + drawn - below).minimum(limits)


def _beyond(points: Tensor, limits: Tensor, steps: Tensor, generator: torch.Generator) -> Tensor:
    """Redraw every factor at a distance of at least ``steps`` (n, K), or as far as possible."""
    steps = steps.minimum(points.maximum(limits - points))
    below = (points - steps + 1).clamp(min=0)  # values 0 … points − steps
    above = (limits - points - steps + 1).clamp(min=0)  # values points + steps … limits
    drawn = _below(below + above, generator)
    return torch.where(drawn < below, drawn, points + steps + drawn - below).minimum(limits)


def _walked(points: Tensor, limits: Tensor, most: int, generator: torch.Generator) -> Tensor:
    count = torch.randint(1, most + 1, (len(points), 1), generator=generator)
    rows = torch.arange(len(points))
    for step in range(most):
        possible = torch.cat([points > 0, points < limits], dim=1)  # (n, 2K): one down, one up
        chances = torch.rand(possible.shape, generator=generator).masked_fill(~possible, -1)
        chosen = chances.argmax(1)  # (n,)
        moved = points.clone()
        moved[rows, chosen % points.shape[1]] += torch.where(chosen < points.shape[1], -1, 1)
        points = torch.where((step < count) & possible.any(1, keepdim=True), moved, points)
    return points


def _below(counts: Tensor, generator: torch.Generator) -> Tensor:
    """Draw integers from 0 to count − 1, and 0 where there are none."""
    return torch.randint(2**62, counts.shape, generator=generator) % counts.clamp(min=1)
