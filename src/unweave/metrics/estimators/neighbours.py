"""Mutual information between a real variable and a class by nearest neighbours (Ross 2014), found by sorting."""

from __future__ import annotations

import numpy as np

from unweave.metrics.scoring.inputs import Floats, Integers


def neighbour_information(values: Floats, classes: Integers, *, neighbours: int) -> float:
    """Return Ross's estimate in nats, at least 0, as scikit-learn's ``mutual_info_classif`` does for one feature.

    The distance of each value to its k-th neighbour of the same class is compared with the number of values of any
    class that are closer. In one dimension both are found by sorting, in O(N log N) for all values. Classes with a
    single member are left out. Equal values must have been separated by noise beforehand.
    """
    from scipy.special import digamma

    ordered = np.sort(values)
    radius, used, counts = [], [], []
    for label in np.unique(classes):
        member = np.sort(values[classes == label])
        if len(member) > 1:
            k = min(neighbours, len(member) - 1)
            radius.append(_kth_distance(member, k))
            used.append(member)
            counts.append((k, len(member)))
    if not used:
        return 0.0
    reach, points = np.concatenate(radius), np.concatenate(used)
    everyone = np.sort(points) if len(points) < len(ordered) else ordered
    nearer = _strictly_within(everyone, points, reach)
    sizes = np.array([n for _, n in counts])
    inner = sum(n * digamma(k) for k, n in counts) / len(points)
    own = (sizes * digamma(sizes)).sum() / len(points)
    return float(max(0.0, digamma(len(points)) + inner - own - digamma(np.maximum(nearer, 1)).mean()))


def _kth_distance(ordered: Floats, k: int) -> Floats:
    """Return each sorted value's distance to its k-th neighbour: the narrowest window of k + 1 values around it."""
    n = len(ordered)
    distance = np.full(n, np.inf)
    for below in range(k + 1):  # how many of the k neighbours are smaller
        first, last = np.arange(n) - below, np.arange(n) + k - below
        fits = (first >= 0) & (last < n)
        span = np.maximum(ordered - ordered[first.clip(0)], ordered[last.clip(max=n - 1)] - ordered)
        distance = np.where(fits, np.minimum(distance, span), distance)
    return distance


def _strictly_within(ordered: Floats, centers: Floats, reach: Floats) -> Integers:
    """Count the sorted values that are closer to each centre than its reach, including the centre itself.

    Because centre ± reach is rounded, a neighbour at exactly that distance may fall on either side; therefore the
    distances of the values at both ends are compared directly.
    """
    first = np.searchsorted(ordered, centers - reach, "left")
    end = np.searchsorted(ordered, centers + reach, "right")
    last = len(ordered) - 1
    for _ in range(2):
        first += (first <= last) & (centers - ordered[first.clip(max=last)] >= reach)
        first -= (first > 0) & (centers - ordered[(first - 1).clip(0)] < reach)
        end -= (end > 0) & (ordered[(end - 1).clip(0)] - centers >= reach)
        end += (end <= last) & (ordered[end.clip(max=last)] - centers < reach)
    return end - first
