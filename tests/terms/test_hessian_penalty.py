from __future__ import annotations

from itertools import product

import pytest
import torch
from torch import Tensor
from torch.func import jacrev

from tests.terms.models import Function, Layers, forward, gradient, randn
from unweave.latents import Deterministic
from unweave.terms import HessianPenalty
from unweave.terms.curvature import rademacher
from unweave.terms.hessian_penalty import hessian_penalty

FORMS = randn(4, 3, 3)


def quadratic(z: Tensor) -> Tensor:
    return torch.einsum("...i,cij,...j->...c", z, FORMS, z)


def off_diagonal(z: Tensor) -> list[float]:
    """2 Σ_{i≠j} H_ij² of each of the four entries, from the exact Hessian."""
    exact = jacrev(jacrev(quadratic))(z)  # (4, 3, 3)
    return [2 * sum(float(h[i, j]) ** 2 for i in range(3) for j in range(3) if i != j) for h in exact]


def test_the_variance_over_all_signs_is_that_of_the_exact_hessian() -> None:
    z = randn(1, 3)
    signs = torch.tensor(list(product([-1.0, 1.0], repeat=3))).double()[:, None]  # (8, 1, 3): every direction
    biased = 7 / 8  # the eight are the whole distribution
    expected = off_diagonal(z[0])
    value = hessian_penalty(lambda codes: [quadratic(codes)], z, signs, reduction="max")
    assert value.item() * biased == pytest.approx(max(expected))
    value = hessian_penalty(lambda codes: [quadratic(codes)], z, signs, reduction="mean")
    assert value.item() * biased == pytest.approx(sum(expected) / 4)


def test_two_directions_are_unbiased() -> None:
    z = randn(1, 3).expand(20_000, 3)  # as many draws
    signs = rademacher(2, z, torch.Generator().manual_seed(0))
    each = torch.stack(
        [hessian_penalty(lambda c: [quadratic(c)], z[rows], signs[:, rows], reduction="mean") for rows in _chunks()]
    )
    error = each.std() / len(each) ** 0.5
    assert abs(each.mean() - sum(off_diagonal(z[0])) / 4) < 4 * error
    assert error < 0.03 * each.mean()


def _chunks() -> list[slice]:
    return [slice(start, start + 100) for start in range(0, 20_000, 100)]


def test_a_sum_of_functions_of_single_latents_costs_nothing() -> None:
    z = randn(5, 3)
    signs = rademacher(2, z, torch.Generator().manual_seed(0))
    value = hessian_penalty(lambda c: [c.sin() + 0, (c**4).sum(1, keepdim=True)], z, signs)
    assert value.item() == pytest.approx(0, abs=1e-15)


def test_scaling_down_the_activations_reduces_it() -> None:
    z, signs = randn(5, 3), rademacher(2, randn(5, 3), torch.Generator().manual_seed(0))
    one = hessian_penalty(lambda c: [quadratic(c)], z, signs)
    half = hessian_penalty(lambda c: [0.5 * quadratic(c)], z, signs)
    assert half.item() == pytest.approx(0.25 * one.item())


def test_the_term_means_over_layers_and_rows_and_takes_a_share() -> None:
    decoder = Layers(quadratic, lambda z: 3 * quadratic(z))
    batch = forward(Deterministic(size=3), decoder=decoder)
    value = HessianPenalty()(batch)
    assert decoder.calls == [6 * 5]
    signs = rademacher(2, batch.code.z, torch.Generator().manual_seed(0))
    rows = [[(v @ form @ v).item() for form in FORMS] for v in signs.reshape(-1, 3)]  # ((k, n), entries); v'Hv is twice
    expected = 0.0
    for row in range(6):
        pairs = list(zip(rows[row], rows[6 + row], strict=True))
        expected += max((2 * a - 2 * b) ** 2 / 2 for a, b in pairs) * (1 + 9) / 2
    assert value.item() == pytest.approx(expected / 6)
    HessianPenalty(share=0.5, directions=3)(batch)
    assert decoder.calls[1:] == [3 * 7]


def test_without_shown_activations_it_is_of_images_and_reaches_the_encoder() -> None:
    decoder = Function(lambda z: (z[:, :1] * z[:, 1:2] * z[:, 2:]).reshape(-1, 1, 1, 1))
    batch = forward(Deterministic(size=3), "gaussian", decoder=decoder)
    torch.autograd.backward(HessianPenalty()(batch))
    assert gradient(batch.model.encoder) > 0


def test_gradients() -> None:
    signs = rademacher(2, randn(3, 3), torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(
        lambda z: hessian_penalty(lambda c: [(c[:, :1] * c).sin()], z, signs, reduction="mean"),
        randn(3, 3).requires_grad_(),
    )
