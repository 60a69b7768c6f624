"""Gradient boosting: scikit-learn's ``GradientBoostingClassifier`` and ``…Regressor`` at many times their speed.

Trees, split criterion, leaf values and importances are scikit-learn's, with its default settings. Splits are exact:
every threshold between two samples is considered. Only the random choice between equally good splits differs. Latents
are standardised first, so that their scale does not matter.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from unweave.errors import whole
from unweave.metrics.scoring.inputs import Floats, Integers, standardised
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.worth import reused

ROUNDS, RATE = 100, 0.1  # scikit-learn's defaults, as is the depth of 3
ROWS, TREES = 2048, 4  # the size of a task: rows to compute probabilities for, trees to grow


@dataclass(frozen=True, eq=False)
class Boosted:
    """Importance (D,) of the latents, which sums to 1 (or is 0 if no split was useful), and predictions."""

    importance: Floats
    train: Any  # classes or numbers
    test: Any


Job = tuple[Any, Any, Any]  # codes (N, D), their classes or real numbers (N,), codes of the test sample
Task = Callable[[], None]


def boost_each(jobs: Sequence[Job], *, seed: int, workers: int | None = None) -> list[Boosted]:
    """Fit one model per job, classes or real numbers (N,) to codes (N, D), and predict those of both samples of each.

    The trees of one round, of all jobs and classes, are grown in parallel on ``workers`` threads (all cores if None).
    Each tree is grown by a single thread, so results do not depend on the number of workers.
    """
    limit = (os.cpu_count() or 1) if workers is None else whole("workers", workers, at_least=1)
    models = [(Regression if job[1].dtype.kind == "f" else Classification)(*job) for job in jobs]
    learning = sorted((model for model in models if model.can_learn), key=lambda model: -model.scores.size)
    with ThreadPoolExecutor(limit) as pool:
        for turn in range(ROUNDS):
            salt = np.random.SeedSequence((seed, turn)).generate_state(1, np.uint64)[0]
            run(pool, (task for model in learning for task in model.probability_tasks()))
            run(pool, (task for model in learning for task in model.tree_tasks(salt)))
    return [model.result() for model in models]


def run(pool: Executor, tasks: Iterable[Task]) -> None:
    """Run all tasks and wait for them."""
    for future in [pool.submit(task) for task in tasks]:
        future.result()


class Classification:
    """A boosted ensemble during the fit: the scores of both samples, one row per class, which each round adds to.

    Two classes share one row, the logit of the second class. Trees are not kept.
    """

    def __init__(self, codes: Any, classes: Integers, test: Any) -> None:
        self.varying, self.columns = _columns_of(codes, test)
        self.seen, self.classes = np.unique(classes, return_inverse=True)
        share = np.bincount(self.classes) / len(classes)
        start = np.log(share) - np.log(share).mean()
        if len(share) == 2:
            start, self.classes = start[1:] - start[:1], self.classes - 1  # row 0 is for the second class
        self.scores = np.repeat(start[:, None], len(codes), axis=1)
        self.test_scores = np.repeat(start[:, None], len(test), axis=1)
        self.probability = np.empty_like(self.scores)
        self.latents, self.importance = codes.shape[1], np.zeros((len(start), len(self.varying)))
        self.sparse = isinstance(codes, SparseCodes)
        self.inverse = 1 / np.arange(len(codes) + 1).clip(1)
        self.shrinkage = RATE * ((len(share) - 1) / len(share) if len(share) > 2 else 1.0)

    @property
    def can_learn(self) -> bool:
        """Return whether there are several classes and a latent to tell them apart."""
        return len(self.seen) > 1 and len(self.varying) > 0

    def probability_tasks(self) -> Iterator[Task]:
        """Compute the probabilities of the classes, in blocks of rows."""
        from unweave.metrics.estimators.trees import softmax

        rows = self.scores.shape[1]
        for first in range(0, rows, ROWS):
            yield partial(softmax, first, min(first + ROWS, rows), self.scores, self.probability)

    def tree_tasks(self, salt: Any) -> Iterator[Task]:
        """Grow the trees of one round, in blocks of classes."""
        from unweave.metrics.estimators.sparse_trees import boost_sparse_classes
        from unweave.metrics.estimators.trees import boost_classes

        boost = boost_sparse_classes if self.sparse else boost_classes
        sample = *self.columns, self.classes, self.probability, self.inverse, self.shrinkage
        results = self.scores, self.test_scores, self.importance
        for first in range(0, len(self.scores), TREES):
            yield partial(boost, first, min(first + TREES, len(self.scores)), *sample, salt, *results)

    def result(self) -> Boosted:
        """Normalise the importance and predict the classes."""
        importance = np.zeros(self.latents)
        importance[self.varying] = self.importance.sum(0)
        total = importance.sum()
        train, test = (
            self.seen[s.argmax(0) if len(s) > 1 else (s[0] > 0).astype(int)] for s in (self.scores, self.test_scores)
        )
        return Boosted(importance / total if total > 0 else importance, train, test)


class Regression:
    """A boosted ensemble for real numbers, with squared error, during the fit."""

    def __init__(self, codes: Any, values: Floats, test: Any) -> None:
        self.varying, self.columns = _columns_of(codes, test)
        self.sparse = isinstance(codes, SparseCodes)
        self.mean, self.spread = float(values.mean()), float(values.std()) or 1.0
        self.target = (values - self.mean) / self.spread
        self.scores, self.test_scores = np.zeros(len(codes)), np.zeros(len(test))
        self.latents, self.importance = codes.shape[1], np.zeros(len(self.varying))
        self.inverse = 1 / np.arange(len(codes) + 1).clip(1)

    @property
    def can_learn(self) -> bool:
        """Return whether the values vary and there is a latent to predict them from."""
        return bool(np.ptp(self.target) > 0) and len(self.varying) > 0

    def probability_tasks(self) -> Iterator[Task]:
        """Compute nothing between rounds: residuals follow from the predictions."""
        return iter(())

    def tree_tasks(self, salt: Any) -> Iterator[Task]:
        """Grow the tree of one round."""
        from unweave.metrics.estimators.sparse_trees import boost_sparse_values
        from unweave.metrics.estimators.trees import boost_values

        boost = boost_sparse_values if self.sparse else boost_values
        sample = *self.columns, self.target, self.inverse, RATE
        yield partial(boost, *sample, salt, self.scores, self.test_scores, self.importance)

    def result(self) -> Boosted:
        """Normalise the importance and predict the values."""
        importance = np.zeros(self.latents)
        importance[self.varying] = self.importance
        total = importance.sum()
        train, test = (self.mean + self.spread * scores for scores in (self.scores, self.test_scores))
        return Boosted(importance / total if total > 0 else importance, train, test)


def _columns_of(codes: Any, test: Any) -> tuple[Integers, tuple[Any, ...]]:
    """Return which latents vary, and these of both samples as the functions that grow trees take them."""
    columns: tuple[Integers, tuple[Any, ...]] = reused(
        _sparse_columns if isinstance(codes, SparseCodes) else _columns, codes, test
    )
    return columns


def _columns(codes: Floats, test: Floats) -> tuple[Integers, tuple[Any, ...]]:
    """Return which latents vary, and these, standardised, one row per latent, how to sort them, and the test sample."""
    fit, predict = (_clipped(s.T, order="C") for s in standardised(codes, test))
    varying = np.flatnonzero(np.ptp(fit, axis=1) > 0)
    order = np.argsort(fit[varying], axis=1, kind="stable").astype(np.uint32)
    return varying, (fit[varying], order, predict[varying])


def _sparse_columns(codes: SparseCodes, test: SparseCodes) -> tuple[Integers, tuple[Any, ...]]:
    """Return which latents vary, and these of both samples, standardised, as sparse columns."""
    mean, std = codes.scale
    rest = _clipped(-mean / std)
    fit = _clipped((codes.columns.data - mean[codes.latents]) / std[codes.latents])
    differs = np.bincount(codes.latents, fit != rest[codes.latents], codes.shape[1]) > 0
    always = np.flatnonzero(codes.counts == len(codes))  # without inactive rows, which are the rest
    for latent in always.tolist():
        differs[latent] = np.ptp(fit[codes.columns.indptr[latent] : codes.columns.indptr[latent + 1]]) > 0
    varying = np.flatnonzero(differs)
    predict = _clipped((test.columns.data - mean[test.latents]) / std[test.latents])
    pairs = ((codes, fit), (test, predict))
    return varying, tuple(_sorted_columns(each, values, rest, varying) for each, values in pairs)


def _sorted_columns(codes: SparseCodes, values: Any, rest: Any, varying: Integers) -> tuple[Any, ...]:
    """Return sparse columns as :mod:`unweave.metrics.estimators.sparse_trees` takes them."""
    kept = np.isin(codes.latents, varying)
    latents, rows, values = np.searchsorted(varying, codes.latents[kept]), codes.columns.indices[kept], values[kept]
    order = np.lexsort((values, latents))
    latents, rows, values = latents[order], rows[order].astype(np.uint32), values[order]
    below = np.bincount(latents, values <= rest[varying][latents], len(varying)).astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(np.bincount(latents, minlength=len(varying)))])
    return starts, starts[:-1] + below, rows, values, rest[varying]


def _clipped(codes: Any, order: Any = "K") -> Any:
    """Return codes as float32; test codes can be far outside of the range of the training codes."""
    most = np.finfo(np.float32).max
    return np.clip(codes, -most, most).astype(np.float32, order=order)
