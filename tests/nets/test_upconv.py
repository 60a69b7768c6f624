from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn
from torch.autograd import forward_ad, gradcheck, gradgradcheck

from unweave.nets.upconv import Upconv, in_a_row

# On first use of forward mode PyTorch compiles its own rules with torch.jit.script, which it has deprecated: with a
# DeprecationWarning in version 2.13, with a FutureWarning in 2.15.
pytestmark = [
    pytest.mark.filterwarnings("ignore:.torch.jit.:DeprecationWarning"),
    pytest.mark.filterwarnings("ignore:.torch.jit.:FutureWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning:torch"),
]

OUTPUTS = [1, 2, 3, 9]  # one for each implementation, two for the second


def theirs(layer: Upconv) -> nn.Module:
    """PyTorch's own layers, with the same parameters under the same names."""
    plain = nn.ConvTranspose2d(layer.in_channels, layer.out_channels, 4, stride=2, padding=1)
    plain.to(layer.weight.dtype).load_state_dict(layer.state_dict())
    return nn.Sequential(plain, nn.ReLU() if layer.relu else nn.Identity())


def layer_and_features(
    outputs: int, relu: bool, dtype: torch.dtype = torch.float64, size: tuple[int, int] = (3, 5)
) -> tuple[Upconv, Tensor]:
    torch.manual_seed(0)
    layer = Upconv(4, outputs, relu=relu).to(dtype)
    return layer, torch.randn(3, 4, *size, dtype=dtype, requires_grad=True)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("outputs", OUTPUTS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("size", [(1, 1), (3, 5), (8, 2)])
@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_equals_pytorchs_layer_and_its_gradients(
    relu: bool, outputs: int, dtype: torch.dtype, size: tuple[int, int], memory_format: torch.memory_format
) -> None:
    layer, features = layer_and_features(outputs, relu, dtype, size)
    layer.to(memory_format=memory_format)  # type: ignore[call-overload]
    features = features.detach().to(memory_format=memory_format).requires_grad_()
    plain = theirs(layer)
    ours, expected = layer(features), plain(features)
    torch.testing.assert_close(ours, expected)
    towards = torch.randn_like(expected)
    torch.testing.assert_close(
        torch.autograd.grad(ours, [features, *layer.parameters()], towards),
        torch.autograd.grad(expected, [features, *plain.parameters()], towards),
    )


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("outputs", OUTPUTS)
def test_first_and_second_derivatives(relu: bool, outputs: int) -> None:
    layer, features = layer_and_features(outputs, relu, size=(2, 3))
    layer = Upconv(2, outputs, relu=relu).double()
    features = features[:2, :2].detach().requires_grad_()

    def function(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        return torch.func.functional_call(layer, {"weight": weight, "bias": bias}, (features,))  # type: ignore[no-any-return]

    inputs = (features, *(p.detach().requires_grad_() for p in layer.parameters()))
    assert gradcheck(function, inputs, check_forward_ad=True, fast_mode=True)
    assert gradgradcheck(function, inputs, fast_mode=True)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("outputs", OUTPUTS)
def test_torch_func_transforms(relu: bool, outputs: int) -> None:
    layer, features = layer_and_features(outputs, relu)
    features = features.detach()
    plain = theirs(layer)
    direction = torch.randn_like(features)
    ours, expected = (torch.func.jvp(f, (features,), (direction,)) for f in (layer, plain))
    torch.testing.assert_close(ours, expected)
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(jacobian(layer)(features[:1]), jacobian(plain)(features[:1]))
    torch.testing.assert_close(torch.vmap(layer)(features[:, None]), plain(features)[:, None])


class Row(nn.Module):
    """Three layers, computed together or one by one."""

    def __init__(self, together: bool) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.layers = nn.ModuleList([Upconv(2, 9, relu=True), Upconv(9, 2, relu=True), Upconv(2, 1)]).double()
        self.plain = nn.Sequential(*(theirs(layer) for layer in self._layers()))
        self.together = together

    def _layers(self) -> list[Upconv]:
        return [layer for layer in self.layers if isinstance(layer, Upconv)]

    def forward(self, features: Tensor) -> Tensor:
        out: Tensor = in_a_row(self._layers(), features) if self.together else self.plain(features)
        return out


def test_a_row_equals_its_layers_one_by_one() -> None:
    row, single = Row(together=True), Row(together=False)
    features = torch.randn(3, 2, 2, 3, dtype=torch.float64, requires_grad=True)
    names, weights = zip(*((f"layers.{name}", p.detach()) for name, p in row.layers.named_parameters()), strict=True)

    def function(features: Tensor, *weights: Tensor) -> Tensor:
        return torch.func.functional_call(row, dict(zip(names, weights, strict=True)), (features,))  # type: ignore[no-any-return]

    torch.testing.assert_close(row(features), single(features))
    torch.testing.assert_close(
        torch.autograd.grad(row(features).square().sum(), features),
        torch.autograd.grad(single(features).square().sum(), features),
    )
    inputs = (features, *(w.requires_grad_() for w in weights))
    assert gradcheck(function, inputs, check_forward_ad=True, fast_mode=True)
    assert gradgradcheck(function, inputs, fast_mode=True)
    one = features[:1].detach()
    for jacobian in (torch.func.jacrev, torch.func.jacfwd):
        torch.testing.assert_close(jacobian(row)(one), jacobian(single)(one))
    torch.testing.assert_close(
        torch.func.hessian(lambda x: row(x).square().sum())(one),
        torch.func.hessian(lambda x: single(x).square().sum())(one),
    )


def test_a_row_leaves_gradients_of_others_alone() -> None:
    """Two losses on one row, and a gradient that somebody else holds: nothing is written into twice."""
    row = Row(together=True)
    features = torch.randn(3, 2, 2, 3, dtype=torch.float64, requires_grad=True)
    out = row(features)
    towards = torch.randn_like(out)
    kept = towards.clone()
    first = torch.autograd.grad(out, features, towards, retain_graph=True)
    second = torch.autograd.grad(out, features, towards)
    assert torch.equal(towards, kept)
    assert torch.equal(first[0], second[0])


def test_a_hidden_layer_that_is_watched_has_its_own_gradient() -> None:
    row = Row(together=True)
    features = torch.randn(3, 2, 2, 3, dtype=torch.float64, requires_grad=True)
    seen: list[Tensor] = []
    row._layers()[0].register_forward_hook(lambda _, __, out: seen.append(out))
    row(features)
    ours = torch.autograd.grad(seen[0].sum(), features)
    torch.testing.assert_close(ours, torch.autograd.grad(row.plain[0](features).sum(), features))


def test_a_tangent_of_the_bias_alone_has_the_outputs_shape() -> None:
    layer, features = layer_and_features(3, relu=False)
    with forward_ad.dual_level():
        bias = forward_ad.make_dual(layer.bias.detach(), torch.ones(3, dtype=torch.float64))
        out = torch.func.functional_call(layer, {"bias": bias}, (features.detach(),))
        tangent = forward_ad.unpack_dual(out).tangent
    assert torch.equal(tangent, torch.ones(3, 3, 6, 10, dtype=torch.float64))


def test_only_what_is_wanted_is_differentiated() -> None:
    layer, features = layer_and_features(3, relu=True)
    layer.weight.requires_grad_(False)
    layer(features.detach()).sum().backward()
    assert layer.weight.grad is None
    assert layer.bias.grad is not None
    layer.bias.requires_grad_(False)
    assert not layer(features.detach()).requires_grad


@pytest.mark.parametrize("outputs", OUTPUTS)
def test_outputs_are_channels_last(outputs: int) -> None:
    layer, features = layer_and_features(outputs, relu=True)
    layer.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    out = layer(features.to(memory_format=torch.channels_last))
    assert out.is_contiguous(memory_format=torch.channels_last)


@pytest.mark.parametrize("relu", [False, True])
@pytest.mark.parametrize("outputs", OUTPUTS)
def test_autocast_is_as_exact_as_pytorchs_layer(relu: bool, outputs: int) -> None:
    layer, features = layer_and_features(outputs, relu, torch.float32, size=(8, 8))
    plain, towards = theirs(layer), torch.randn(3, outputs, 16, 16)
    sums = F.conv_transpose2d(features, layer.weight, layer.bias, stride=2, padding=1)
    towards[sums.abs() < 0.05 * sums.std()] = 0  # where rounding decides whether a ReLU passes the gradient on
    exact = [features, *layer.parameters()]
    expected = plain(features)
    reference = [expected, *torch.autograd.grad(expected, [features, *plain.parameters()], towards)]
    errors = []
    for one in (layer, plain):
        with torch.autocast("cpu", dtype=torch.bfloat16):
            out = one(features)
        assert out.dtype == torch.bfloat16
        inputs = exact if one is layer else [features, *plain.parameters()]
        found = [out, *torch.autograd.grad(out, inputs, towards.bfloat16())]
        assert all(each.dtype == torch.float32 for each in found[1:])
        with torch.no_grad():
            errors.append([float((a - b).norm() / b.norm()) for a, b in zip(found, reference, strict=True)])
    ours, pytorchs = errors
    assert ours[0] < 0.005
    assert all(a <= 1.2 * b for a, b in zip(ours, pytorchs, strict=True))


def test_half_precision_stays() -> None:
    layer, features = layer_and_features(1, relu=True, dtype=torch.float32)
    halved = copy.deepcopy(layer).bfloat16()
    assert halved(features.bfloat16()).dtype == torch.bfloat16


def test_other_devices_are_pytorchs() -> None:
    with torch.device("meta"):
        layer = Upconv(4, 1, relu=True)
        assert layer(torch.empty(2, 4, 3, 5)).shape == (2, 1, 6, 10)


def test_an_empty_batch() -> None:
    layer, features = layer_and_features(1, relu=True)
    assert layer(features[:0]).shape == (0, 1, 6, 10)


def test_starts_like_pytorchs_layer() -> None:
    torch.manual_seed(0)
    ours = Upconv(4, 3).state_dict()
    torch.manual_seed(0)
    expected = nn.ConvTranspose2d(4, 3, 4, stride=2, padding=1).state_dict()
    assert list(ours) == list(expected) == ["weight", "bias"]
    assert all(torch.equal(ours[name], expected[name]) for name in ours)


def test_by_hand_for_one_pixel() -> None:
    """A single input pixel is the inner 2 × 2 of the kernel, the rest falls off the edge."""
    layer = Upconv(1, 1)
    out = layer(torch.full((1, 1, 1, 1), 2.0))
    torch.testing.assert_close(out[0, 0], 2 * layer.weight[0, 0, 1:3, 1:3] + layer.bias)
