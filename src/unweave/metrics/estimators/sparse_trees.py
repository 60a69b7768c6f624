"""Grow the trees of :mod:`unweave.metrics.estimators.trees` on sparse codes, at a cost of their active entries.

The columns of the codes are a tuple: where the entries of each latent begin, where those above the value of inactive
rows begin, the rows and the values of the entries, sorted by value within each latent, and the value of inactive rows.
Inactive rows of a node are one block in the order of a latent; their number and the sum of their residuals follow from
the others, and sums of residuals are exact. So trees are those of the dense codes, to the last bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from unweave.metrics.estimators.trees import (
    APART,
    DEPTH,
    NEGLIGIBLE,
    NODES,
    add_leaves,
    class_leaves,
    class_residuals,
    compiled,
    scrambled,
    value_leaves,
    value_residuals,
)

WIDEST = 2 ** (DEPTH - 1)  # nodes of the last level that is split


@compiled
def boost_sparse_classes(
    first: Any,
    last: Any,
    columns: Any,
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

    It is :func:`unweave.metrics.estimators.trees.boost_classes` for sparse columns.

    Args:
        first: The first class, as a row of ``scores``.
        last: The class after the last one.
        columns: The sparse columns of the training sample, N rows and D latents.
        test: The sparse columns of the test sample, M rows.
        classes: The class of each row (N,), as its row in ``scores``; of two classes, -1 and 0.
        probability: The probability of each class (K, N), before this round.
        inverse: The array (N + 1,) whose entry n is 1/n.
        shrinkage: What the value of each leaf is multiplied by.
        salt: The random bits of the round, which choose among equal splits.
        scores: The scores of the training sample (K, N), which are changed; K is 1 if there are two classes.
        test_scores: The scores of the test sample (K, M), which are changed.
        importance: The gains by class and latent (K, D), which those of the tree are added to.
    """
    node_of, test_node = np.empty(scores.shape[1], np.uint8), np.empty(test_scores.shape[1], np.uint8)
    residual = np.empty(scores.shape[1])
    feature, threshold, gain = np.empty(NODES, np.int64), np.empty(NODES), np.empty(NODES)
    for k in range(first, last):
        class_residuals(classes, k, probability[k], residual)
        grow(columns, residual, inverse, scrambled(salt + np.uint64(k)), node_of, feature, threshold, gain)
        for node in range(NODES):
            importance[k, feature[node]] += gain[node]
        leaves = class_leaves(classes, k, probability[k], node_of, shrinkage)
        add_leaves(leaves, node_of, scores[k])
        test_node[:] = 0
        for level in range(DEPTH):
            descend(test, level, feature, threshold, test_node)
        add_leaves(leaves, test_node, test_scores[k])


@compiled
def boost_sparse_values(
    columns: Any,
    test: Any,
    target: Any,
    inverse: Any,
    shrinkage: Any,
    salt: Any,
    scores: Any,
    test_scores: Any,
    importance: Any,
) -> None:
    """Grow one tree on the differences between ``target`` and its prediction ``scores`` (N,), and add it to them.

    Args:
        columns: The sparse columns of the training sample, N rows and D latents.
        test: The sparse columns of the test sample, M rows.
        target: The numbers to predict (N,), standardised.
        inverse: The array (N + 1,) whose entry n is 1/n.
        shrinkage: What the value of each leaf is multiplied by.
        salt: The random bits of the round, which choose among equal splits.
        scores: The predictions of the training sample (N,), which are changed.
        test_scores: The predictions of the test sample (M,), which are changed.
        importance: The gain of each latent (D,), which those of the tree are added to.
    """
    node_of, test_node, residual = (
        np.empty(scores.size, np.uint8),
        np.empty(test_scores.size, np.uint8),
        np.empty(scores.size),
    )
    feature, threshold, gain = np.empty(NODES, np.int64), np.empty(NODES), np.empty(NODES)
    if not value_residuals(target, scores, residual):
        return
    grow(columns, residual, inverse, scrambled(salt), node_of, feature, threshold, gain)
    for node in range(NODES):
        importance[feature[node]] += gain[node]
    leaves = value_leaves(target, scores, node_of, shrinkage)
    add_leaves(leaves, node_of, scores)
    test_node[:] = 0
    for level in range(DEPTH):
        descend(test, level, feature, threshold, test_node)
    add_leaves(leaves, test_node, test_scores)


