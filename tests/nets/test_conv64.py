from __future__ import annotations

import copy

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.nets import Net
from unweave.nets.conv64 import conv64


def parameters(module: nn.Module) -> int:
    return sum(p.numel() for p in module.parameters())


@pytest.fixture
def net() -> Net:
    torch.manual_seed(0)
    return conv64((1, 64, 64), 20, 10)


@pytest.mark.parametrize("channels", [1, 3])
def test_parameters_of_the_papers_table(channels: int) -> None:
    """Locatello et al., Table 2: kernel height · width · inputs · outputs + biases, layer by layer."""
    encoder, decoder = conv64((channels, 64, 64), 20, 10)
    convolutions = (16 * channels * 32 + 32) + (16 * 32 * 32 + 32) + (16 * 32 * 64 + 64) + (16 * 64 * 64 + 64)
    assert parameters(encoder) == convolutions + (4 * 4 * 64 * 256 + 256) + (256 * 20 + 20)
    upconvolutions = (16 * 64 * 64 + 64) + (16 * 64 * 32 + 32) + (16 * 32 * 32 + 32) + (16 * 32 * channels + channels)
    assert parameters(decoder) == (10 * 256 + 256) + (256 * 4 * 4 * 64 + 4 * 4 * 64) + upconvolutions


def test_hidden_layers_have_the_tables_sizes(net: Net) -> None:
    hidden = net.decoder.activations(torch.randn(3, 10))  # type: ignore[operator]
    assert [tuple(h.shape[1:]) for h in hidden] == [(256,), (64, 4, 4), (64, 8, 8), (32, 16, 16), (32, 32, 32)]
    assert all(h.min() == 0 for h in hidden)  # after their ReLU
    seen: list[tuple[int, ...]] = []
    for layer in net.encoder.children():
        layer.register_forward_hook(lambda _, __, out: seen.append(tuple(out.shape[1:])))
    net.encoder(torch.rand(3, 1, 64, 64))
    assert seen[1:8:2] == [(32, 32, 32), (32, 16, 16), (64, 8, 8), (64, 4, 4)]
    assert seen[-1] == (20,)


def test_activations_lead_to_the_output(net: Net) -> None:
    codes, decoder = torch.randn(3, 10, dtype=torch.float64), copy.deepcopy(net.decoder).double()
    last = decoder.activations(codes)[-1]  # type: ignore[operator]
    output = decoder.output
    assert isinstance(output, nn.ConvTranspose2d)
    expected = F.conv_transpose2d(last, output.weight, output.bias, stride=2, padding=1)
    logits = decoder(codes)
    torch.testing.assert_close(logits, expected)
    weights = list(decoder.parameters())
    gradients = (torch.autograd.grad(out.square().sum(), weights) for out in (logits, expected))
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_equals_the_plain_layers(net: Net, memory_format: torch.memory_format) -> None:
    """The whole encoder and its gradients, written again with torch's own functions."""
    encoder = net.encoder.to(memory_format=memory_format)  # type: ignore[call-overload]
    images = torch.rand(3, 1, 64, 64).to(memory_format=memory_format)
    weights = dict(encoder.named_parameters())

    def plain(images: Tensor) -> Tensor:
        hidden = images
        for i in (0, 2, 4, 6):
            hidden = F.relu(F.conv2d(hidden, weights[f"{i}.weight"], weights[f"{i}.bias"], stride=2, padding=1))
        hidden = hidden.permute(0, 2, 3, 1).reshape(len(images), -1)
        hidden = F.relu(F.linear(hidden, weights["9.weight"], weights["9.bias"]))
        return F.linear(hidden, weights["11.weight"], weights["11.bias"])

    ours, theirs = encoder(images), plain(images)
    torch.testing.assert_close(ours, theirs)
    grads = torch.autograd.grad(ours.square().sum(), list(weights.values()))
    torch.testing.assert_close(grads, torch.autograd.grad(theirs.square().sum(), list(weights.values())))


def test_other_sizes() -> None:
    encoder, decoder = conv64((3, 32, 48), 8, 4)
    assert encoder(torch.rand(2, 3, 32, 48)).shape == (2, 8)
    assert decoder(torch.randn(2, 4)).shape == (2, 3, 32, 48)
    with pytest.raises(
        InputError, match="net 'conv64' needs images whose height and width are multiples of 16, got 28 × 28"
    ):
        conv64((1, 28, 28), 8, 4)


@pytest.mark.parametrize(("padding", "sizes"), [(0, [31, 14, 6, 2]), (1, [32, 16, 8, 4]), (2, [33, 17, 9, 5])])
def test_padding_of_the_published_codes(padding: int, sizes: list[int]) -> None:
    """Rhodes and Lee do not pad, Michlo et al. pad by 2: 256 and 1,600 features before the linear layer."""
    encoder, decoder = conv64((1, 64, 64), 20, 10, padding=padding)  # type: ignore[arg-type]
    seen: list[int] = []
    for layer in encoder.children():
        layer.register_forward_hook(lambda _, __, out: seen.append(out.shape[-1]))
    encoder(torch.rand(2, 1, 64, 64))
    assert seen[0:8:2] == sizes
    assert encoder[9].in_features == 64 * sizes[-1] ** 2  # type: ignore[index]
    assert parameters(decoder) == parameters(conv64((1, 64, 64), 20, 10).decoder)


def test_small_images_need_padding() -> None:
    conv64((1, 48, 48), 4, 2, padding=0)
    with pytest.raises(InputError, match="at least 48 × 48"):
        conv64((1, 32, 32), 4, 2, padding=0)
