from __future__ import annotations

import math

import pytest
import torch
from torch.distributions import Normal
from torch.distributions import kl_divergence as reference

from tests.terms.models import forward, randn
from unweave.terms import KL
from unweave.terms.kl import kl_divergence


def test_it_is_torchs_divergence_from_a_standard_normal() -> None:
    mean, logvar = randn(5, 3), randn(5, 3, seed=1)
    prior = Normal(torch.zeros(5, 3).double(), torch.ones(5, 3).double())
    expected = reference(Normal(mean, (logvar / 2).exp()), prior).sum(1).mean()
    torch.testing.assert_close(kl_divergence(mean, logvar), expected)
    torch.testing.assert_close(kl_divergence(mean, logvar, reduction="mean"), expected / 3)


def test_known_values() -> None:
    assert kl_divergence(torch.zeros(4, 2), torch.zeros(4, 2)) == 0
    assert float(kl_divergence(torch.full((4, 2), 3.0), torch.zeros(4, 2))) == 9.0
    assert float(kl_divergence(torch.zeros(4, 1), torch.full((4, 1), math.log(4)))) == pytest.approx(1.5 - math.log(2))


def test_the_term_is_of_the_batchs_posterior() -> None:
    passed = forward()
    assert passed.code.logvar is not None
    assert torch.equal(KL()(passed), kl_divergence(passed.code.continuous, passed.code.logvar))
    torch.testing.assert_close(KL(reduction="mean")(passed), KL()(passed) / 3)


def test_gradients() -> None:
    assert torch.autograd.gradcheck(kl_divergence, (randn(4, 3).requires_grad_(), randn(4, 3, seed=1).requires_grad_()))
