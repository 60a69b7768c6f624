from __future__ import annotations

import os
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.tree import DecisionTreeRegressor

from unweave.metrics.estimators.trees import LEAVES, NODES, grow, softmax


def tree_of(codes: Any, residual: Any, salt: int = 0) -> tuple[Any, Any, Any, Any]:
    """Split latents, thresholds and gains (NODES,), and the leaf (N,) of each row."""
    values = np.ascontiguousarray(codes.T, dtype=np.float32)
    order = np.argsort(values, axis=1, kind="stable").astype(np.uint32)
    count = len(codes)
    leaf, sums, gains = np.zeros(count, np.uint8), np.zeros(count), np.zeros(count)
    work = (leaf, np.zeros_like(order), np.zeros(count, np.uint32), sums, gains)
    feature, threshold, gain = np.zeros(NODES, np.int64), np.zeros(NODES), np.zeros(NODES)
    inverse = 1 / np.arange(count + 1).clip(1)
    grow(values, order, residual, inverse, np.uint64(salt), work, feature, threshold, gain)
    return feature, threshold, gain, leaf


def sample(n: int, kind: str) -> tuple[Any, Any]:
    """Codes of four latents, and residuals that are multiples of 2**-30, so that sums of them are exact."""
    rng = np.random.default_rng(n)
    codes = rng.normal(size=(n, 4))
    if kind == "quantised":
        codes = np.round(codes)
    if kind == "constant":
        codes[:, 1] = 0.5
    residual = np.sin(3 * codes[:, 0]) * (codes[:, 2] > 0) + 0.3 * rng.normal(size=n)
    return codes, np.round(residual * 2**30) / 2**30


@pytest.mark.parametrize("kind", ["continuous", "quantised", "constant"])
@pytest.mark.parametrize("n", [2, 3, 9, 50, 2000])
def test_a_tree_is_scikit_learns(n: int, kind: str) -> None:
    codes, residual = sample(n, kind)
    feature, threshold, gain, leaf = tree_of(codes, residual)
    theirs = DecisionTreeRegressor(max_depth=3, random_state=0).fit(codes, residual)
    tree = theirs.tree_
    importance = np.bincount(feature, gain, 4) / n
    np.testing.assert_allclose(importance.sum(), tree.compute_feature_importances(normalize=False).sum(), atol=1e-12)
    means = np.bincount(leaf - NODES, residual, LEAVES) / np.bincount(leaf - NODES, minlength=LEAVES).clip(1)
    np.testing.assert_allclose(means[leaf - NODES], theirs.predict(codes), atol=1e-12)
    if n < 2000:  # several latents can split a few rows equally well
        return
    places = {0: 0}  # where each of their nodes is in the heap
    for node in range(tree.node_count):
        if tree.children_left[node] >= 0:
            place = places[node]
            assert (feature[place], threshold[place]) == (tree.feature[node], tree.threshold[node])
            places[tree.children_left[node]], places[tree.children_right[node]] = 2 * place + 1, 2 * place + 2


def test_a_split_without_gain_can_lead_to_good_ones() -> None:
    bits = np.array([[a, b] for a in (0, 1) for b in (0, 1)] * 5, np.float64)
    residual = np.where(bits[:, 0] == bits[:, 1], 0.5, -0.5)
    feature, _, gain, _ = tree_of(bits, residual)
    assert gain[0] == 0
    assert feature[1] == feature[2] == 1 - feature[0]
    assert gain[1] == gain[2] == 2.5  # the squared error of each half


def test_values_that_are_nearly_equal_are_not_separated() -> None:
    codes = np.array([[0.0], [5e-8], [1e-7], [1.0]])
    residual = np.array([1.0, -1.0, -1.0, -0.5])
    _, threshold, _, leaf = tree_of(codes, residual)
    assert threshold[0] == 0.5 * (np.float64(np.float32(1e-7)) + 1)
    assert len(set(leaf[:3])) == 1


def test_equal_latents_are_chosen_equally_often() -> None:
    codes, residual = sample(50, "continuous")
    chosen = [tree_of(codes[:, [0, 0, 0]], residual, salt)[0][0] for salt in range(0, 3000, 10)]
    counts = np.bincount(chosen, minlength=3)
    assert ((counts > 70) & (counts < 130)).all()  # 100 each, with a deviation of 8


def test_probabilities_do_not_overflow() -> None:
    scores = np.array([[0.0, 1e5, -3.0], [0.0, 1e5, 2.0], [np.log(2), -1e5, 1.0]])
    found = np.empty_like(scores)
    softmax(0, 3, scores, found)
    powers = np.exp([-3.0, 2.0, 1.0])
    expected = np.stack([[0.25, 0.25, 0.5], [0.5, 0.5, 0], powers / powers.sum()], axis=1)
    np.testing.assert_allclose(found, expected, atol=1e-15)
    single = np.array([[0.0, 1e5, -1e5, 1.5]])
    found = np.empty_like(single)
    softmax(0, 4, single, found)
    np.testing.assert_allclose(found, [[0.5, 1, 0, 1 / (1 + np.exp(-1.5))]], atol=1e-15)


def test_nothing_needs_to_be_written_to_disk() -> None:
    """Without any folder for its cache, numba compiles for this process only."""
    script = (
        "import numpy as np; from unweave.metrics.estimators.trees import scrambled; print(scrambled(np.uint64(0)))"
    )
    environment = os.environ | {"NUMBA_CACHE_LOCATOR_CLASSES": "ZipCacheLocator"}
    shown = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "0"
