from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.nets import NETS
from unweave.nets.pair import activation_layer, scaled

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "silu": lambda x: x * torch.sigmoid(x),
    "tanh": torch.tanh,
    "leaky_relu": lambda x: torch.where(x > 0, x, 0.2 * x),
}
KINDS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "tanh": nn.Tanh, "leaky_relu": nn.LeakyReLU}
NAMES = [name for name in NETS if name != "linear"]


@pytest.mark.parametrize("inplace", [False, True])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_layers_are_the_functions_they_are_named_after(name: Any, inplace: bool) -> None:
    values = torch.linspace(-3, 3, 13)
    torch.testing.assert_close(activation_layer(name, inplace=inplace)(values.clone()), FUNCTIONS[name](values))


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "tanh"])
@pytest.mark.parametrize("name", NAMES)
def test_a_net_has_the_chosen_activation_and_no_other(name: str, activation: str) -> None:
    """Conv64 fuses three of its ReLUs into convolutions, which have no layer of their own."""
    encoder, decoder = NETS[name]((1, 32, 32), 4, 2, activation=activation, width=0.1)
    default = NETS[name]((1, 32, 32), 4, 2, width=0.1)
    for half, before in ((encoder, default.encoder), (decoder, default.decoder)):
        found = [type(m) for m in half.modules() if isinstance(m, tuple(KINDS.values()))]
        fused = sum(getattr(module, "relu", False) for module in half.modules())
        expected = [type(m) for m in before.modules() if isinstance(m, tuple(KINDS.values()))]
        fused_before = sum(getattr(module, "relu", False) for module in before.modules())
        assert set(found) == {KINDS[activation]}
        assert len(found) + fused == len(expected) + fused_before
        assert not fused or activation == "relu"


def test_qlae_mixes_two_activations_as_its_authors_do() -> None:
    encoder, decoder = NETS["qlae"]((1, 32, 32), 4, 2, width=0.1)
    assert sum(isinstance(m, nn.LeakyReLU) for m in encoder.modules()) == 12
    assert sum(isinstance(m, nn.ReLU) for m in encoder.modules()) == 2
    assert sum(isinstance(m, nn.LeakyReLU) for m in decoder.modules()) == 12
    assert sum(isinstance(m, nn.ReLU) for m in decoder.modules()) == 2 + 12


@pytest.mark.parametrize("activation", ["relu", "gelu", "silu", "tanh"])
def test_conv64_equals_plain_layers_with_any_activation(activation: str) -> None:
    torch.manual_seed(0)
    encoder, decoder = NETS["conv64"]((3, 16, 32), 4, 2, activation=activation, width=0.25)
    act = FUNCTIONS[activation]
    codes = torch.randn(5, 2)
    hidden = codes
    for layer in [m for m in decoder.modules() if isinstance(m, nn.Linear)]:
        hidden = act(layer(hidden))
    hidden = hidden.reshape(5, 1, 2, 16).permute(0, 3, 1, 2)
    *upconvs, last = (m for m in decoder.modules() if isinstance(m, nn.ConvTranspose2d))
    for up in upconvs:
        hidden = act(F.conv_transpose2d(hidden, up.weight, up.bias, stride=2, padding=1))
    torch.testing.assert_close(decoder.activations(codes)[-1], hidden)  # type: ignore[operator]
    torch.testing.assert_close(decoder(codes), F.conv_transpose2d(hidden, last.weight, last.bias, stride=2, padding=1))
    images = torch.rand(5, 3, 16, 32)
    features = images
    for conv in [m for m in encoder.modules() if isinstance(m, nn.Conv2d)]:
        features = act(F.conv2d(features, conv.weight, conv.bias, stride=2, padding=1))
    first, second = (m for m in encoder.modules() if isinstance(m, nn.Linear))
    torch.testing.assert_close(encoder(images), second(act(first(features.permute(0, 2, 3, 1).flatten(1)))))


@pytest.mark.parametrize("width", [0.25, 1.0, 1.5])
@pytest.mark.parametrize("name", NAMES)
def test_width_multiplies_every_hidden_layer(name: str, width: float) -> None:
    """Every weight that is not at the edge of the net has width² as many entries, and every bias width times."""
    (plain, wide), (decoder, wide_decoder) = zip(
        NETS[name]((3, 32, 32), 4, 2), NETS[name]((3, 32, 32), 4, 2, width=width), strict=True
    )
    edges = {2, 3, 4, 3072}  # codes, channels, outputs, pixels
    for before, after in ((plain, wide), (decoder, wide_decoder)):
        for (_, old), (_, new) in zip(before.named_parameters(), after.named_parameters(), strict=True):
            for size, other in zip(old.shape, new.shape, strict=True):
                spatial = size in edges or (old.ndim == 4 and size in (1, 3, 4))
                assert other == (size if spatial else round(size * width)), (name, old.shape, new.shape)


def test_a_width_of_nearly_nothing_leaves_one_unit() -> None:
    assert scaled(256, 1e-9) == 1
    assert [scaled(units, 0.3) for units in (32, 64, 256)] == [10, 19, 77]
    for name in NAMES:
        encoder, decoder = NETS[name]((1, 32, 32), 4, 2, width=1e-9)
        assert encoder(torch.rand(2, 1, 32, 32)).shape == (2, 4)
        assert decoder(torch.rand(2, 2)).shape == (2, 1, 32, 32)
