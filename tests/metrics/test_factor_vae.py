from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch import Tensor

from tests.metrics.samples import SPACE, linear
from unweave.metrics import factor_vae_score

SMALL: dict[str, Any] = {"train": 400, "test": 300}


def test_votes_go_to_the_latent_of_the_held_factor() -> None:
    weights = np.zeros((3, 4))
    weights[0, 2], weights[1, 0], weights[2, 3] = 1, -2, 0.5
    result = factor_vae_score(linear(weights), SPACE, **SMALL)
    assert result.score == result.train == 1
    assert result.votes.argmax(1).tolist() == [2, 0, 3]
    assert result.votes.sum() == 400
    assert result.active.tolist() == [True, False, True, True]


def test_faint_and_dead_latents_do_not_vote() -> None:
    weights = np.eye(3, 4)
    weights[2, 2] = 0.01  # its deviation is below the threshold
    result = factor_vae_score(linear(weights), SPACE, **SMALL)
    assert result.active.tolist() == [True, True, False, False]
    assert result.score < 0.95
    assert factor_vae_score(linear(weights), SPACE, threshold=0, **SMALL).score == 1  # a dead one never wins
    nothing = factor_vae_score(lambda p: np.zeros((len(p), 2)), SPACE, **SMALL)
    assert (nothing.score, nothing.train) == (0, 0)


def test_the_thresholds_of_disentanglement_lib_and_of_the_text_of_locatello_et_al() -> None:
    """Their code compares a standard deviation with 0.05, their text a variance, whose root is 0.2236."""
    weights = np.diag([1, 1, np.sqrt(0.03)])  # the third has a variance of 0.03 and a standard deviation of 0.17
    assert factor_vae_score(linear(weights), SPACE, **SMALL).active.tolist() == [True, True, True]
    as_written = factor_vae_score(linear(weights), SPACE, threshold=0.2236, **SMALL)
    assert as_written.active.tolist() == [True, True, False]
    weights[2, 2] = np.sqrt(0.08)
    assert factor_vae_score(linear(weights), SPACE, threshold=0.2236, **SMALL).active.all()


def test_against_a_loop_over_votes() -> None:
    """The published procedure, one vote at a time."""
    rng, weights = np.random.default_rng(0), np.random.default_rng(5).normal(size=(3, 3))
    represent = linear(weights)
    cells = np.random.default_rng(1).integers(0, SPACE.sizes, (4000, 3))
    variance = represent(_tensor(cells)).var(0, ddof=1)
    table = np.zeros((3, 3))
    for _ in range(3000):
        factor = rng.integers(3)
        batch = rng.integers(0, SPACE.sizes, (64, 3))
        batch[:, factor] = batch[0, factor]
        table[factor, (represent(_tensor(batch)).var(0, ddof=1) / variance).argmin()] += 1
    expected = table.max(0).sum() / table.sum()
    assert factor_vae_score(represent, SPACE, train=3000, test=3000).score == pytest.approx(expected, abs=0.03)


def _tensor(points: np.ndarray) -> Tensor:
    import torch

    return torch.from_numpy(points)
