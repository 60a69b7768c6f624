from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import nn

from unweave.errors import InputError
from unweave.nets.conv16 import conv16


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


@pytest.mark.parametrize("channels", [1, 3])
def test_parameters_of_the_papers_table(channels: int) -> None:
    """Rhodes and Lee, Table 2: 3 · 3 kernels, 10 latents with two heads."""
    encoder, decoder = conv16((channels, 16, 16), 20, 10)
    convolutions = (9 * channels * 64 + 64) + (9 * 64 * 128 + 128)
    assert parameters(encoder) == convolutions + (4 * 4 * 128 * 128 + 128) + (128 * 20 + 20)
    upconvolutions = (9 * 64 * 64 + 64) + (9 * 64 * 32 + 32) + (9 * 32 * channels + channels)
    assert parameters(decoder) == (10 * 128 + 128) + (128 * 4 * 4 * 64 + 4 * 4 * 64) + upconvolutions


def test_sizes_and_activations() -> None:
    encoder, decoder = conv16((1, 16, 16), 20, 10)
    assert encoder[2](encoder[0](torch.rand(2, 1, 16, 16))).shape == (2, 128, 4, 4)  # type: ignore[index]
    codes = torch.randn(2, 10)
    hidden = decoder.activations(codes)  # type: ignore[operator]
    assert [tuple(h.shape[1:]) for h in hidden] == [(128,), (64, 4, 4), (64, 8, 8), (32, 16, 16)]
    assert all(h.min() == 0 for h in hidden)  # after their ReLU
    output = decoder.output
    assert isinstance(output, nn.ConvTranspose2d)
    expected = F.conv_transpose2d(hidden[-1], output.weight, output.bias, padding=1)
    torch.testing.assert_close(decoder(codes), expected)


def test_other_sizes() -> None:
    encoder, decoder = conv16((3, 12, 8), 4, 2)
    assert encoder(torch.rand(2, 3, 12, 8)).shape == (2, 4)
    assert decoder(torch.randn(2, 2)).shape == (2, 3, 12, 8)
    with pytest.raises(InputError, match=r"net 'conv16' needs .* multiples of 4, got 10 × 16: .* 8 × 16 or 12 × 16"):
        conv16((1, 10, 16), 4, 2)


def test_padding_of_the_published_code() -> None:
    """Rhodes and Lee do not pad: 16, 7, 3."""
    encoder = conv16((1, 16, 16), 20, 10, padding=0).encoder
    assert encoder[0](torch.rand(2, 1, 16, 16)).shape[-1] == 7  # type: ignore[index]
    assert encoder[5].in_features == 128 * 3 * 3  # type: ignore[index]
    with pytest.raises(InputError, match="at least 8 × 8"):
        conv16((1, 4, 4), 4, 2, padding=0)
