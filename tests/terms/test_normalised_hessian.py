from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor
from torch.func import jacrev

from tests.terms.models import Layers, forward, gradient, randn
from unweave.latents import FSQ, Deterministic
from unweave.terms import NormalisedHessian
from unweave.terms.curvature import normal, rademacher
from unweave.terms.normalised_hessian import normalised_hessian_penalty
from unweave.terms.reduction import batch_scale

FORMS = randn(4, 3, 3)
SCALE = torch.tensor([0.5, 1.0, 3.0]).double()


def quadratic(z: Tensor) -> Tensor:
    return torch.einsum("...i,cij,...j->...c", z, FORMS, z)


def directions(z: Tensor, k: int = 2) -> tuple[Tensor, Tensor]:
    generator = torch.Generator().manual_seed(0)
    return rademacher(k, z, generator), normal(k, z, generator)


def test_many_directions_approach_the_ratio_of_squares_of_the_exact_hessian() -> None:
    z = randn(1, 3)
    exact = jacrev(jacrev(quadratic))(z[0])
    off, everything = 0.0, 0.0
    for form in exact:
        for i in range(3):
            for j in range(3):
                square = float(form[i, j] * SCALE[i] * SCALE[j]) ** 2
                everything += square
                off += square if i != j else 0.0
    value = normalised_hessian_penalty(lambda c: [quadratic(c)], z, SCALE, *directions(z, 20_000))
    assert value.item() == pytest.approx(off / everything, rel=0.03)


def test_two_layers_by_loops() -> None:
    z = randn(4, 3)
    layers: list[Callable[[Tensor], Tensor]] = [
        quadratic,
        lambda c: torch.stack([c[:, 0] * c[:, 1], c[:, 2] ** 3], 1).reshape(-1, 2, 1, 1),
    ]
    signs, normals = directions(z)

    def mean_variance(layer: int, row: int, units: Tensor) -> float:
        f = layers[layer]
        values: list[list[float]] = []
        for unit in units[:, row]:
            v = 0.1 * unit * SCALE
            at = z[row : row + 1]
            values.append(((f(at + v) - 2 * f(at) + f(at - v)) / 0.01).flatten().tolist())
        first, second = values
        squares = [(a - b) ** 2 / 4 for a, b in zip(first, second, strict=True)]  # biased, of two
        return math.fsum(squares) / len(squares)

    expected = sum(
        mean_variance(layer, row, signs) / (mean_variance(layer, row, normals) + 1e-10)
        for layer in range(2)
        for row in range(4)
    )
    value = normalised_hessian_penalty(lambda c: [f(c) for f in layers], z, SCALE, signs, normals)
    assert value.item() == pytest.approx(expected / 4, rel=1e-6)


def test_it_is_invariant_to_the_scale_of_activations_and_of_each_latent() -> None:
    """Proposition 3.1."""
    z = randn(5, 3)
    one = normalised_hessian_penalty(lambda c: [quadratic(c).sin()], z, SCALE, *directions(z)).item()
    larger = normalised_hessian_penalty(lambda c: [40 * quadratic(c).sin()], z, SCALE, *directions(z))
    assert larger.item() == pytest.approx(one, rel=1e-6)
    factors = torch.tensor([0.1, 5.0, 2.0]).double()  # codes in other units, and a decoder that knows them
    scaled = normalised_hessian_penalty(
        lambda c: [quadratic(c / factors).sin()], z * factors, SCALE * factors, *directions(z)
    )
    assert scaled.item() == pytest.approx(one, rel=1e-6)


def test_sums_of_single_latents_and_flat_layers_cost_nothing_and_products_cost_all() -> None:
    z = randn(5, 3)
    additive = normalised_hessian_penalty(lambda c: [c.sin() + c**2], z, SCALE, *directions(z))
    assert additive.item() == pytest.approx(0, abs=1e-15)
    flat = normalised_hessian_penalty(lambda c: [3 * c], z, SCALE, *directions(z))
    assert flat.item() == pytest.approx(0, abs=1e-10)
    product = normalised_hessian_penalty(lambda c: [c[:, :1] * c[:, 1:2]], z[:1], SCALE, *directions(z[:1], 20_000))
    assert product.item() == pytest.approx(1, rel=0.03)


def test_the_term_scales_by_the_whole_batch_in_one_call() -> None:
    decoder = Layers(quadratic)
    batch = forward(Deterministic(size=3), decoder=decoder)
    value = NormalisedHessian()(batch)
    assert decoder.calls == [6 * 9]
    z = batch.code.z
    expected = normalised_hessian_penalty(lambda c: [quadratic(c)], z, batch_scale(z), *directions(z))
    assert torch.equal(value, expected)
    batch = forward(Deterministic(size=3), decoder=decoder)
    value = NormalisedHessian(share=0.5)(batch)
    assert decoder.calls[1:] == [3 * 9]
    generator = torch.Generator().manual_seed(0)
    some = batch.code.z[torch.randperm(6, generator=generator)[:3]]
    signs, normals = rademacher(2, some, generator), normal(2, some, generator)
    expected = normalised_hessian_penalty(
        lambda c: [quadratic(c)], some, batch_scale(batch.code.continuous), signs, normals
    )
    assert torch.equal(value, expected)


def test_of_quantised_codes_the_scale_is_the_continuous_ones_and_the_gradient_reaches_the_encoder() -> None:
    batch = forward(FSQ(size=3, levels=12), decoder=Layers(lambda z: (z[:, :1] * z).sin()))
    scale = batch_scale(batch.code.continuous)
    expected = normalised_hessian_penalty(batch.model.activations, batch.code.z, scale, *directions(batch.code.z))
    value = NormalisedHessian()(batch)
    assert torch.equal(value, expected)
    torch.autograd.backward(value)
    assert gradient(batch.model.encoder) > 0


def test_the_gradient_passes_through_the_codes_and_through_their_scale() -> None:
    batch = forward(FSQ(size=3, levels=12), decoder=Layers(lambda z: (z[:, :1] * z).sin()))
    code = batch.code
    by_codes, by_both = torch.autograd.grad(NormalisedHessian()(batch), [code.z, code.continuous])
    assert (by_codes != 0).any()
    assert (by_both - by_codes).abs().max() > 1e-6 * by_codes.abs().max()  # what the scale adds


def test_gradients_of_codes_and_of_scale() -> None:
    signs, normals = directions(randn(3, 3))
    assert torch.autograd.gradcheck(
        lambda z, scale: normalised_hessian_penalty(lambda c: [(c[:, :1] * c).sin()], z, scale, signs, normals),
        (randn(3, 3).requires_grad_(), SCALE.clone().requires_grad_()),
        rtol=1e-2,
    )
