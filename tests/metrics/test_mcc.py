from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.stats import spearmanr

from unweave.errors import InputError
from unweave.metrics import mcc


def test_the_matching_is_the_best_of_all() -> None:
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(200, 3))
    codes = factors @ rng.normal(size=(3, 4)) + rng.normal(size=(200, 4))
    correlation = np.abs(np.corrcoef(codes.T, factors.T)[:4, 4:])
    best = max(correlation[list(p), range(3)].mean() for p in itertools.permutations(range(4), 3))
    result = mcc(codes, factors)
    assert result.score == pytest.approx(best)
    np.testing.assert_allclose(result.correlation, correlation)
    ranks = np.abs(spearmanr(codes, factors).statistic[:4, 4:])
    np.testing.assert_allclose(mcc(codes, factors, method="spearman").correlation, ranks)


def test_factors_without_a_latent_count_as_zero() -> None:
    factors = np.random.default_rng(0).normal(size=(50, 4))
    result = mcc(factors[:, [2]], factors)
    assert result.score == pytest.approx(0.25)
    assert result.matched.tolist() == [-1, -1, 0, -1]
    with pytest.raises(InputError, match="'pearson' or 'spearman'"):
        mcc(factors, factors, method="kendall")  # type: ignore[arg-type]


def test_large_integers_keep_their_last_digits() -> None:
    factors = (np.arange(9) % 4)[:, None]
    assert mcc(factors.astype(float), factors + 2**60).score == pytest.approx(1)
