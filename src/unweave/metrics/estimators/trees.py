"""Grow regression trees with exact splits, the weak learners of :mod:`unweave.metrics.estimators.boosting`.

A tree is scikit-learn's ``DecisionTreeRegressor(max_depth=3)``: each node is split halfway between two neighbouring
values of a latent, where the squared error falls most. Latents are sorted once, before boosting. Each level of a tree
partitions the sorted rows of every latent between the nodes and sums the residuals in that order, which gives the error
of every possible split.

Nodes are numbered as in a heap: the children of node ``i`` are ``2 * i + 1`` and ``2 * i + 2``, so left children have
odd numbers. A node that cannot be split has an infinite threshold, which sends all of its rows to the left.

The functions are compiled by numba on first use; import this module only where they are called.
"""

from __future__ import annotations

from typing import Any

import numba
import numpy as np

DEPTH = 3  # scikit-learn's default; grow() keeps the sorted rows of a single level, which is enough for three
NODES, LEAVES = 2**DEPTH - 1, 2**DEPTH
APART = np.float32(1e-7)  # values that are no further apart are equal, as in scikit-learn
TINY = 1e-150  # scikit-learn sets the value of a leaf to 0 if the sum of its second derivatives is smaller
NEGLIGIBLE = np.finfo(np.float64).eps  # scikit-learn stops at nodes with less variance than this


def compiled(function: Any) -> Any:
    """Compile for calls without the interpreter lock. The result is kept on disk if a cache folder is writable."""
    try:
        return numba.njit(nogil=True, cache=True)(function)
    except RuntimeError:  # read-only installation and home folder
        return numba.njit(nogil=True)(function)


@compiled
def boost_classes(
    first: Any,
    last: Any,
    codes: Any,
    order: Any,
    test: Any,
    classes: Any,
    probability: Any,
    inverse: Any,
    shrinkage: Any,
    salt: Any,
    scores: Any,
    test_scores: Any,
    importance: Any,
) -> None:
    """Grow one tree for each class from ``first`` to ``last`` and add it to the scores of that class.

    Args:
        first: The first class, as a row of ``scores``.
        last: The class after the last one.
        codes: The training sample (D, N), float32.
        order: The indices that sort each row of ``codes`` (D, N).
        test: The test sample (D, M), float32.
        classes: The class of each row (N,), as its row in ``scores``; of two classes, -1 and 0.
        probability: The probability of each class (K, N), before this round.
        inverse: The array (N + 1,) whose entry n is 1/n.
        shrinkage: What the value of each leaf is multiplied by.
        salt: The random bits of the round, which choose among equal splits.
        scores: The scores of the training sample (K, N), which are changed; K is 1 if there are two classes.
        test_scores: The scores of the test sample (K, M), which are changed.
        importance: The gains by class and latent (K, D), which those of the tree are added to.
    """
    latents, count = codes.shape
    node_of, test_node, residual = np.empty(count, np.uint8), np.empty(test.shape[1], np.uint8), np.empty(count)
    rows, last_rows = np.empty((latents, count), np.uint32), np.empty(count, np.uint32)
    work = (node_of, rows, last_rows, np.empty(count), np.empty(count))
    feature, threshold, gain = np.empty(NODES, np.int64), np.empty(NODES), np.empty(NODES)
    for k in range(first, last):
        class_residuals(classes, k, probability[k], residual)
        grow(codes, order, residual, inverse, scrambled(salt + np.uint64(k)), work, feature, threshold, gain)
        for node in range(NODES):
            importance[k, feature[node]] += gain[node]
        leaves = class_leaves(classes, k, probability[k], node_of, shrinkage)
        add_leaves(leaves, node_of, scores[k])
        test_node[:] = 0
        for _ in range(DEPTH):
            descend(test, feature, threshold, test_node)
        add_leaves(leaves, test_node, test_scores[k])


