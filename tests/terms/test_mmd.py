from __future__ import annotations

import pytest
import torch

from tests.terms.models import forward, randn
from unweave.errors import InputError
from unweave.latents import FSQ, Deterministic
from unweave.terms import MMD
from unweave.terms.mmd import maximum_mean_discrepancy


def test_the_value_of_disent() -> None:
    """InfoVae._compute_mmd of disent 0.8.0 on these samples."""
    value = maximum_mean_discrepancy(randn(8, 3), randn(8, 3, seed=1))
    assert float(value) == pytest.approx(0.05734814908511965, abs=1e-12)


def test_the_inverse_multiquadratic_kernel_by_a_loop() -> None:
    codes, prior = randn(5, 2), randn(5, 2, seed=1)

    def k(x: torch.Tensor, y: torch.Tensor) -> float:
        return 8 / (8 + float((x - y).square().sum()))  # 2 · 2 · 2 latents

    apart = [(i, j) for i in range(5) for j in range(5) if i != j]
    expected = sum(k(prior[i], prior[j]) + k(codes[i], codes[j]) for i, j in apart) / 20
    expected -= 2 * sum(k(prior[i], codes[j]) for i in range(5) for j in range(5)) / 25
    assert float(maximum_mean_discrepancy(codes, prior, kernel="imq")) == pytest.approx(expected)


def test_it_is_0_for_the_prior_and_grows_with_distance() -> None:
    prior = randn(2000, 3)
    assert abs(float(maximum_mean_discrepancy(randn(2000, 3, seed=1), prior))) < 0.002
    assert maximum_mean_discrepancy(randn(2000, 3, seed=1) + 2, prior) > 0.2


def test_codes_of_the_batch_get_a_gradient() -> None:
    made = forward(Deterministic(size=3))
    MMD()(made).backward()
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in made.model.encoder.parameters())
    assert MMD().refusal(FSQ(size=3))
    with pytest.raises(InputError, match="variance"):
        MMD(variance=0)