@compiled
def grow(
    columns: Any, residual: Any, inverse: Any, salt: Any, node_of: Any, feature: Any, threshold: Any, gain: Any
) -> None:
    """Fit one tree to the residuals (N,), as :func:`unweave.metrics.estimators.trees.grow` does.

    Args:
        columns: The sparse columns of the sample, N rows and D latents.
        residual: The residual of each row (N,).
        inverse: The array (N + 1,) whose entry n is 1/n.
        salt: The random bits that choose a latent among equal splits of a node.
        node_of: The leaf of each row (N,), which is written, as a node of the level below.
        feature: The latent that splits each node (NODES,), which is written.
        threshold: The threshold of each node (NODES,), which is written; infinite if it is not split.
        gain: How much each split reduces the squared error (NODES,), which is written.
    """
    starts, middles, rows, values, rest = columns
    latents = rest.size
    size, total = np.zeros(2 * NODES + 1, np.int64), np.zeros(2 * NODES + 1)
    active, active_sum = np.empty(WIDEST, np.int64), np.empty(WIDEST)
    left, left_sum, highest = np.empty(WIDEST, np.int64), np.empty(WIDEST), np.empty(WIDEST, np.float32)
    most, place = np.empty(WIDEST), np.empty(WIDEST, np.int64)
    place_sum, cut = np.empty(WIDEST), np.empty(WIDEST)
    feature[:], threshold[:], gain[:] = 0, np.inf, 0.0
    node_of[:] = 0
    size[0] = node_of.size
    for row in range(node_of.size):
        total[0] += residual[row]
    for level in range(DEPTH):
        first, width = 2**level - 1, 2**level
        best, rank = np.full(WIDEST, -1.0), np.zeros(WIDEST, np.uint64)
        for node in range(first, first + width):  # the children, if no split is found
            size[2 * node + 1], total[2 * node + 1] = size[node], total[node]
            size[2 * node + 2], total[2 * node + 2] = 0, 0.0
        for latent in range(latents):
            for i in range(width):
                active[i], active_sum[i] = 0, 0.0
                left[i], left_sum[i], most[i], place[i] = 0, 0.0, -1.0, 0
            for entry in range(starts[latent], starts[latent + 1]):
                i = node_of[rows[entry]] - first
                active[i] += 1
                active_sum[i] += residual[rows[entry]]
            # Each entry is moved to the left in the order of values, and inactive rows at the place of their value;
            # before that, the split below the value is considered. This is written out once: as a function it would
            # cost ten times as much. Of equal splits, the first one is kept. The gain is that of scikit-learn.
            for step in range(starts[latent], starts[latent + 1] + width):
                if middles[latent] <= step < middles[latent] + width:
                    i = step - middles[latent]
                    node = first + i
                    value, count, amount = rest[latent], size[node] - active[i], total[node] - active_sum[i]
                    if active[i] == 0 or count == 0:
                        continue
                else:
                    entry = step if step < middles[latent] else step - width
                    i = np.int64(node_of[rows[entry]]) - first
                    node = first + i
                    value, count, amount = values[entry], 1, residual[rows[entry]]
                if left[i] > 0 and value > highest[i] + APART:
                    right = total[node] - left_sum[i]
                    found = left_sum[i] ** 2 * inverse[left[i]] + right**2 * inverse[size[node] - left[i]]
                    if found > most[i]:
                        most[i], place[i], place_sum[i] = found, left[i], left_sum[i]
                        cut[i] = highest[i] / 2.0 + value / 2.0
                left[i] += count
                left_sum[i] += amount
                highest[i] = value
            for i in range(width):
                if place[i] == 0 or most[i] < best[i]:
                    continue
                node = first + i
                draw = scrambled(salt + np.uint64(node * latents + latent))
                if most[i] > best[i] or draw > rank[i]:
                    best[i], rank[i] = most[i], draw
                    feature[node], threshold[node] = latent, cut[i]
                    fall = most[i] - total[node] ** 2 * inverse[size[node]]
                    gain[node] = fall if fall > NEGLIGIBLE * size[node] else 0.0
                    size[2 * node + 1], size[2 * node + 2] = place[i], size[node] - place[i]
                    total[2 * node + 1], total[2 * node + 2] = place_sum[i], total[node] - place_sum[i]
        descend(columns, level, feature, threshold, node_of)


@compiled
def descend(columns: Any, level: Any, feature: Any, threshold: Any, node_of: Any) -> None:
    """Move every row from its node, on the given level, to one of the two children.

    Args:
        columns: The sparse columns of the sample, N rows and D latents.
        level: The level of the nodes, 0 for the root.
        feature: The latent that splits each node (NODES,).
        threshold: The threshold of each node (NODES,), above which rows go to the right.
        node_of: The node of each row (N,), which is replaced by its child.
    """
    starts, _, rows, values, rest = columns
    for row in range(node_of.size):
        node = node_of[row]
        node_of[row] = 2 * node + 1 + (rest[feature[node]] > threshold[node])
    for node in range(2**level - 1, 2 ** (level + 1) - 1):
        if threshold[node] < np.inf:
            for entry in range(starts[feature[node]], starts[feature[node] + 1]):
                if (node_of[rows[entry]] - 1) // 2 == node:
                    node_of[rows[entry]] = 2 * node + 1 + (values[entry] > threshold[node])
