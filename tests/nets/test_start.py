from __future__ import annotations

import math
from typing import Any

import pytest
import torch
from torch import nn

from unweave.errors import InputError
from unweave.nets import NETS, Net, build_net

SHAPE = (3, 32, 32)
LAYERS = nn.Linear | nn.Conv2d | nn.ConvTranspose2d


def layers(net: Net) -> list[Any]:
    return [m for half in net for m in half.modules() if isinstance(m, LAYERS)]


def own(shape: tuple[int, int, int], outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    pixels = math.prod(shape)
    decoder = nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, shape))
    nn.init.constant_(decoder[0].weight, 7.0)  # type: ignore[arg-type]
    return nn.Sequential(nn.Flatten(), nn.Linear(pixels, outputs), nn.Identity()), decoder


def headless(shape: tuple[int, int, int], outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    pixels = math.prod(shape)
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(pixels, outputs, bias=False))
    return encoder, nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, shape))


@pytest.mark.parametrize("name", ["conv64", "conv16", "burgess", "mlp"])
def test_balanced_keeps_the_size_of_signals(name: str) -> None:
    torch.manual_seed(0)
    encoder, decoder = build_net(name, (1, 32, 32), 20, 10, start="balanced")
    with torch.no_grad():
        codes = encoder(torch.randn(64, 1, 32, 32))
        images = decoder(torch.randn(64, 10))
    assert 0.3 < codes.std() < 4
    assert 0.3 < images.std() < 4
    assert all((bias == 0).all() for key, bias in decoder.state_dict().items() if key.endswith("bias"))


@pytest.mark.parametrize("name", ["conv64", "conv16", "burgess", "tripod", "qlae", "mlp", "linear"])
def test_tensorflow_is_glorot_uniform_by_the_fans_of_tensorflow(name: str) -> None:
    """The fans as tf.keras computes them from a kernel (h, w, in, out), or (h, w, out, in) where it is transposed."""
    torch.manual_seed(0)
    for layer in layers(build_net({"name": name}, SHAPE, 8, 4, start="tensorflow")):
        weight = layer.weight.detach()
        if isinstance(layer, nn.Linear):
            kernel = weight.T.shape
        elif isinstance(layer, nn.Conv2d):
            kernel = weight.permute(2, 3, 1, 0).shape
        else:
            kernel = weight.permute(2, 3, 1, 0).shape  # PyTorch's (in, out, h, w) to TensorFlow's (h, w, out, in)
        receptive = math.prod(kernel[:-2])
        bound = math.sqrt(6 / (receptive * kernel[-2] + receptive * kernel[-1]))
        assert weight.abs().max() <= bound
        if weight.numel() > 2000:
            assert weight.abs().max() > 0.99 * bound
            assert weight.std().item() == pytest.approx(bound / math.sqrt(3), rel=0.05)
        assert layer.bias is None or (layer.bias == 0).all()


@pytest.mark.parametrize("name", ["conv64", "mlp"])
def test_xavier_normal_has_glorots_variance_and_zero_biases(name: str) -> None:
    """Glorot and Bengio 2010: a variance of 2 / (fan in + fan out), beyond the bound of the uniform form."""
    torch.manual_seed(0)
    for layer in layers(build_net(name, SHAPE, 8, 4, start="xavier_normal")):
        weight = layer.weight.detach()
        receptive = math.prod(weight.shape[2:])
        variance = 2 / (receptive * (weight.shape[0] + weight.shape[1]))
        if weight.numel() > 2000:
            assert weight.var().item() == pytest.approx(variance, rel=0.1)
            assert weight.abs().max() > math.sqrt(3 * variance)
        assert (layer.bias == 0).all()


def test_tensorflows_bound_of_one_transposed_convolution() -> None:
    """Conv2DTranspose(32, 4) on 64 channels: √(6 / (16 · 32 + 16 · 64)) = 0.0625."""
    decoder = build_net("conv64", SHAPE, 8, 4, start="tensorflow").decoder
    weight = decoder.layers[3].weight  # type: ignore[index, union-attr]
    assert weight.shape == (64, 32, 4, 4)
    assert 0.0624 < weight.abs().max() <= 0.0625


@pytest.mark.parametrize("name", ["conv64", "tripod", "qlae", "mlp"])
def test_pytorch_is_the_default_of_its_layers(name: str) -> None:
    """Weights and biases are uniform within 1 / √fan_in, by the fan that PyTorch takes for each kind of layer."""
    torch.manual_seed(0)
    for layer in layers(build_net(name, SHAPE, 8, 4, start="pytorch")):
        bound = 1 / math.sqrt(math.prod(layer.weight.shape[1:]))
        assert layer.weight.abs().max() <= bound + 1e-7
        assert layer.weight.numel() < 2000 or layer.weight.abs().max() > 0.99 * bound
        assert layer.bias is None or 0 < layer.bias.abs().max() <= bound


@pytest.mark.parametrize("name", ["conv64", "conv16", "tripod", "qlae", "mlp"])
def test_jl1_lowers_the_log_variances_alone(name: str) -> None:
    nets = []
    for start in ("pytorch", "jl1"):
        torch.manual_seed(0)
        nets.append(build_net(name, SHAPE, 8, 4, start=start))
    plain, lowered = (net.encoder.state_dict() for net in nets)
    bias = [key for key in plain if key.endswith("bias")][-1]
    assert lowered[bias][4:].tolist() == [-3.0] * 4
    assert torch.equal(lowered[bias][:4], plain[bias][:4])
    assert all(torch.equal(lowered[key], plain[key]) for key in plain if key != bias)
    decoders = (net.decoder.state_dict() for net in nets)
    assert all(torch.equal(a, b) for a, b in zip(*(d.values() for d in decoders), strict=True))


def test_a_net_of_your_own() -> None:
    net: Any = own
    assert (build_net(net, (1, 4, 4), 8, 4).decoder[0].weight == 7).all()  # type: ignore[index]
    again = build_net(net, (1, 4, 4), 8, 4, start="jl1")
    assert (again.decoder[0].weight != 7).all()  # type: ignore[index]
    assert again.encoder[1].bias[4:].tolist() == [-3.0] * 4  # type: ignore[index]


@pytest.mark.parametrize(
    ("net", "outputs", "start", "words"),
    [
        ("mlp", 4, "jl1", "has 4 outputs for 4 latents: use the gaussian latent, or another start"),
        (headless, 8, "jl1", "needs an encoder that ends in a linear layer with a bias"),
        ("mlp", 8, "tensorflo", "unknown start 'tensorflo': did you mean 'tensorflow'"),
    ],
)
def test_what_does_not_fit_is_refused(net: Any, outputs: int, start: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        build_net(net, (1, 4, 4), outputs, 4, start=start)
    assert words in str(caught.value)


def test_every_net_can_start_in_every_way() -> None:
    for name in NETS:
        for start in ("balanced", "pytorch", "tensorflow", "jl1"):
            net = build_net(name, SHAPE, 8, 4, start=start)
            assert all(p.isfinite().all() for half in net for p in half.parameters())
