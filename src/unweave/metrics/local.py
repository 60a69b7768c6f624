"""Local disentanglement: a metric within neighbourhoods of points."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError
from unweave.factors import FactorSpace
from unweave.metrics.mig import mig
from unweave.metrics.modularity import modularity
from unweave.metrics.scoring.chosen_points import Represent, check_positive, codes_of, torch_generator
from unweave.metrics.scoring.inputs import Floats
from unweave.settings import Bins, Count, Fraction, Seed


@dataclass(frozen=True, eq=False)
class Local:
    """The scores of all neighbourhoods, their mean at each radius and, as ``score``, the mean over radii."""

    rho: Floats  # (R,)
    per_rho: Floats  # (R,)
    per_neighbourhood: Floats  # (R, neighbourhoods)

    @property
    def score(self) -> float:
        """Mean over all radii."""
        return float(self.per_rho.mean())


def local(
    metric: Callable[..., Any],
    represent: Represent,
    space: FactorSpace,
    *,
    rho: Fraction | Sequence[Fraction] = 0.1,
    neighbourhoods: Count = 20,
    points: Count = 10_000,
    bins: Bins = 5,
    fixed: Iterable[str | int] = (),
    min_values: Count = 10,
    seed: Seed = 0,
) -> Local:
    """Compute the mean score of a metric over neighbourhoods of random points (Rhodes & Lee 2021, sec. 5.3).

    Factors that keep the value of the centre are constant in a neighbourhood and therefore left out of the score; in
    the authors' code they enter it as uninitialised memory. Cyclic factors wrap around, where the authors' code stops
    at the ends. All radii share the same centres.

    Args:
        metric: A metric of codes and factors, such as :func:`mig`.
        represent: A function from points (n, K) of the space to codes (n, D).
        space: The factors to draw points from.
        rho: The radius of a neighbourhood as a fraction of each factor's range, or several.
        neighbourhoods: The number of centres.
        points: The number of points that are drawn uniformly in each neighbourhood.
        bins: The number of bins, for metrics that bin.
        fixed: The factors that keep the value of the centre, besides categorical ones.
        min_values: Factors with fewer values keep the value of the centre too, as in the authors' code.
        seed: The seed of the centres and points.

    Returns:
        The mean score for each radius, with the scores of the neighbourhoods.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import local, mig
        >>> space = unweave.FactorSpace.of(x=30, y=30)
        >>> round(local(mig, lambda points: points.float(), space, rho=0.5, neighbourhoods=3).score, 2)
        0.53
    """
    check_positive("local", neighbourhoods=neighbourhoods, points=points)
    if not callable(metric) or list(inspect.signature(metric).parameters)[:2] != ["codes", "factors"]:
        raise InputError("local: the metric must be a function of codes and factors, like unweave.metrics.mig.")
    if isinstance(fixed, str):
        raise InputError(f"local: fixed must be a list of factors, got {fixed!r}.")
    try:
        radii = np.atleast_1d(np.asarray(rho, np.float64))
    except (TypeError, ValueError) as error:
        raise InputError(f"local: rho must be a number or a list of numbers, got {rho!r}.") from error
    if not radii.size:
        raise InputError("local: rho must have at least one radius, got none.")
    small = [axis for axis, size in enumerate(space.sizes) if size < min_values]
    still = {space.axis(factor) for factor in fixed} | set(small)
    still |= {axis for axis, kind in enumerate(space.kinds) if kind == "categorical"}
    moving = [axis for axis in range(len(space)) if axis not in still]
    for radius in radii.tolist():
        if not 0 < radius <= 1:
            raise InputError(
                f"local: rho must be above 0 and at most 1, a fraction of each factor's range, got {radius}."
            )
        if not any(int(radius * space.sizes[axis] + 1e-9) for axis in moving):
            raise InputError(f"local: no factor of this space can vary at rho = {radius}; use a larger one ({space}).")
    settings = {"bins": bins} if "bins" in inspect.signature(metric).parameters else {}
    generator = torch_generator(seed)
    centers = space.sample(neighbourhoods, generator)
    scores = np.empty((len(radii), neighbourhoods))
    for row, radius in enumerate(radii.tolist()):
        for column, center in enumerate(centers):
            near = space.near(center, radius, points, generator, fixed=still)
            scores[row, column] = metric(codes_of("local", represent, near), near, **settings).score
    return Local(radii, scores.mean(1), scores)


def local_mig(represent: Represent, space: FactorSpace, **settings: Any) -> Local:
    """Compute the local MIG (Rhodes & Lee 2021), with the settings of :func:`local`.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import local_mig
        >>> space = unweave.FactorSpace.of(x=30, y=30)
        >>> round(local_mig(lambda points: points.float(), space, neighbourhoods=3).score, 2)
        0.9
    """
    return local(mig, represent, space, **settings)


def local_modularity(represent: Represent, space: FactorSpace, **settings: Any) -> Local:
    """Compute the local modularity (Rhodes & Lee 2021), with the settings of :func:`local`.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import local_modularity
        >>> space = unweave.FactorSpace.of(x=30, y=30)
        >>> round(local_modularity(lambda points: points.float(), space, neighbourhoods=3).score, 2)
        1.0
    """
    return local(modularity, represent, space, **settings)
