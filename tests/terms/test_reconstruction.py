from __future__ import annotations

import itertools
import math

import pytest
import torch
import torch.nn.functional as F
from torch.distributions import Bernoulli, Normal

from tests.terms.models import PIXELS, forward, images, log_prob, randn, standardised_forward
from unweave.model import Likelihood
from unweave.terms import Reconstruction
from unweave.terms.reconstruction import log_normaliser, reconstruction_loss


def test_cross_entropy_is_bernoullis_log_likelihood() -> None:
    logits, x = randn(4, 2, 3, 4), images(4).round()
    expected = -log_prob(Bernoulli(logits=logits), x).sum((1, 2, 3)).mean()
    torch.testing.assert_close(reconstruction_loss(logits, x, likelihood="bernoulli"), expected)


def test_of_grey_images_by_a_loop() -> None:
    logits, x = randn(2, 1, 2, 2), images(2)[:, :1, :2, :2]
    total = 0.0
    for logit, pixel in zip(logits.flatten().tolist(), x.flatten().tolist(), strict=True):
        p = 1 / (1 + math.exp(-logit))
        total -= pixel * math.log(p) + (1 - pixel) * math.log(1 - p)
    assert float(reconstruction_loss(logits, x, likelihood="bernoulli")) == pytest.approx(total / 2)


def test_squared_error_is_a_gaussian_of_variance_one_half_without_its_constant() -> None:
    means, x = randn(4, 2, 3, 4), images(4)
    constant = PIXELS * 0.5 * math.log(math.pi)
    expected = -log_prob(Normal(means, math.sqrt(0.5)), x).sum((1, 2, 3)).mean() - constant
    torch.testing.assert_close(reconstruction_loss(means, x, likelihood="gaussian"), expected)


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_the_term_uses_the_likelihood_of_the_model_and_a_mean_is_the_sum_per_pixel(likelihood: Likelihood) -> None:
    passed = forward(likelihood=likelihood)
    expected = reconstruction_loss(passed.logits, passed.images, likelihood=passed.model.likelihood)
    assert torch.equal(Reconstruction()(passed), expected)
    torch.testing.assert_close(Reconstruction(reduction="mean")(passed), expected / PIXELS)


def test_extreme_logits_stay_finite_and_have_gradients() -> None:
    logits = torch.tensor([[[[200.0, -200.0]]]], requires_grad=True)
    loss = reconstruction_loss(logits, torch.tensor([[[[0.0, 1.0]]]]), likelihood="bernoulli")
    assert loss == 400
    torch.autograd.backward(loss)
    assert logits.grad is not None
    assert logits.grad.tolist() == [[[[1.0, -1.0]]]]


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_gradients(likelihood: Likelihood) -> None:
    x = images(2)
    assert torch.autograd.gradcheck(
        lambda logits: reconstruction_loss(logits, x, likelihood=likelihood),
        randn(2, 2, 3, 4).requires_grad_(),
    )


def test_standardised_images_are_compared_in_their_own_space() -> None:
    passed = standardised_forward()
    x, mean, std = passed.images, passed.model.mean, passed.model.std
    assert mean is not None
    assert std is not None
    outputs = passed.model.decoder(passed.code.z)
    total = sum(
        ((x[b, c, i, j] - mean[c, 0, 0]) / std[c, 0, 0] - outputs[b, c, i, j]).item() ** 2
        for b, c, i, j in itertools.product(*map(range, x.shape))
    )
    assert Reconstruction()(passed).item() == pytest.approx(total / len(x))


def test_other_likelihoods_have_the_values_of_disent_and_torch() -> None:
    """Means over pixels of ReconLossHandlerContinuousBernoulli and ReconLossHandlerMae of disent 0.8.0."""
    images = torch.rand(4, 2, 6, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    logits = 3 * torch.randn(4, 2, 6, 6, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    values = {
        kind: float(reconstruction_loss(logits, images, likelihood=kind, reduction="mean"))
        for kind in ("continuous_bernoulli", "laplace")
    }
    assert values["continuous_bernoulli"] == pytest.approx(0.31170806347676766, abs=1e-8)
    assert values["laplace"] == pytest.approx(2.579924328665689, abs=1e-12)
    close = torch.linspace(-0.3, 0.3, 61, dtype=torch.float64)
    expected = -torch.distributions.ContinuousBernoulli(logits=close).log_prob(torch.full_like(close, 0.3))
    ours = F.binary_cross_entropy_with_logits(close, torch.full_like(close, 0.3), reduction="none") - log_normaliser(
        close
    )
    torch.testing.assert_close(ours, expected, atol=1e-8, rtol=0)