@compiled
def boost_values(
    codes: Any,
    order: Any,
    test: Any,
    target: Any,
    inverse: Any,
    shrinkage: Any,
    salt: Any,
    scores: Any,
    test_scores: Any,
    importance: Any,
) -> None:
    """Grow one tree on the differences between ``target`` (N,) and its prediction ``scores`` (N,), and add it to them.

    Args:
        codes: The training sample (D, N), float32.
        order: The indices that sort each row of ``codes`` (D, N).
        test: The test sample (D, M), float32.
        target: The numbers to predict (N,), standardised.
        inverse: The array (N + 1,) whose entry n is 1/n.
        shrinkage: What the value of each leaf is multiplied by.
        salt: The random bits of the round, which choose among equal splits.
        scores: The predictions of the training sample (N,), which are changed.
        test_scores: The predictions of the test sample (M,), which are changed.
        importance: The gain of each latent (D,), which those of the tree are added to.
    """
    latents, count = codes.shape
    node_of, test_node, residual = np.empty(count, np.uint8), np.empty(test.shape[1], np.uint8), np.empty(count)
    rows, last_rows = np.empty((latents, count), np.uint32), np.empty(count, np.uint32)
    work = (node_of, rows, last_rows, np.empty(count), np.empty(count))
    feature, threshold, gain = np.empty(NODES, np.int64), np.empty(NODES), np.empty(NODES)
    if not value_residuals(target, scores, residual):
        return
    grow(codes, order, residual, inverse, scrambled(salt), work, feature, threshold, gain)
    for node in range(NODES):
        importance[feature[node]] += gain[node]
    leaves = value_leaves(target, scores, node_of, shrinkage)
    add_leaves(leaves, node_of, scores)
    test_node[:] = 0
    for _ in range(DEPTH):
        descend(test, feature, threshold, test_node)
    add_leaves(leaves, test_node, test_scores)


@compiled
def class_residuals(classes: Any, k: Any, probability: Any, residual: Any) -> None:
    """Write the differences between a class and its probability.

    Adding and subtracting a large number rounds them to multiples of a power of two such that any sum of them is exact.
    The order of summation then does not matter, and splits that are equal have equal gains.

    Args:
        classes: The class of each row (N,), as its row in ``scores``; of two classes, -1 and 0.
        k: The class whose tree is grown.
        probability: The probability of that class (N,).
        residual: The differences (N,), which are written.
    """
    coarse = 1.5 * 2.0 ** np.ceil(np.log2(residual.size))
    for row in range(residual.size):
        residual[row] = ((classes[row] == k) - probability[row] + coarse) - coarse


@compiled
def value_residuals(target: Any, scores: Any, residual: Any) -> Any:
    """Write the differences between numbers and their predictions, rounded as above; return whether any is left."""
    most = np.abs(target - scores).max()
    if most == 0:
        return False
    coarse = 1.5 * 2.0 ** (np.ceil(np.log2(residual.size)) + np.ceil(np.log2(most)))
    for row in range(residual.size):
        residual[row] = (target[row] - scores[row] + coarse) - coarse
    return True


@compiled
def class_leaves(classes: Any, k: Any, probability: Any, node_of: Any, shrinkage: Any) -> Any:
    """Return the value of each leaf, one Newton step on the logistic loss.

    Args:
        classes: The class of each row (N,), as its row in ``scores``; of two classes, -1 and 0.
        k: The class whose tree is grown.
        probability: The probability of that class (N,).
        node_of: The leaf of each row (N,), as a node of the level below.
        shrinkage: What the value of each leaf is multiplied by.

    Returns:
        The values (LEAVES,), 0 for leaves without rows.
    """
    above, below = np.zeros(LEAVES), np.zeros(LEAVES)
    for row in range(node_of.size):
        p = probability[row]
        above[node_of[row] - NODES] += (classes[row] == k) - p
        below[node_of[row] - NODES] += p * (1 - p)
    for leaf in range(LEAVES):
        above[leaf] = shrinkage * above[leaf] / below[leaf] if below[leaf] > TINY else 0.0
    return above


@compiled
def value_leaves(target: Any, scores: Any, node_of: Any, shrinkage: Any) -> Any:
    """Return the value of each leaf, the mean difference of its rows.

    Args:
        target: The numbers to predict (N,).
        scores: Their predictions (N,).
        node_of: The leaf of each row (N,), as a node of the level below.
        shrinkage: What the value of each leaf is multiplied by.

    Returns:
        The values (LEAVES,), 0 for leaves without rows.
    """
    total, size = np.zeros(LEAVES), np.zeros(LEAVES)
    for row in range(node_of.size):
        total[node_of[row] - NODES] += target[row] - scores[row]
        size[node_of[row] - NODES] += 1
    for leaf in range(LEAVES):
        total[leaf] = shrinkage * total[leaf] / size[leaf] if size[leaf] > 0 else 0.0
    return total


