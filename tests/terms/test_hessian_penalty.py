from __future__ import annotations

from collections.abc import Callable
from itertools import product

import pytest
import torch
from torch import Tensor
from torch.func import jacrev

from tests.terms.models import Function, Layers, forward, gradient, net_model, randn
from unweave.errors import InputError
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
    value = hessian_penalty(lambda codes: [quadratic(codes)], z, signs)
    assert value.item() * biased == pytest.approx(max(expected))
    value = hessian_penalty(lambda codes: [quadratic(codes)], z, signs, form="tripod")
    assert value.item() == pytest.approx(sum(expected) / 4)  # of all directions the biased variance is exact


def test_two_directions_are_unbiased() -> None:
    z = randn(1, 3).expand(20_000, 3)  # as many draws
    signs = rademacher(2, z, torch.Generator().manual_seed(0))
    each = torch.stack(
        [hessian_penalty(lambda c: [quadratic(c)], z[rows], signs[:, rows], form="tripod") for rows in _chunks()]
    )
    each = 2 * each  # the biased variance of two is half of the unbiased one
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
    passed = forward(Deterministic(size=3), decoder=decoder)
    value = HessianPenalty()(passed)
    assert decoder.calls == [6 * 5]
    signs = rademacher(2, passed.code.z, torch.Generator().manual_seed(0))
    rows = [[(v @ form @ v).item() for form in FORMS] for v in signs.reshape(-1, 3)]  # ((k, n), entries); v'Hv is twice
    expected = 0.0
    for row in range(6):
        pairs = list(zip(rows[row], rows[6 + row], strict=True))
        expected += max((2 * a - 2 * b) ** 2 / 2 for a, b in pairs) * (1 + 9) / 2
    assert value.item() == pytest.approx(expected / 6)
    HessianPenalty(share=0.5, directions=3)(passed)
    assert decoder.calls[1:] == [3 * 7]


def test_without_shown_activations_it_is_of_images_and_reaches_the_encoder() -> None:
    decoder = Function(lambda z: (z[:, :1] * z[:, 1:2] * z[:, 2:]).reshape(-1, 1, 1, 1))
    passed = forward(Deterministic(size=3), "gaussian", decoder=decoder)
    torch.autograd.backward(HessianPenalty()(passed))
    assert gradient(passed.model.encoder) > 0


def test_gradients() -> None:
    signs = rademacher(2, randn(3, 3), torch.Generator().manual_seed(0))
    assert torch.autograd.gradcheck(
        lambda z: hessian_penalty(lambda c: [(c[:, :1] * c).sin()], z, signs, form="tripod"),
        randn(3, 3).requires_grad_(),
    )


def second_difference(f: Callable[[Tensor], Tensor], at: Tensor, v: Tensor) -> list[float]:
    at, v = at[None], 0.1 * v[None]
    flat: list[float] = ((f(at + v) - 2 * f(at) + f(at - v)) / 0.01).flatten().tolist()
    return flat


def test_the_three_forms_by_loops() -> None:
    mixing = randn(2 * 3 * 2, 3)

    def flat(z: Tensor) -> Tensor:
        return (z @ mixing[:4].T).sin()

    def spatial(z: Tensor) -> Tensor:
        return (z @ mixing.T).tanh().reshape(-1, 2, 3, 2) ** 2

    def by_channel(z: Tensor) -> Tensor:
        """The spatial layer, each channel of each image less its mean over its standard deviation."""
        out = spatial(z).clone()
        for image in out:
            for channel in image:
                spread = channel.var(correction=0).item()
                channel.copy_((channel - channel.mean()) / (spread + 1e-5) ** 0.5)
        return out

    z = randn(4, 3, seed=5)
    signs = rademacher(2, z, torch.Generator().manual_seed(0))

    def spreads(layer: Callable[[Tensor], Tensor], row: int, divisor: int) -> list[float]:
        first, second = (second_difference(layer, z[row], v[row]) for v in signs)
        return [(a - b) ** 2 / 2 / divisor for a, b in zip(first, second, strict=True)]

    layers = (flat, spatial)
    expected = {
        "peebles": sum(max(max(spreads(layer, row, 1)) for row in range(4)) for layer in layers),
        "rowwise": sum(max(spreads(layer, row, 1)) for layer in layers for row in range(4)) / 4 / 2,
        "tripod": sum(
            sum(entries) / len(entries) / 4
            for layer in (flat, by_channel)
            for row in range(4)
            for entries in [spreads(layer, row, 2)]
        ),
    }
    for form, value in expected.items():
        ours = hessian_penalty(lambda c: [f(c) for f in layers], z, signs, form=form)  # type: ignore[arg-type]
        assert ours.item() == pytest.approx(value, rel=1e-5), form


def test_the_tripod_form_cannot_be_reduced_by_scaling_activations() -> None:
    z, signs = randn(5, 3), rademacher(2, randn(5, 3), torch.Generator().manual_seed(0))

    def layer(z: Tensor) -> Tensor:
        return (z @ randn(3, 12)).sin().reshape(-1, 2, 3, 2)

    one = hessian_penalty(lambda c: [layer(c)], z, signs, form="tripod")
    tenth = hessian_penalty(lambda c: [0.1 * layer(c)], z, signs, form="tripod")
    assert tenth.item() == pytest.approx(one.item(), rel=0.05)  # up to the norm's epsilon
    single = hessian_penalty(lambda c: [quadratic(c)[:, :, None, None]], z, signs, form="tripod")
    assert single.item() == pytest.approx(hessian_penalty(lambda c: [quadratic(c)], z, signs, form="tripod").item())


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "tanh"])
@pytest.mark.parametrize("name", ["conv64", "mlp"])
def test_a_piecewise_linear_decoder_is_refused(name: str, activation: str) -> None:
    made = net_model(name, activation=activation)
    if activation != "relu":
        HessianPenalty().check_model(made)
        return
    with pytest.raises(InputError, match=r"needs a smooth decoder, .* zero almost everywhere: choose net.activation="):
        HessianPenalty().check_model(made)


def test_scaled_directions_measure_the_hessian_of_standardised_latents() -> None:
    """With ±σ, the penalty of f at z is the plain penalty of f(σ · u) at u = z / σ, as in the code of Tripod."""
    passed = forward(Deterministic(size=3), decoder=Layers(quadratic))
    z = passed.code.z.detach()
    scale = z.std(0, correction=0) + 1e-6
    passed.generator.manual_seed(0)
    value = HessianPenalty(form="tripod", scaled=True)(passed)
    directions = rademacher(2, z, torch.Generator().manual_seed(0))
    expected = hessian_penalty(lambda codes: [quadratic(codes * scale)], z / scale, directions, form="tripod")
    torch.testing.assert_close(value.detach(), expected, rtol=1e-6, atol=0)
    passed.generator.manual_seed(0)
    assert HessianPenalty(form="tripod")(passed).item() != pytest.approx(expected.item(), rel=0.01)
