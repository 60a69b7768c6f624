"""Batches that share a factor, drawn from codes that are there."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from tests.metrics.samples import SPACE, factors, linear
from unweave.errors import InputError
from unweave.metrics import beta_vae_score, factor_vae_score, irs
from unweave.metrics.scoring.draws import different_below, draws


@pytest.mark.parametrize("limit", [5, 6, 19, 20, 300])
def test_numbers_are_different_and_uniform(limit: int) -> None:
    drawn = different_below(np.full(6000, limit), 5, np.random.default_rng(0))
    assert (np.diff(np.sort(drawn, axis=1)) > 0).all()
    assert drawn.max() < limit
    counts = np.bincount(drawn.reshape(-1), minlength=limit)
    assert counts.std() < 1.5 * np.sqrt(30_000 / limit)
    pairs = np.unique(np.sort(drawn[:, [0, 4]], axis=1), axis=0)  # not only neighbours
    assert len(pairs) > 0.95 * min(limit * (limit - 1) / 2, 6000 * 0.9)


def test_fewer_than_needed_are_repeated() -> None:
    drawn = different_below(np.array([1, 3] * 50), 5, np.random.default_rng(0))
    assert (drawn[::2] == 0).all()
    assert set(drawn[1::2].reshape(-1).tolist()) == {0, 1, 2}


def test_batches_share_a_value_and_have_different_rows() -> None:
    labels = factors(2000)
    pool = draws("irs", np.hstack([labels, np.arange(2000)[:, None]]), labels, 0)
    axes = pool.random_axes(3000)
    held = pool.held(axes, 64)  # (3000, 64, 4)
    shared = held[np.arange(3000), :, axes]
    assert (shared == shared[:, :1]).all()
    assert all(len(set(batch)) == 64 for batch in held[:200, :, 3].tolist())
    for axis, size in enumerate(SPACE.sizes):  # every value is as likely as any other
        counts = np.bincount(shared[axes == axis, 0].astype(int), minlength=size)
        assert counts.min() > 0.8 * counts.sum() / size
    assert {axis: (axes == axis).mean().round(1) for axis in range(3)} == {0: 0.3, 1: 0.3, 2: 0.3}


def test_rare_values_are_counted_in_a_warning() -> None:
    labels = factors(300)
    labels[:3, 1] = 3
    text = r"factor_vae_score: 6 of 13 values of factors have fewer than 64 samples, so rows are drawn with replacement"
    with pytest.warns(UserWarning, match=text) as warned:
        factor_vae_score(labels.astype(float), labels, train=50, test=50)
    assert len(warned) == 1


def test_a_pool_scores_as_new_points_do() -> None:
    weights = np.random.default_rng(5).normal(size=(3, 4))
    labels = factors(4000)
    codes = linear(weights)(SPACE.at(SPACE.index(labels)))
    few: dict[str, Any] = {"train": 3000, "test": 3000}
    assert beta_vae_score(codes, labels, **few).score == pytest.approx(
        beta_vae_score(linear(weights), SPACE, **few).score, abs=0.02
    )
    pool, fresh = factor_vae_score(codes, labels, **few), factor_vae_score(linear(weights), SPACE, **few)
    assert pool.score == pytest.approx(fresh.score, abs=0.02)
    assert pool.votes.argmax(0).tolist() == fresh.votes.argmax(0).tolist()
    assert irs(codes, labels).score == pytest.approx(irs(linear(weights), SPACE).score, abs=0.01)


def test_a_function_needs_its_space() -> None:
    with pytest.raises(InputError, match="a function of points with the FactorSpace"):
        irs(lambda points: points, factors(10))
