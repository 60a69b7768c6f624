from __future__ import annotations

import pytest
import torch
from torch.distributions import Normal, kl_divergence

from tests.terms.models import log_prob, randn
from unweave.errors import InputError
from unweave.latents import Code
from unweave.terms.gaussians import kl_between, kl_to_prior, log_density, posterior

MEAN, LOGVAR, OTHER_MEAN, OTHER_LOGVAR = (randn(5, 3, seed=seed) for seed in range(4))


def normal(mean: torch.Tensor, logvar: torch.Tensor) -> Normal:
    return Normal(mean, (logvar / 2).exp())


def test_divergences_and_densities_are_those_of_torch() -> None:
    one, other = normal(MEAN, LOGVAR), normal(OTHER_MEAN, OTHER_LOGVAR)
    prior = Normal(torch.zeros_like(MEAN), torch.ones_like(MEAN))
    torch.testing.assert_close(kl_to_prior(MEAN, LOGVAR), kl_divergence(one, prior))
    torch.testing.assert_close(kl_between(MEAN, LOGVAR, OTHER_MEAN, OTHER_LOGVAR), kl_divergence(one, other))
    torch.testing.assert_close(log_density(OTHER_MEAN, MEAN, LOGVAR), log_prob(one, OTHER_MEAN))


def test_small_divergences_keep_their_digits_and_tiny_variances_are_finite() -> None:
    logvar = torch.tensor([[1e-3]])
    assert float(kl_to_prior(torch.zeros(1, 1), logvar)) == pytest.approx(0.25e-6 * (1 + 1e-3 / 3), rel=1e-3)
    tiny = torch.full((1, 1), -150.0)  # its variance is 0 in float32
    assert float(kl_between(torch.zeros(1, 1), tiny, torch.zeros(1, 1), tiny)) == 0


def test_a_code_without_a_posterior_has_a_clear_error() -> None:
    with pytest.raises(InputError, match=r"^the kl term needs a Gaussian posterior, which this code does not have"):
        posterior("the kl term", Code(MEAN, MEAN))
    assert posterior("", Code(MEAN, MEAN, LOGVAR)) == (MEAN, LOGVAR)
