from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn
from torch.distributions import Normal, kl_divergence

from tests.metrics.samples import noise
from unweave.errors import InputError
from unweave.metrics import active_units, elbo, kl_per_latent

MEAN, LOGVAR = noise(50, 3), noise(50, 3, seed=2)


def test_kl_is_torchs() -> None:
    posterior = Normal(torch.as_tensor(MEAN), torch.as_tensor(LOGVAR / 2).exp())
    expected = kl_divergence(posterior, Normal(0.0, 1.0)).mean(0)
    result = kl_per_latent(MEAN, LOGVAR)
    np.testing.assert_allclose(result.per_latent, expected)
    assert result.score == pytest.approx(float(expected.sum()))
    with pytest.raises(InputError, match="mean has shape"):
        kl_per_latent(MEAN, LOGVAR[:, :1])


def test_active_units_count_means_that_vary() -> None:
    assert active_units(MEAN * [1, 0.05, 0.2]).score == 2
    assert active_units(MEAN * [1, 0.05, 0.2], threshold=1e-4).score == 3


def test_the_bound_is_likelihood_minus_kl() -> None:
    images = torch.rand(50, 1, 4, 4, generator=torch.Generator().manual_seed(0)).double()
    guesses = torch.rand(50, 1, 4, 4, generator=torch.Generator().manual_seed(1)).double()
    kl = kl_per_latent(MEAN, LOGVAR).score
    bernoulli = -nn.functional.binary_cross_entropy(guesses, images, reduction="none").flatten(1).sum(1).mean()
    assert elbo(images, guesses, MEAN, LOGVAR).score == pytest.approx(float(bernoulli) - kl)
    gaussian = -(((images - guesses) ** 2).flatten(1).sum(1).mean() + 16 * np.log(2 * np.pi)) / 2
    assert elbo(images, guesses, MEAN, LOGVAR, likelihood="gaussian").score == pytest.approx(float(gaussian) - kl)
    with pytest.raises(InputError, match="50 images but 20 posteriors"):
        elbo(images, guesses, MEAN[:20], LOGVAR[:20])
    laplace = torch.distributions.Laplace(guesses, 1.0).log_prob(images).flatten(1).sum(1).mean()
    assert elbo(images, guesses, MEAN, LOGVAR, likelihood="laplace").log_likelihood == pytest.approx(float(laplace))
    logits = torch.linspace(-8, 8, 800, dtype=torch.float64).view(50, 1, 4, 4)
    continuous = torch.distributions.ContinuousBernoulli(logits=logits)
    found = elbo(images, continuous.mean, MEAN, LOGVAR, likelihood="continuous_bernoulli").log_likelihood
    assert found == pytest.approx(float(continuous.log_prob(images).flatten(1).sum(1).mean()), abs=1e-4)
    with pytest.raises(InputError, match="likelihood must be 'bernoulli'"):
        elbo(images, guesses, MEAN, LOGVAR, likelihood="poisson")  # type: ignore[arg-type]


def test_a_variance_beyond_floats_is_a_sentence() -> None:
    with pytest.raises(InputError, match="logvar reaches 1000, whose exponential is too large"):
        kl_per_latent(np.zeros((2, 2)), np.full((2, 2), 1000.0))
