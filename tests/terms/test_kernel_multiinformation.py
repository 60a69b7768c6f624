from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tests.terms.models import forward, gradient, randn
from unweave.latents import FSQ, Deterministic, Gaussian
from unweave.terms import KernelMultiinformation
from unweave.terms.kernel_multiinformation import kernel_multiinformation
from unweave.terms.term import batch_scale

SCALE = torch.tensor([0.5, 1.0, 3.0]).double()


def kernel(distance: float, bandwidth: float) -> float:
    return math.exp(-0.5 * (distance / bandwidth) ** 2) / (math.sqrt(2 * math.pi) * bandwidth)


def by_loops(z: Tensor, scale: Tensor) -> float:
    rows, latents = z.shape
    smoothing = [(4 / ((latents + 2) * rows)) ** (2 / (latents + 4)) * float(s) ** 2 for s in scale]  # eq. 12
    total = 0.0
    for b in range(rows):
        joint, marginals = 0.0, [0.0] * latents
        for a in range(rows):
            distances = [float(z[b, j] - z[a, j]) for j in range(latents)]
            joint += math.prod(kernel(distances[j], math.sqrt(smoothing[j])) for j in range(latents)) / rows
            for j in range(latents):
                marginals[j] += kernel(distances[j], float(scale[j])) / rows
        total += math.log(joint) - sum(math.log(marginal) for marginal in marginals)
    return total / rows


def test_it_is_the_equations_by_loops() -> None:
    z = randn(6, 3)
    assert kernel_multiinformation(z, SCALE).item() == pytest.approx(by_loops(z, SCALE), rel=1e-10)


def test_the_term_takes_quantised_codes_and_the_continuous_ones_scale() -> None:
    passed = forward(FSQ(size=3, levels=4))
    spread = [float(column.std(correction=0)) + 1e-6 for column in passed.code.continuous.detach().T]
    z = passed.code.z.detach()
    assert KernelMultiinformation()(passed).item() == pytest.approx(
        by_loops(z, torch.tensor(spread).double()), rel=1e-6
    )
    fixed = KernelMultiinformation(bandwidth="fixed")(passed)
    assert fixed.item() == pytest.approx(by_loops(z, torch.ones(3)), rel=1e-10)


@pytest.mark.parametrize("latent", [Deterministic(size=3), Gaussian(size=3), FSQ(size=3, levels=12)])
def test_any_latent_is_allowed_and_its_encoder_gets_a_gradient(latent: Deterministic | Gaussian | FSQ) -> None:
    for term in (KernelMultiinformation(), KernelMultiinformation(bandwidth="fixed")):
        passed = forward(latent)
        torch.autograd.backward(term(passed))
        assert gradient(passed.model.encoder) > 0


def test_the_scaled_value_forgets_the_scale_of_each_latent() -> None:
    z = randn(20, 3)
    factors = torch.tensor([0.1, 5.0, 2.0]).double()
    one = kernel_multiinformation(z, batch_scale(z)).item()
    assert kernel_multiinformation(z * factors, batch_scale(z * factors)).item() == pytest.approx(one, abs=1e-4)


def test_dependent_latents_have_more_of_it() -> None:
    z = randn(200, 3)
    dependent = torch.stack([z[:, 0], z[:, 0] + 0.1 * z[:, 1], z[:, 2]], 1)
    values = [kernel_multiinformation(codes, batch_scale(codes)).item() for codes in (z, dependent)]
    assert values[1] > values[0] + 0.5


def test_a_constant_latent_stays_finite_and_gradients_are_right() -> None:
    z = torch.tensor([[1.0, 0.5], [1.0, -0.5], [1.0, 0.0]], requires_grad=True)
    value = kernel_multiinformation(z, batch_scale(z))
    torch.autograd.backward(value)
    assert value.isfinite()
    assert z.grad is not None
    assert z.grad.isfinite().all()
    assert torch.autograd.gradcheck(
        lambda codes: kernel_multiinformation(codes, batch_scale(codes)), randn(5, 3).requires_grad_()
    )
