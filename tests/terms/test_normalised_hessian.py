from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor
from torch.func import jacrev

from tests.terms.models import Function, Layers, forward, gradient, model, net_model, randn
from unweave.errors import InputError
from unweave.latents import FSQ, Deterministic
from unweave.model import Forward
from unweave.terms import HessianPenalty, NormalisedHessian
from unweave.terms.curvature import flat_layers, normal, rademacher
from unweave.terms.normalised_hessian import normalised_hessian_penalty
from unweave.terms.term import Term, batch_scale

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
    entries = (4, 2)  # of each layer
    expected = sum(
        sum(entries[layer] * mean_variance(layer, row, signs) for layer in range(2))
        / sum(entries[layer] * mean_variance(layer, row, normals) for layer in range(2))
        for row in range(4)
    )
    value = normalised_hessian_penalty(lambda c: [f(c) for f in layers], z, SCALE, signs, normals, layers="single")
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
    passed = forward(Deterministic(size=3), decoder=decoder)
    value = NormalisedHessian()(passed)
    assert decoder.calls == [6 * 9]
    z = passed.code.z
    expected = normalised_hessian_penalty(lambda c: [quadratic(c)], z, batch_scale(z), *directions(z))
    assert torch.equal(value, expected)
    passed = forward(Deterministic(size=3), decoder=decoder)
    value = NormalisedHessian(share=0.5)(passed)
    assert decoder.calls[1:] == [3 * 9]
    generator = torch.Generator().manual_seed(0)
    some = passed.code.z[torch.randperm(6, generator=generator)[:3]]
    signs, normals = rademacher(2, some, generator), normal(2, some, generator)
    expected = normalised_hessian_penalty(
        lambda c: [quadratic(c)], some, batch_scale(passed.code.continuous), signs, normals
    )
    assert torch.equal(value, expected)


def test_of_quantised_codes_the_scale_is_the_continuous_ones_and_the_gradient_reaches_the_encoder() -> None:
    passed = forward(FSQ(size=3, levels=12), decoder=Layers(lambda z: (z[:, :1] * z).sin()))
    scale = batch_scale(passed.code.continuous)
    expected = normalised_hessian_penalty(passed.model.activations, passed.code.z, scale, *directions(passed.code.z))
    value = NormalisedHessian()(passed)
    assert torch.equal(value, expected)
    torch.autograd.backward(value)
    assert gradient(passed.model.encoder) > 0


def test_the_gradient_passes_through_the_codes_and_through_their_scale() -> None:
    passed = forward(FSQ(size=3, levels=12), decoder=Layers(lambda z: (z[:, :1] * z).sin()))
    code = passed.code
    by_codes, by_both = torch.autograd.grad(NormalisedHessian()(passed), [code.z, code.continuous])
    assert (by_codes != 0).any()
    assert (by_both - by_codes).abs().max() > 1e-6 * by_codes.abs().max()  # what the scale adds


def test_gradients_of_codes_and_of_scale() -> None:
    signs, normals = directions(randn(3, 3))
    assert torch.autograd.gradcheck(
        lambda z, scale: normalised_hessian_penalty(lambda c: [(c[:, :1] * c).sin()], z, scale, signs, normals),
        (randn(3, 3).requires_grad_(), SCALE.clone().requires_grad_()),
        rtol=1e-2,
    )


@pytest.mark.parametrize("name", ["conv64", "conv16", "mlp", "qlae", "tripod"])
@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "tanh"])
def test_a_decoder_with_a_piecewise_linear_layer_is_refused(name: str, activation: str) -> None:
    """The steering vector of qlae is piecewise linear with ReLUs, that of tripod has a norm."""
    made = net_model(name, activation=activation)
    assert made.training
    if activation != "relu" or name == "tripod":
        NormalisedHessian().check_model(made)
    else:
        which = r"of hidden layer 1 of this one" if name == "qlae" else "of this one"
        with pytest.raises(InputError, match=f"{which} is zero almost everywhere: choose net.activation=gelu, silu or"):
            NormalisedHessian().check_model(made)
    if name == "qlae":
        NormalisedHessian(layers="single").check_model(made)
    assert all(module.training for module in made.modules())
    assert all(parameter.grad is None for parameter in made.parameters())


def shifted(z: Tensor) -> Tensor:
    """An image moved by codes, by an operation that PyTorch cannot differentiate twice."""
    image = randn(1, 1, 4, 4).to(z).expand(len(z), -1, -1, -1)
    return F.grid_sample(image, z[:, None, None, :2].tanh(), align_corners=False).flatten(1)


@pytest.mark.parametrize(
    ("function", "flat"),
    [
        (lambda z: 3 * z + 1, True),
        (lambda z: (z.relu() - 0.5).abs(), True),
        (lambda z: torch.ones_like(z), True),
        (lambda z: z[:, :1] * z, False),
        (lambda z: z**2, False),
        (shifted, False),
    ],
)
def test_flat_layers_are_found_by_their_second_derivatives(function: Callable[[Tensor], Tensor], flat: bool) -> None:
    made = model(Deterministic(size=3), decoder=Layers(function, lambda z: z.sin()))
    assert flat_layers(made) == [flat, False]
    images = model(Deterministic(size=3), "gaussian", decoder=Function(function))  # which shows no activations
    assert flat_layers(images) == [flat]


@pytest.mark.parametrize(("term", "steps"), [(NormalisedHessian(), 8), (HessianPenalty(form="tripod"), 4)])
def test_the_code_is_decoded_once_for_the_reconstruction_and_the_penalty(term: Term, steps: int) -> None:
    """A decoder that can finish its activations shares them: the same logits, and the same penalty up to rounding."""
    made = net_model("tripod", Deterministic(size=4), width=0.125)
    images = torch.rand(4, 1, 32, 32, generator=torch.Generator().manual_seed(0))
    calls: list[int] = []
    condition = made.decoder.get_submodule("condition")
    condition.register_forward_hook(lambda module, given, result: calls.append(len(result)))
    found = []
    for shared in (True, False):
        calls.clear()
        passed = Forward(made, images, generator=torch.Generator().manual_seed(0))
        if not shared:
            passed.hidden = None
        logits, penalty = passed.logits, term(passed)
        found.append((logits.detach(), penalty.detach()))
        assert sum(calls) == 4 * (steps + (1 if shared else 2))  # the code itself once or twice
    assert torch.equal(found[0][0], found[1][0])
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-4, atol=0)
