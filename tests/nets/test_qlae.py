from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.nets.qlae import qlae

WIDTHS = [32] * 3 + [64] * 3 + [128] * 3 + [256] * 3
KERNELS = [3, 3, 4] * 4


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def test_parameters_of_the_authors_layers() -> None:
    """Counted from the list in the field notes: 3 channels, 64 × 64, 12 latents."""
    encoder, decoder = qlae((3, 64, 64), 12, 12)
    expected = 0
    for inputs, width, kernel in zip([3, *WIDTHS], WIDTHS, KERNELS, strict=False):
        expected += kernel * kernel * inputs * width + 2 * width  # no bias; the norm's scale and shift
    assert parameters(encoder) == expected + (256 * 16 * 256 + 256) + (256 * 256 + 256) + (256 * 12 + 12)
    expected = 256 * 4 * 4 + (12 * 256 + 256) + (256 * 256 + 256)
    mirrored = WIDTHS[::-1]
    for inputs, width, kernel in zip([256, *mirrored], mirrored, KERNELS, strict=False):
        expected += kernel * kernel * inputs * width + (256 * 2 * width + 2 * width)
    assert parameters(decoder) == expected + 9 * 32 * 3


def test_decoder_equals_a_sample_at_a_time_by_hand() -> None:
    torch.manual_seed(0)
    decoder = qlae((1, 32, 32), 4, 3).decoder
    p = dict(decoder.named_parameters())
    codes = torch.randn(2, 3)
    hidden = decoder.activations(codes)  # type: ignore[operator]
    sizes = [(256,), (256, 4, 4), (128, 8, 8), (64, 16, 16), (32, 32, 32)]
    assert [tuple(h.shape) for h in hidden] == [(2, *size) for size in sizes]
    for sample in range(2):
        x: Tensor = p["constant"]
        assert torch.equal(x, torch.full((256, 2, 2), 0.1))
        for number in range(12):
            name = f"stages.{number // 3}.layers.{number % 3}"
            both = F.relu(p[f"{name}.steer.0.weight"] @ hidden[0][sample] + p[f"{name}.steer.0.bias"])
            stride = 2 if number % 3 == 2 else 1
            x = F.leaky_relu(F.conv_transpose2d(x[None], p[f"{name}.conv.weight"], stride=stride, padding=1)[0], 0.2)
            x = (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), correction=0, keepdim=True) + 1e-6).sqrt()
            x = x * both[: len(x), None, None] + both[len(x) :, None, None]
            if number % 3 == 2:
                torch.testing.assert_close(hidden[1 + number // 3][sample], x, rtol=1e-3, atol=1e-3)
        expected = F.conv2d(x[None], p["output.weight"], padding=1)[0]
        torch.testing.assert_close(decoder(codes)[sample], expected, rtol=1e-3, atol=1e-3)


def test_encoder_halves_at_every_third_layer() -> None:
    encoder = qlae((1, 32, 64), 4, 3).encoder
    seen: list[tuple[int, ...]] = []

    def note(_: nn.Module, __: object, out: Tensor) -> None:
        seen.append(tuple(out.shape[1:]))

    for layer in encoder.children():
        if isinstance(layer, nn.Conv2d):
            layer.register_forward_hook(note)
    assert encoder(torch.rand(2, 1, 32, 64)).shape == (2, 4)
    halved = [0, 0, 1, 1, 1, 2, 2, 2, 3, 3, 3, 4]
    assert seen == [(w, 32 >> h, 64 >> h) for w, h in zip(WIDTHS, halved, strict=True)]


def test_sizes_are_refused() -> None:
    with pytest.raises(InputError, match=r"net 'qlae' needs .* multiples of 16, at least 32, got 16 × 64"):
        qlae((3, 16, 64), 4, 2)
