from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.samples import SPACE, linear
from unweave.metrics import beta_vae_score
from unweave.metrics.beta_vae import _votes
from unweave.metrics.scoring.draws import draws


def test_a_shared_factor_has_no_difference_and_others_have_their_mean() -> None:
    """E|a − b| of two uniform values of n is (n² − 1) / 3n."""
    features, labels = _votes(draws("beta_vae_score", lambda p: p.double(), SPACE, 0), 900, 64)
    for axis, size in enumerate(SPACE.sizes):
        assert (features[labels == axis, axis] == 0).all()
        assert features[labels != axis, axis].mean() == pytest.approx((size**2 - 1) / (3 * size), abs=0.03)
    assert (np.bincount(labels) > 230).all()


def test_codes_that_know_one_factor_tell_it_from_the_rest() -> None:
    weights = np.zeros((3, 2))
    weights[0, 0] = 1
    score = beta_vae_score(linear(weights), SPACE, train=600, test=400).score
    assert score == pytest.approx(2 / 3, abs=0.08)  # one third is certain, the rest a toss between two
