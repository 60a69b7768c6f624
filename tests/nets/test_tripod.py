from __future__ import annotations

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.nets.tripod import tripod


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


def conv(inputs: int, outputs: int, kernel: int) -> int:
    return kernel * kernel * inputs * outputs + outputs


def test_parameters_of_the_authors_layers() -> None:
    """Counted from the list in the field notes, for shapes3d: 3 channels, 64 × 64, 12 latents."""
    encoder, decoder = tripod((3, 64, 64), 12, 12)
    expected = conv(3, 32, 1)  # the only residual block whose width changes
    for inputs, width in ((3, 32), (64, 64), (128, 128), (256, 256)):
        expected += conv(inputs, width, 3) + 3 * conv(width, width, 3) + 4 * 2 * width  # and the norms' affine
        expected += conv(4 * width, 2 * width, 1)
    assert parameters(encoder) == expected + (512 * 512 + 512 + 2 * 512) + (512 * 12 + 12)
    expected = 512 * 4 * 4 + (12 * 256 + 256 + 2 * 256) + (256 * 256 + 256 + 2 * 256)
    for width, outputs in ((512, 256), (256, 128), (128, 64), (64, 3)):
        expected += 4 * (conv(width, width, 3) + 256 * 2 * width + 2 * width) + conv(width, outputs, 3)
    assert parameters(decoder) == expected


def test_decoder_equals_a_sample_at_a_time_by_hand() -> None:
    """Adaptive instance norm written with means and variances, on 32 × 32."""
    torch.manual_seed(0)
    decoder = tripod((1, 32, 32), 4, 3).decoder
    p = dict(decoder.named_parameters())

    def steered(x: Tensor, condition: Tensor, name: str) -> Tensor:
        x = F.conv2d(x[None], p[f"{name}.conv.weight"], p[f"{name}.conv.bias"], padding=1)[0]
        x = (x - x.mean((1, 2), keepdim=True)) / (x.var((1, 2), correction=0, keepdim=True) + 1e-5).sqrt()
        both = p[f"{name}.steer.weight"] @ condition + p[f"{name}.steer.bias"]
        scale, shift = both[: len(x), None, None], both[len(x) :, None, None]
        return F.gelu(x * (1 + scale) + shift, approximate="tanh")

    codes = torch.randn(2, 3)
    hidden = decoder.activations(codes)  # type: ignore[operator]
    sizes = [(256,), (256, 4, 4), (128, 8, 8), (64, 16, 16)]
    assert [tuple(h.shape) for h in hidden] == [(2, *size) for size in sizes]
    for sample in range(2):
        condition = hidden[0][sample]
        x: Tensor = p["constant"]
        for stage in range(4):
            for block in (0, 2):
                name = f"stages.{stage}.blocks"
                inner = steered(x, condition, f"{name}.{block}")
                x = x + steered(inner, condition, f"{name}.{block + 1}")
            x = x.repeat_interleave(2, 1).repeat_interleave(2, 2)
            x = F.conv2d(x[None], p[f"stages.{stage}.up.1.weight"], p[f"stages.{stage}.up.1.bias"], padding=1)[0]
            if stage < 3:
                torch.testing.assert_close(hidden[stage + 1][sample], x, rtol=1e-3, atol=1e-4)
        torch.testing.assert_close(decoder(codes)[sample], x, rtol=1e-3, atol=1e-4)


def test_normalised_stages_have_mean_0_and_variance_1_in_each_channel() -> None:
    torch.manual_seed(0)
    plain, normed = (tripod((1, 32, 32), 4, 3, width=0.25, normalised=choice).decoder for choice in (False, True))
    normed.load_state_dict(plain.state_dict())  # the norm has no parameters
    codes = torch.randn(2, 3)
    before, after = plain.activations(codes), normed.activations(codes)  # type: ignore[operator]
    assert torch.equal(before[0], after[0])
    x = before[1]
    expected = (x - x.mean((2, 3), keepdim=True)) / (x.var((2, 3), correction=0, keepdim=True) + 1e-5).sqrt()
    torch.testing.assert_close(after[1], expected)
    for features in after[1:]:
        assert features.mean((2, 3)).abs().max() < 1e-4
        assert (features.var((2, 3), correction=0) <= 1).all()
    stage = normed.stages[-1]  # type: ignore[index]
    logits = stage(after[-1], after[0])  # type: ignore[operator]
    torch.testing.assert_close(normed(codes), logits)


def test_upsampling_equals_that_of_two_layers_with_its_derivatives() -> None:
    torch.manual_seed(0)
    decoder = tripod((3, 32, 32), 4, 3, width=0.25).decoder.double()
    up = next(module for name, module in decoder.named_modules() if name == "stages.1.up")
    assert isinstance(up, nn.Sequential)
    upsample, convolution = up
    assert isinstance(convolution, nn.Conv2d)
    assert convolution.bias is not None
    features = torch.randn(2, 64, 3, 5, dtype=torch.float64, requires_grad=True)
    expected, got = convolution(upsample(features)), up(features)
    torch.testing.assert_close(got, expected, rtol=1e-12, atol=1e-12)
    weights = torch.randn_like(got)
    inputs = (features, convolution.weight, convolution.bias)
    for one, other in zip(
        *(torch.autograd.grad((out * weights).sum(), inputs) for out in (got, expected)), strict=True
    ):
        torch.testing.assert_close(one, other, rtol=1e-12, atol=1e-12)


def test_encoder_sees_images_around_zero() -> None:
    encoder = tripod((3, 32, 48), 4, 2).encoder
    seen: list[Tensor] = []
    first = next(module for module in encoder.modules() if isinstance(module, nn.Conv2d))
    first.register_forward_pre_hook(lambda _, inputs: seen.append(inputs[0]))
    images = torch.rand(2, 3, 32, 48)
    assert encoder(images).shape == (2, 4)
    torch.testing.assert_close(seen[0], 2 * images - 1)


def test_sizes_are_refused() -> None:
    with pytest.raises(InputError, match=r"net 'tripod' needs .* multiples of 16, at least 32, got 16 × 16"):
        tripod((3, 16, 16), 4, 2)
