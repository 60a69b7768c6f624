from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.nets import NETS, Net, build_net
from unweave.nets.pair import Flatten, LayeredDecoder, Unflatten, activation_layer, cells, scaled

FUNCTIONS: dict[str, Callable[[Tensor], Tensor]] = {
    "relu": F.relu,
    "gelu": lambda x: F.gelu(x, approximate="tanh"),
    "silu": lambda x: x * torch.sigmoid(x),
    "tanh": torch.tanh,
    "leaky_relu": lambda x: torch.where(x > 0, x, 0.2 * x),
}
KINDS = {"relu": nn.ReLU, "gelu": nn.GELU, "silu": nn.SiLU, "tanh": nn.Tanh, "leaky_relu": nn.LeakyReLU}
NAMES = [name for name in NETS if name != "linear"]
SHAPE = (3, 32, 32)
LAYERS = nn.Linear | nn.Conv2d | nn.ConvTranspose2d


@pytest.mark.parametrize("memory_format", [torch.contiguous_format, torch.channels_last])
def test_unflatten_undoes_flatten(memory_format: torch.memory_format) -> None:
    images = torch.randn(3, 5, 2, 4).to(memory_format=memory_format)
    flat = Flatten()(images)
    assert flat[1].tolist() == [images[1, c, h, w].item() for h in range(2) for w in range(4) for c in range(5)]
    assert torch.equal(Unflatten(5, 2, 4)(flat), images)


def test_channels_last_is_flattened_without_a_copy() -> None:
    images = torch.randn(3, 5, 2, 4).to(memory_format=torch.channels_last)
    flat = Flatten()(images)
    back = Unflatten(5, 2, 4)(flat)
    assert flat.data_ptr() == images.data_ptr() == back.data_ptr()
    assert back.is_contiguous(memory_format=torch.channels_last)


def test_activations_leave_the_output_layer_out() -> None:
    class Loud(nn.Module):
        def forward(self, hidden: torch.Tensor) -> torch.Tensor:
            raise AssertionError("the output layer ran")

    first, second = nn.Linear(3, 4), nn.Linear(4, 5)
    codes = torch.randn(2, 3)
    hidden = LayeredDecoder([first, second], Loud()).activations(codes)
    assert [tuple(h.shape) for h in hidden] == [(2, 4), (2, 5)]
    assert torch.equal(hidden[1], second(first(codes)))
    output = nn.Linear(5, 6)
    assert torch.equal(LayeredDecoder([first, second], output)(codes), output(second(first(codes))))


@pytest.mark.parametrize(
    ("net", "shape", "expected"),
    [("conv64", (1, 64, 64), (4, 4)), ("conv64", (3, 16, 48), (1, 3)), ("tripod", (3, 32, 48), (2, 3))],
)
def test_sizes_that_fit(net: str, shape: tuple[int, int, int], expected: tuple[int, int]) -> None:
    assert cells(net, shape) == expected


@pytest.mark.parametrize(
    ("net", "shape", "words"),
    [
        ("conv64", (1, 60, 64), "multiples of 16, got 60 × 64: resize the images to 48 × 64 or 64 × 64, or use"),
        ("conv64", (1, 28, 28), "resize the images to 16 × 16 or 32 × 32, or use the net 'mlp'"),
        ("conv64", (1, 7, 7), "got 7 × 7: resize the images to 16 × 16, or"),
        ("qlae", (1, 16, 16), "multiples of 16, at least 32, got 16 × 16: resize the images to 32 × 32, or"),
    ],
)
def test_other_sizes_are_refused_with_the_nearest(net: str, shape: tuple[int, int, int], words: str) -> None:
    with pytest.raises(InputError) as caught:
        cells(net, shape)
    assert words in str(caught.value)


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
