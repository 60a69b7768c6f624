from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from unweave.nets.linear import linear
from unweave.nets.mlp import mlp


@pytest.mark.parametrize("shape", [(7, 1, 1), (3, 5, 4)])
def test_parameters_and_shapes(shape: tuple[int, int, int]) -> None:
    encoder, decoder = mlp(shape, 6, 2)
    values = shape[0] * shape[1] * shape[2]
    assert sum(p.numel() for p in encoder.parameters()) == (values * 256 + 256) + (256 * 256 + 256) + (256 * 6 + 6)
    assert sum(p.numel() for p in decoder.parameters()) == (2 * 256 + 256) + (256 * 256 + 256) + (256 + 1) * values
    assert encoder(torch.rand(3, *shape)).shape == (3, 6)
    assert decoder(torch.rand(3, 2)).shape == (3, *shape)


def test_pixels_stay_in_their_places() -> None:
    decoder = mlp((3, 5, 4), 6, 2).decoder
    codes = torch.randn(2, 2)
    first, second = hidden = decoder.activations(codes)  # type: ignore[operator]
    assert [tuple(h.shape) for h in hidden] == [(2, 256), (2, 256)]
    layers = [layer for layer in decoder.modules() if isinstance(layer, nn.Linear)]
    torch.testing.assert_close(first, F.relu(layers[0](codes)))
    torch.testing.assert_close(second, F.relu(layers[1](first)))
    torch.testing.assert_close(decoder(codes), layers[2](second).reshape(2, 3, 5, 4))


def test_the_linear_net_is_one_matrix_each_way() -> None:
    encoder, decoder = linear((3, 5, 4), 6, 2)
    to_outputs, to_pixels = (
        next(m for m in module.modules() if isinstance(m, nn.Linear)) for module in (encoder, decoder)
    )
    images, codes = torch.rand(2, 3, 5, 4), torch.randn(2, 2)
    torch.testing.assert_close(encoder(images), images.reshape(2, 60) @ to_outputs.weight.T + to_outputs.bias)
    torch.testing.assert_close(decoder(codes), (codes @ to_pixels.weight.T + to_pixels.bias).reshape(2, 3, 5, 4))
    assert sum(p.numel() for p in encoder.parameters()) == 60 * 6 + 6
    assert sum(p.numel() for p in decoder.parameters()) == 2 * 60 + 60
