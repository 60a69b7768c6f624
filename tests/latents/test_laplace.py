from __future__ import annotations

import math

import pytest
import torch
from torch.distributions import Laplace as Reference
from torch.distributions import kl_divergence

from tests.terms.models import forward, randn
from unweave.latents import Laplace
from unweave.terms import KL
from unweave.terms.kl import laplace_kl


def test_the_divergence_is_torchs_and_disents() -> None:
    """Mean over entries 1.1635743166975145 with LatentDistsHandlerLaplace of disent 0.8.0."""
    location, logscale = randn(6, 4), randn(6, 4, seed=1)
    values = laplace_kl(location, logscale)
    expected = kl_divergence(Reference(location, logscale.exp()), Reference(torch.zeros(6, 4), torch.ones(6, 4)))
    torch.testing.assert_close(values, expected)
    assert float(values.mean()) == pytest.approx(1.1635743166975145, abs=1e-12)


def test_codes_are_laplace_samples(generator: torch.Generator) -> None:
    outputs = torch.tensor([[1.0, -2.0, math.log(0.5), math.log(3.0)]]).expand(200_000, -1)
    code = Laplace(size=2).code(outputs, {}, generator)
    assert code.logscale is not None
    torch.testing.assert_close(code.z.mean(0), torch.tensor([1.0, -2.0]), atol=0.03, rtol=0)
    deviation = (code.z - code.continuous).abs().mean(0)  # of a Laplace distribution, its scale
    torch.testing.assert_close(deviation, torch.tensor([0.5, 3.0]), rtol=0.01, atol=0)
    prior = Laplace(size=2).sample(100_000, generator, None, {})
    assert prior.std().item() == pytest.approx(math.sqrt(2), rel=0.01)


def test_the_kl_term_takes_it() -> None:
    made = forward(Laplace(size=3))
    assert made.code.logscale is not None
    expected = laplace_kl(made.code.continuous, made.code.logscale).sum(1).mean()
    assert KL()(made).item() == pytest.approx(expected.item())
