"""Gradient boosting as scikit-learn defines it, with trees grown by LightGBM: the same scores at many times the speed.

LightGBM is given the residuals and a constant curvature, so that a split's gain is the fall in squared error, scikit-
learn's criterion; the values of the leaves, and so the scores that the next residuals come from, are computed here by
scikit-learn's Newton step. Two things remain: thresholds lie between ``BINS`` quantiles instead of between any two
samples, and equal splits go to a random feature a round instead of a random feature a node.
"""

from __future__ import annotations

import multiprocessing
import os
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from unweave.metrics.inputs import Floats, Integers, standardised

ROUNDS, DEPTH, RATE = 100, 3, 0.1  # scikit-learn's defaults
LEAVES = 2**DEPTH
BINS = 2048  # with fewer, scores leave scikit-learn's by more than 0.02 on samples of thousands
THREADS = 1  # LightGBM keeps one number for the whole process, which every call must name
# Making a booster while another one grows trees has crashed the process: one thread at a time, and processes beside it.
LIGHTGBM = threading.Lock()
WORTH_A_PROCESS = 250_000  # rows times classes, a few seconds: what it costs to start one
ORDERS = 4  # of the features, taken in turn: LightGBM gives a tie to the first


@dataclass(frozen=True, eq=False)
class Boosted:
    """Importance (D,) of the features, summing to 1 (or 0 where nothing was split), and predicted classes."""

    importance: Floats
    train: Integers
    test: Integers


Job = tuple[Floats, Integers, Floats]  # codes (N, D), their classes (N,), codes of the test sample


def boost_each(jobs: Sequence[Job], *, seed: int) -> list[Boosted]:
    """:func:`boost` of each job, in their order: large ones side by side in processes, which changes no bit.

    Within a process that multiprocessing started they run one by one: joblib's workers would not end with it.
    """
    costs = [len(codes) * len(np.unique(classes)) for codes, classes, _ in jobs]
    workers = min(os.cpu_count() or 1, len(jobs))
    if sum(costs) < WORTH_A_PROCESS or workers < 2 or multiprocessing.parent_process() is not None:
        return [boost(*job, seed=seed) for job in jobs]
    from joblib import Parallel, delayed

    order = np.argsort(-np.asarray(costs), kind="stable")  # the costliest first, so that none is left to the end alone
    done = Parallel(workers)(delayed(boost)(*jobs[number], seed=seed) for number in order)
    return [done[place] for place in np.argsort(order)]


def boost(codes: Floats, classes: Integers, test: Floats, *, seed: int) -> Boosted:
    """Fit classes (N,) to codes (N, D), predict them and those of the test codes."""
    with LIGHTGBM, threadpool_limits(1):
        return _boost(codes, classes, test, seed)


def _boost(codes: Floats, classes: Integers, test: Floats, seed: int) -> Boosted:
    codes, test = standardised(codes, test)  # trees do not see it, but LightGBM takes tiny numbers for zeros
    seen, classes = np.unique(classes, return_inverse=True)
    if not codes.any() or len(seen) == 1:  # nothing to split or to tell apart, and LightGBM refuses to try
        commonest = seen[np.bincount(classes).argmax()]
        return Boosted(np.zeros(codes.shape[1]), np.full(len(codes), commonest), np.full(len(test), commonest))
    orders = [np.random.default_rng((seed, order)).permutation(codes.shape[1]) for order in range(ORDERS)]
    outputs = 1 if len(seen) == 2 else len(seen)
    boosters = [_booster(codes[:, order], outputs) for order in orders]
    samples = [codes[:, order].copy() for order in orders]
    values: list[list[Floats]] = [[] for _ in orders]  # of the leaves, a round each
    target = classes[:, None] == (np.arange(outputs) if outputs > 1 else 1)  # (N, outputs)
    share = np.bincount(classes) / len(classes)
    start = np.log(share) if outputs > 1 else np.log(share[1:] / share[:1])
    scores = np.tile(start, (len(codes), 1))
    curvature = np.ones(target.shape, np.float32)
    for turn in range(ROUNDS):
        booster, x = boosters[turn % ORDERS], samples[turn % ORDERS]
        residual = target - (_softmax(scores) if outputs > 1 else np.exp(-np.logaddexp(0, -scores)))
        gradient = _gradient(residual, curvature)
        if booster.update(fobj=gradient):
            break  # no tree could be split: there is nothing left to learn
        leaf = _leaves(booster, x, booster.current_iteration() - 1)
        values[turn % ORDERS].append(RATE * _newton(leaf, residual, len(seen)))
        scores += values[turn % ORDERS][-1][leaf]
    test_scores = np.tile(start, (len(test), 1))
    for booster, order, steps in zip(boosters, orders, values, strict=True):
        if not steps:
            continue
        leaf = _leaves(booster, test[:, order].copy(), 0)  # (N, trees)
        gains = np.concatenate(steps)[leaf]
        test_scores += gains.reshape(len(test), -1, outputs).sum(1)
    importance = np.zeros(codes.shape[1])
    for booster, order in zip(boosters, orders, strict=True):
        importance[order] += booster.feature_importance("gain")
    total = importance.sum()
    guess, test_guess = (s.argmax(1) if outputs > 1 else (s[:, 0] > 0).astype(int) for s in (scores, test_scores))
    return Boosted(importance / total if total > 0 else importance, seen[guess], seen[test_guess])


def _booster(codes: Floats, outputs: int) -> Any:
    import lightgbm

    settings = {
        "objective": "none",
        "num_class": outputs,
        "num_leaves": LEAVES,
        "max_depth": DEPTH,
        "learning_rate": 1.0,
        "min_data_in_leaf": 1,
        "min_sum_hessian_in_leaf": 0.0,
        "max_bin": BINS,
        "min_data_in_bin": 1,
        "feature_pre_filter": False,
        "force_row_wise": True,
        "deterministic": True,
        "num_threads": THREADS,
        "verbosity": -1,
    }
    return lightgbm.Booster(settings, lightgbm.Dataset(codes, np.zeros(len(codes)), params=settings))


def _gradient(residual: Floats, curvature: Any) -> Any:
    gradient = (-residual).astype(np.float32)
    if residual.shape[1] == 1:
        gradient, curvature = gradient[:, 0], curvature[:, 0]
    return lambda scores, data: (gradient, curvature)


def _leaves(booster: Any, codes: Floats, first: int) -> Integers:
    """The leaf (N, trees) that each tree from round ``first`` on puts each sample in, counted through all of them."""
    leaves = np.asarray(booster.predict(codes, pred_leaf=True, start_iteration=first, num_threads=THREADS))
    leaves = leaves.reshape(len(codes), -1).astype(np.int64)
    return np.asarray(leaves + LEAVES * np.arange(leaves.shape[1]))


def _newton(leaf: Integers, residual: Floats, classes: int) -> Floats:
    """One Newton step of the log-loss in every leaf (Friedman 2001, algorithms 5 and 6)."""
    size = np.abs(residual)
    above = np.bincount(leaf.reshape(-1), residual.reshape(-1), LEAVES * residual.shape[1])
    below = np.bincount(leaf.reshape(-1), (size * (1 - size)).reshape(-1), LEAVES * residual.shape[1])
    factor = (classes - 1) / classes if residual.shape[1] > 1 else 1.0
    step: Floats = np.divide(above, below, out=np.zeros_like(above), where=below > 1e-150)
    return factor * step


def _softmax(scores: Floats) -> Floats:
    powers = np.exp(scores - scores.max(1, keepdims=True))
    shares: Floats = powers / powers.sum(1, keepdims=True)
    return shares
