"""Mutual information by nearest neighbours: of real vectors with classes (Ross 2014) or with each other (Kraskov 2004).

Of a single real variable, neighbours are found by sorting; of vectors, by a tree, with the largest difference of their
entries as distance.
"""

from __future__ import annotations

import numpy as np

from unweave.metrics.estimators.parallel_fits import each_factor
from unweave.metrics.scoring.inputs import Floats, Integers, Labelled, dead, standardised
from unweave.metrics.scoring.vectors import Columns


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


def separated(values: Floats, rng: np.random.Generator) -> Floats:
    """Scale columns (N, D) to a standard deviation of 1 and separate equal values by the noise of scikit-learn."""
    scale = values.std(0)
    scaled = values / np.where(scale > 0, scale, 1.0)
    noise: Floats = 1e-10 * np.maximum(1, np.abs(scaled).mean(0)) * rng.standard_normal(values.shape)
    return scaled + noise


def kraskov_information(x: Floats, y: Floats, *, neighbours: int) -> float:
    """Return Kraskov's first estimate in nats, at least 0, for x (N, p) and y (N, q).

    For p = q = 1 it is what scikit-learn's ``mutual_info_regression`` computes. Equal values must have been separated
    by noise beforehand.
    """
    from scipy.spatial import KDTree
    from scipy.special import digamma

    k = min(neighbours, len(x) - 1)
    both = np.hstack([x, y])
    reach = KDTree(both).query(both, k + 1, p=np.inf)[0][:, -1]
    nearer = [digamma(np.maximum(_nearer(side, side, reach), 1)).mean() for side in (x, y)]
    return float(max(0.0, digamma(len(x)) + digamma(k) - sum(nearer)))


def vector_information(vectors: Floats, classes: Integers, *, neighbours: int) -> float:
    """Return Ross's estimate in nats, at least 0, for vectors (N, p): :func:`neighbour_information` if p is 1."""
    from scipy.spatial import KDTree
    from scipy.special import digamma

    if vectors.shape[1] == 1:
        return neighbour_information(vectors[:, 0], classes, neighbours=neighbours)
    used, reach, inner, own = [], [], 0.0, 0.0
    for label in np.unique(classes):
        member = vectors[classes == label]
        if (n := len(member)) > 1:
            k = min(neighbours, n - 1)
            reach.append(KDTree(member).query(member, k + 1, p=np.inf)[0][:, -1])
            used.append(member)
            inner, own = inner + n * float(digamma(k)), own + n * float(digamma(n))
    if not used:
        return 0.0
    points = np.concatenate(used)
    nearer = _nearer(points, points, np.concatenate(reach))
    n = len(points)
    return float(max(0.0, digamma(n) + inner / n - own / n - digamma(np.maximum(nearer, 1)).mean()))


def neighbour_table(sample: Labelled, groups: Columns, *, neighbours: int, seed: int) -> Floats:
    """Return the information (G, K) of the columns of each group with each factor, in nats.

    It is Ross's estimate for classes, and Kraskov's for continuous factors. Constant columns have none.

    Args:
        sample: The codes (N, D) and factors (N, K).
        groups: The columns of each of the G groups.
        neighbours: The number k of neighbours; the distance to the k-th one is measured.
        seed: The seed of the noise that separates equal values.

    Returns:
        The information, at least 0.
    """
    rng = np.random.default_rng(seed)
    codes = separated(sample.codes, rng)
    real = None if sample.values is None else separated(np.nan_to_num(sample.values), rng)

    def column(factor: int) -> Floats:
        known, labels = sample.of(factor, codes)
        if real is None or not sample.continuous[factor]:
            return np.array([vector_information(known[:, g], labels, neighbours=neighbours) for g in groups])
        values = real[sample.factors[:, factor] >= 0][:, [factor]]
        return np.array([kraskov_information(known[:, g], values, neighbours=neighbours) for g in groups])

    return _without_constant(sample, groups, np.stack(each_factor(column, range(sample.factors.shape[1])), axis=1))


def vector_table(sample: Labelled, groups: Columns, *, neighbours: int) -> Floats:
    """Return Ross's estimate (G, K) for the columns of each group and the classes of each factor."""
    codes = separated(standardised(sample.codes)[0], np.random.default_rng(0))
    table = np.zeros((len(groups), sample.factors.shape[1]))
    for factor, classes in enumerate(sample.factors.T):
        known = classes >= 0
        for latent, group in enumerate(groups):
            table[latent, factor] = vector_information(codes[known][:, group], classes[known], neighbours=neighbours)
    return _without_constant(sample, groups, table)


def _without_constant(sample: Labelled, groups: Columns, table: Floats) -> Floats:
    """Return the information (G, K) with 0 for groups of constant columns, in which noise would be compared."""
    constant = dead(sample.codes)
    return np.where([[bool(constant[group].all())] for group in groups], 0.0, table)


def _nearer(points: Floats, centers: Floats, reach: Floats) -> Integers:
    """Count the points (N, p) that are closer to each centre (M, p) than its reach, including the centre itself."""
    if points.shape[1] == 1:
        return _strictly_within(np.sort(points[:, 0]), centers[:, 0], reach)
    from scipy.spatial import KDTree

    counts: Integers = KDTree(points).query_ball_point(centers, np.nextafter(reach, 0), p=np.inf, return_length=True)
    return counts


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
