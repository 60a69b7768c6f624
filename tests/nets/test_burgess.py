from __future__ import annotations

from collections.abc import Callable

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.nets.burgess import burgess


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("channels", [1, 3])
def test_parameters_of_the_published_layers(channels: int) -> None:
    """Burgess et al. 2018, app. A.1: 32 channels everywhere, two layers of 256 units, kernels of 4 × 4."""
    encoder, decoder = burgess((channels, 64, 64), 20, 10)
    convolutions = (16 * channels * 32 + 32) + 3 * (16 * 32 * 32 + 32)
    assert parameters(encoder) == convolutions + (512 * 256 + 256) + (256 * 256 + 256) + (256 * 20 + 20)
    upconvolutions = 3 * (16 * 32 * 32 + 32) + (16 * 32 * channels + channels)
    assert parameters(decoder) == (10 * 256 + 256) + (256 * 256 + 256) + (256 * 512 + 512) + upconvolutions


@pytest.mark.parametrize(("activation", "act"), [("relu", F.relu), ("tanh", torch.tanh)])
def test_both_halves_equal_the_plain_layers(activation: str, act: Callable[[Tensor], Tensor]) -> None:
    torch.manual_seed(0)
    encoder, decoder = burgess((1, 64, 64), 20, 10, activation=activation)  # type: ignore[arg-type]
    weights = {name: value.detach() for name, value in encoder.named_parameters()}
    images, codes = torch.rand(3, 1, 64, 64), torch.randn(3, 10)
    hidden = images
    for i in (0, 2, 4, 6):
        hidden = act(F.conv2d(hidden, weights[f"{i}.weight"], weights[f"{i}.bias"], stride=2, padding=1))
    hidden = hidden.permute(0, 2, 3, 1).reshape(3, 512)
    for i in (9, 11):
        hidden = act(F.linear(hidden, weights[f"{i}.weight"], weights[f"{i}.bias"]))
    torch.testing.assert_close(encoder(images), F.linear(hidden, weights["13.weight"], weights["13.bias"]))

    linear = [layer for layer in decoder.modules() if isinstance(layer, nn.Linear)]
    upconvs = [layer for layer in decoder.modules() if isinstance(layer, nn.ConvTranspose2d)]
    hidden = codes
    for layer in linear:
        hidden = act(layer(hidden))
    features: Tensor = hidden.reshape(3, 4, 4, 32).permute(0, 3, 1, 2)
    for number, upconv in enumerate(upconvs, start=1):
        assert upconv.bias is not None
        features = F.conv_transpose2d(features, upconv.weight, upconv.bias, stride=2, padding=1)
        features = features if number == len(upconvs) else act(features)
    assert len(linear) == 3
    assert len(upconvs) == 4
    torch.testing.assert_close(decoder(codes), features)
