"""Linear support vector machines of one sparse latent, as LIBLINEAR fits them, at a cost of the active entries.

``LinearSVC(C, class_weight="balanced")`` of one latent has two variables, the weight and the intercept, both with an L2
penalty; the loss is the squared hinge, each class against the rest. Inactive samples of a class are all alike and
count as one with their number as weight. The minimum is searched as LIBLINEAR does, by Newton steps in a trust region
(Lin & Moré 1999), with its start and its stopping rule, so that predictions are those of dense codes.

The functions are compiled by numba on first use; import this module only where they are called.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.metrics.estimators.trees import compiled

TOLERANCE, STEPS = 1e-4, 1000  # LinearSVC's defaults


@compiled
def svm_accuracies(
    starts: Any, rows: Any, values: Any, rest: Any, labels: Any, counts: Any, test: Any, test_labels: Any, cost: Any
) -> Any:
    """Return the test accuracy (D,) of one machine per latent.

    Args:
        starts: Where the active entries of each latent begin and end (D + 1,).
        rows: The rows of the active entries, sorted by class within each latent.
        values: Their values.
        rest: The value of inactive samples, by latent (D,).
        labels: The classes (N,), from 0 without gaps.
        counts: The number of samples in each class.
        test: The starts, rows and values of the entries of the test sample.
        test_labels: Its classes (M,), -1 for those that are not in the training sample.
        cost: The cost of a sample before classes are balanced, ``C`` in scikit-learn.

    Returns:
        The share of the test sample that each machine classifies correctly.
    """
    test_starts, test_rows, test_values = test
    classes, latents = counts.size, rest.size
    machines = 1 if classes == 2 else classes
    weight, intercept = np.empty(machines), np.empty(machines)
    test_counts = np.zeros(classes, np.int64)
    for row in range(test_labels.size):
        if test_labels[row] >= 0:
            test_counts[test_labels[row]] += 1
    silent = balance(counts, cost, labels.size)
    idle, idle_test = np.empty(classes, np.int64), np.empty(classes, np.int64)
    accuracy = np.empty(latents)
    for latent in range(latents):
        begin, end = starts[latent], starts[latent + 1]
        idle[:], idle_test[:] = counts, test_counts
        for entry in range(begin, end):
            idle[labels[rows[entry]]] -= 1
        for machine in range(machines):
            member = 1 if classes == 2 else machine
            balanced = labels.size / (classes * counts[member])
            other = labels.size / (classes * counts[0]) if classes == 2 else 1.0
            few = max(min(counts[member], labels.size - counts[member]), 1)
            entries = (rows[begin:end], values[begin:end], rest[latent], labels, member)
            groups = (idle[member], idle.sum() - idle[member])
            limit = TOLERANCE * few / labels.size
            weight[machine], intercept[machine] = fit(entries, groups, cost * balanced, cost * other, limit)
        if classes == 2 and begin == end:
            intercept[0] = silent
        correct = 0
        for entry in range(test_starts[latent], test_starts[latent + 1]):
            truth = test_labels[test_rows[entry]]
            if truth >= 0:
                idle_test[truth] -= 1
            correct += winner(weight, intercept, test_values[entry]) == truth
        accuracy[latent] = (correct + idle_test[winner(weight, intercept, rest[latent])]) / test_labels.size
    return accuracy


@compiled
def balance(counts: Any, cost: Any, n: Any) -> Any:
    """Return the sign of the intercept for a latent that is never active, with two classes.

    Balanced classes have equal costs, so their difference is what rounding leaves of a sum over all samples, class by
    class. LIBLINEAR predicts one of the classes by it.
    """
    total = 0.0
    for _ in range(counts[0]):
        total -= cost * (n / (2 * counts[0]))
    for _ in range(counts[1]):
        total += cost * (n / (2 * counts[1]))
    return np.sign(total)


@compiled
def winner(weight: Any, intercept: Any, value: Any) -> Any:
    """Return the class that is predicted for a value."""
    if weight.size == 1:
        return np.int64(weight[0] * value + intercept[0] > 0)
    best, found = -np.inf, 0
    for k in range(weight.size):
        score = weight[k] * value + intercept[k]
        if score > best:
            best, found = score, k
    return found


@compiled
def fit(entries: Any, groups: Any, high: Any, low: Any, limit: Any) -> Any:
    """Return weight and intercept of one machine; members cost ``high`` each and the others ``low``.

    The loss is quadratic around the present weights, so each step solves for its minimum within the trust region, and
    the region grows or shrinks with how well the quadratic predicted the loss.

    Args:
        entries: The rows and values of the active entries, the value of inactive samples, the class of each sample
            (N,), and the class that the machine tells from the others.
        groups: The number of inactive samples in that class, and outside of it.
        high: The cost of a sample of the class.
        low: The cost of a sample of another class.
        limit: The share of its first length to which the gradient falls before the fit stops.

    Returns:
        The weight and the intercept.
    """
    a, b = 0.0, 0.0
    loss, ga, gb, haa, hab, hbb = quadratic(entries, groups, high, low, a, b)
    start = radius = np.sqrt(ga * ga + gb * gb)
    step = 1
    while step <= STEPS and np.sqrt(ga * ga + gb * gb) > limit * start:
        sa, sb, ra, rb = conjugate_step(radius, ga, gb, haa, hab, hbb)
        along = ga * sa + gb * sb
        predicted = -0.5 * (along - (sa * ra + sb * rb))
        new = quadratic(entries, groups, high, low, a + sa, b + sb)
        actual, length = loss - new[0], np.sqrt(sa * sa + sb * sb)
        if step == 1:
            radius = min(radius, length)
        excess = new[0] - loss - along
        stretch = 4.0 if excess <= 0 else max(0.25, -0.5 * along / excess)
        if actual < 1e-4 * predicted:
            radius = min(max(stretch, 0.25) * length, 0.5 * radius)
        elif actual < 0.25 * predicted:
            radius = max(0.25 * radius, min(stretch * length, 0.5 * radius))
        elif actual < 0.75 * predicted:
            radius = max(0.25 * radius, min(stretch * length, 4.0 * radius))
        else:
            radius = max(radius, min(stretch * length, 4.0 * radius))
        if actual > 1e-4 * predicted:
            step += 1
            a, b = a + sa, b + sb
            loss, ga, gb, haa, hab, hbb = new
        if max(abs(actual), abs(predicted)) <= 1e-12 * abs(loss) or (abs(actual) <= 0 and predicted <= 0):
            break
    return a, b


@compiled
def quadratic(entries: Any, groups: Any, high: Any, low: Any, a: Any, b: Any) -> Any:
    """Return the loss at weight a and intercept b, its gradient and its second derivatives.

    Args:
        entries: The rows and values of the active entries, the value of inactive samples, the class of each sample
            (N,), and the class that the machine tells from the others.
        groups: The number of inactive samples in that class, and outside of it.
        high: The cost of a sample of the class.
        low: The cost of a sample of another class.
        a: The weight of the latent.
        b: The intercept.

    Returns:
        The loss, its derivatives by a and b, and its second derivatives by a, by both, and by b.
    """
    rows, values, rest, labels, member = entries
    loss, ga, gb, haa, hab, hbb = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for i in range(rows.size):
        x, inside = values[i], labels[rows[i]] == member
        sign, cost = (1.0, high) if inside else (-1.0, low)
        gap = 1 - sign * (a * x + b)
        if gap > 0:
            loss += cost * gap * gap
            ga -= cost * sign * gap * x
            gb -= cost * sign * gap
            haa += cost * x * x
            hab += cost * x
            hbb += cost
    for group in range(2):
        sign, cost = (1.0, high * groups[0]) if group == 0 else (-1.0, low * groups[1])
        gap = 1 - sign * (a * rest + b)
        if gap > 0:
            loss += cost * gap * gap
            ga -= cost * sign * gap * rest
            gb -= cost * sign * gap
            haa += cost * rest * rest
            hab += cost * rest
            hbb += cost
    return loss + (a * a + b * b) / 2.0, a + 2 * ga, b + 2 * gb, 1 + 2 * haa, 2 * hab, 1 + 2 * hbb


@compiled
def conjugate_step(radius: Any, ga: Any, gb: Any, haa: Any, hab: Any, hbb: Any) -> Any:
    """Return the step of conjugate gradients, up to the trust region, and what is left of the negative gradient.

    Args:
        radius: The radius of the trust region.
        ga: The derivative of the loss by the weight.
        gb: The derivative by the intercept.
        haa: The second derivative by the weight.
        hab: The second derivative by both.
        hbb: The second derivative by the intercept.

    Returns:
        The change of the weight and of the intercept, then the two entries of the remaining negative gradient.
    """
    sa, sb, ra, rb = 0.0, 0.0, -ga, -gb
    da, db = ra, rb
    enough, left = 0.1 * np.sqrt(ga * ga + gb * gb), ra * ra + rb * rb
    while np.sqrt(ra * ra + rb * rb) > enough:
        ha, hb = haa * da + hab * db, hab * da + hbb * db
        pace = left / (da * ha + db * hb)
        if np.sqrt((sa + pace * da) ** 2 + (sb + pace * db) ** 2) > radius:
            sd, ss, dd = sa * da + sb * db, sa * sa + sb * sb, da * da + db * db
            root = np.sqrt(sd * sd + dd * (radius * radius - ss))
            pace = (radius * radius - ss) / (sd + root) if sd >= 0 else (root - sd) / dd
            return sa + pace * da, sb + pace * db, ra - pace * ha, rb - pace * hb
        sa, sb, ra, rb = sa + pace * da, sb + pace * db, ra - pace * ha, rb - pace * hb
        again = ra * ra + rb * rb
        da, db = ra + again / left * da, rb + again / left * db
        left = again
    return sa, sb, ra, rb