@compiled
def add_leaves(leaves: Any, node_of: Any, scores: Any) -> None:
    """Add the value of its leaf to the score of each row."""
    for row in range(node_of.size):
        scores[row] += leaves[node_of[row] - NODES]


@compiled
def softmax(first: Any, last: Any, scores: Any, probability: Any) -> None:
    """Write the probabilities of the classes (K, N) for the rows from ``first`` to ``last``; a sigmoid if K is 1.

    Args:
        first: The first row.
        last: The row after the last one.
        scores: The scores of the classes (K, N).
        probability: The probabilities (K, N), of which those of the rows are written.
    """
    classes, rows = scores.shape[0], last - first
    most, total = np.full(rows, 0.0 if classes == 1 else -np.inf), np.zeros(rows)
    for k in range(classes):
        for row in range(rows):
            most[row] = max(most[row], scores[k, first + row])
    if classes == 1:  # the other class has a score of 0
        total += np.exp(-most)
    for k in range(classes):
        for row in range(rows):
            probability[k, first + row] = np.exp(scores[k, first + row] - most[row])
            total[row] += probability[k, first + row]
    for k in range(classes):
        for row in range(rows):
            probability[k, first + row] /= total[row]


@compiled
def grow(
    codes: Any, order: Any, residual: Any, inverse: Any, salt: Any, work: Any, feature: Any, threshold: Any, gain: Any
) -> None:
    """Fit one tree to the residuals (N,).

    Args:
        codes: The sample (D, N), float32.
        order: The indices that sort each row of ``codes`` (D, N).
        residual: The residual of each row (N,).
        inverse: The array (N + 1,) whose entry n is 1/n.
        salt: The random bits that choose a latent among equal splits of a node.
        work: Arrays to write to: the leaf of each row (N,), which is a node of the level below, the sorted rows of a
            level (D, N) and of the last one (N,), sums of residuals (N,) and gains (N,).
        feature: The latent that splits each node (NODES,), which is written.
        threshold: The threshold of each node (NODES,), which is written; infinite if it is not split.
        gain: How much each split reduces the squared error (NODES,), which is written.
    """
    node_of, rows, last_rows, sums, gains = work
    latents, count = codes.shape
    begin, end, total = np.zeros(2 * NODES + 1, np.int64), np.zeros(2 * NODES + 1, np.int64), np.zeros(2 * NODES + 1)
    feature[:], threshold[:], gain[:] = 0, np.inf, 0.0
    node_of[:] = 0
    end[0] = count
    for row in range(count):
        total[0] += residual[row]
    for level in range(DEPTH):
        first = 2**level - 1
        best, rank = np.full(NODES, -1.0), np.zeros(NODES, np.uint64)
        for node in range(first, 2 * first + 1):  # the children, if no split is found
            begin[2 * node + 1], end[2 * node + 1], total[2 * node + 1] = begin[node], end[node], total[node]
            begin[2 * node + 2], end[2 * node + 2], total[2 * node + 2] = end[node], end[node], 0.0
        for latent in range(latents):
            if level == 0:
                sorted_rows = order[latent]
                accumulate(sorted_rows, residual, sums)
            else:
                source = order[latent] if level == 1 else rows[latent]
                sorted_rows = rows[latent] if level < DEPTH - 1 else last_rows
                for parent in range((first - 1) // 2, first):
                    low, high, middle = begin[parent], end[parent], end[2 * parent + 1] - begin[parent]
                    partition(source[low:high], sorted_rows[low:high], sums[low:high], middle, node_of, residual)
            for node in range(first, 2 * first + 1):
                low, high = begin[node], end[node]
                here = sorted_rows[low:high]
                most, place = best_split(here, codes[latent], sums[low:high], total[node], inverse, gains, best[node])
                draw = scrambled(salt + np.uint64(node * latents + latent))
                if place > 0 and (most > best[node] or draw > rank[node]):
                    best[node], rank[node] = most, draw
                    feature[node] = latent
                    threshold[node] = codes[latent, here[place - 1]] / 2.0 + codes[latent, here[place]] / 2.0
                    fall = most - total[node] ** 2 * inverse[high - low]
                    gain[node] = fall if fall > NEGLIGIBLE * (high - low) else 0.0
                    left, right = 2 * node + 1, 2 * node + 2
                    end[left], begin[right] = low + place, low + place
                    total[left] = sums[low + place - 1]
                    total[right] = total[node] - total[left]
        descend(codes, feature, threshold, node_of)


@compiled
def accumulate(rows: Any, residual: Any, sums: Any) -> None:
    """Write the running sums of the residuals in the order of the rows."""
    running = 0.0
    for i in range(rows.size):
        running += residual[rows[i]]
        sums[i] = running


@compiled
def partition(source: Any, target: Any, sums: Any, middle: Any, node_of: Any, residual: Any) -> None:
    """Move the rows of the left child to the front, keeping their order, and sum the residuals of each child.

    The loop has no branches, which would be mispredicted, and its indices are unsigned, because numba tests others for
    being negative.

    Args:
        source: The rows of the parent (n,), sorted by one latent.
        target: The same rows by child (n,), which are written.
        sums: The running sums of the residuals in that order (n,), which are written and begin anew at the right child.
        middle: The number of rows in the left child.
        node_of: The child of each row (N,), odd on the left.
        residual: The residual of each row (N,).
    """
    left, offset = np.uint64(0), np.uint64(middle)
    left_sum, both_sum = 0.0, 0.0
    for i in range(source.size):
        row = source[i]
        goes_left = np.uint64(node_of[row] & 1)
        weight = np.float64(goes_left)
        both_sum += residual[row]
        left_sum += residual[row] * weight
        right = offset + np.uint64(i) - left
        place = right + goes_left * (left - right)
        target[place] = row
        sums[place] = both_sum - left_sum + weight * (2 * left_sum - both_sum)
        left += goes_left


@compiled
def best_split(rows: Any, values: Any, sums: Any, total: Any, inverse: Any, gains: Any, least: Any) -> Any:
    """Return the best split of one node by one latent: its gain, and the number of rows to its left (0 for none).

    The gain is that of scikit-learn, which leaves out what all splits of a node have in common.

    Args:
        rows: The rows of the node (n,), sorted by the latent.
        values: The values of the latent (N,).
        sums: The running sums of the residuals of ``rows`` (n,).
        total: The sum of the residuals of the node.
        inverse: The array (N + 1,) whose entry n is 1/n.
        gains: An array to write to, of at least n entries.
        least: The gain below which splits are not reported.

    Returns:
        The largest gain, and the number of rows; if it is 0, the gain has no meaning.
    """
    splits = rows.size - 1
    if splits < 1:
        return -1.0, 0
    one_over = inverse[1 : rows.size]
    for i in range(splits):
        left, right = sums[i], total - sums[i]
        gains[i] = left * left * one_over[i] + right * right * one_over[splits - 1 - i]
    bits, most_bits = gains.view(np.int64), np.int64(0)  # integers have the same order and a faster maximum
    for i in range(splits):
        most_bits = max(most_bits, bits[i])
    bits[splits] = most_bits
    most, place = gains[splits], 0
    if most < least:
        return most, 0
    while gains[place] != most:
        place += 1
    if values[rows[place + 1]] > values[rows[place]] + APART:
        return most, place + 1
    most, found = -1.0, 0  # equal values cannot be separated: look at the others one by one
    for i in range(splits):
        if gains[i] > most and values[rows[i + 1]] > values[rows[i]] + APART:
            most, found = gains[i], i + 1
    return (most, found) if most >= least else (most, 0)


@compiled
def descend(codes: Any, feature: Any, threshold: Any, node_of: Any) -> None:
    """Move every row from its node to one of the two children.

    Args:
        codes: The sample (D, N), float32.
        feature: The latent that splits each node (NODES,).
        threshold: The threshold of each node (NODES,), above which rows go to the right.
        node_of: The node of each row (N,), which is replaced by its child.
    """
    for row in range(node_of.size):
        node = node_of[row]
        node_of[row] = 2 * node + 1 + (codes[feature[node], row] > threshold[node])


@compiled
def scrambled(number: Any) -> Any:
    """Return 64 random bits for a number (the output function of splitmix64)."""
    number = (number ^ (number >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    number = (number ^ (number >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return number ^ (number >> np.uint64(31))
