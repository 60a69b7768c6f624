"""Mutual information of a real number and a class, from nearest neighbours (Ross 2014), by sorting."""

from __future__ import annotations

import numpy as np
from scipy.special import digamma

from unweave.metrics.inputs import Floats, Integers


def neighbour_information(values: Floats, classes: Integers, *, neighbours: int) -> float:
    """Ross's estimate in nats, never below 0: what scikit-learn's ``mutual_info_classif`` gives for one feature.

    Each value's distance to its k-th neighbour of the same class is compared with how many values of any class lie
    nearer. On a line both are found by sorting, in O(N log N) for all values at once. Classes with one member say
    nothing of distances and are left out. Equal values must have been set apart by noise beforehand.
    """
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
    """The distance of each sorted value to its k-th nearest: the narrowest window of k + 1 values around it."""
    n = len(ordered)
    distance = np.full(n, np.inf)
    for below in range(k + 1):  # of the k neighbours, this many are smaller
        first, last = np.arange(n) - below, np.arange(n) + k - below
        fits = (first >= 0) & (last < n)
        span = np.maximum(ordered - ordered[first.clip(0)], ordered[last.clip(max=n - 1)] - ordered)
        distance = np.where(fits, np.minimum(distance, span), distance)
    return distance


def _strictly_within(ordered: Floats, centers: Floats, reach: Floats) -> Integers:
    """How many of the sorted values are nearer to each centre than its reach, the centre itself included.

    Centre ± reach is rounded, so a neighbour at exactly that distance may fall on either side: the distances of the
    values at both ends are compared themselves.
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
