from __future__ import annotations

import pytest
import torch

from unweave.latents import Gaussian


def test_draws_have_the_posteriors_mean_and_variance() -> None:
    latent = Gaussian(size=2)
    outputs = torch.tensor([[1.0, -2.0, 0.0, -2.0]]).repeat(100_000, 1)
    code = latent.code(outputs, {}, torch.Generator().manual_seed(0))
    assert code.z.mean(0).tolist() == pytest.approx([1.0, -2.0], abs=0.02)
    assert code.z.var(0).log().tolist() == pytest.approx([0.0, -2.0], abs=0.02)
    assert code.representation is code.continuous


def test_without_a_generator_the_code_is_the_mean() -> None:
    outputs = torch.randn(3, 8)
    code = Gaussian(size=4).code(outputs, {})
    assert torch.equal(code.z, outputs[:, :4])
    assert code.logvar is not None
    assert torch.equal(code.logvar, outputs[:, 4:])


def test_gradients_reach_mean_and_variance() -> None:
    outputs = torch.zeros(3, 4, requires_grad=True)
    Gaussian(size=2).code(outputs, {}, torch.Generator().manual_seed(0)).z.sum().backward()
    assert outputs.grad is not None
    assert (outputs.grad[:, :2] == 1).all()
    assert (outputs.grad[:, 2:] != 0).all()


def test_the_deviation_can_be_a_softplus() -> None:
    outputs = torch.tensor([[0.5, -1.0, 0.0, 3.0], [2.0, 0.0, -200.0, -2.0]])
    code = Gaussian(size=2, deviation="softplus").code(outputs, {})
    assert code.logvar is not None
    torch.testing.assert_close((code.logvar / 2).exp()[0], torch.log1p(outputs[0, 2:].exp()))
    assert code.logvar.isfinite().all()
    assert Gaussian(size=2).model_dump(mode="json") == {"size": 2}  # runs without it keep their names
