from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.nets import NETS, Net, build_net, name_of

HERE = __name__


def own(shape: tuple[int, int, int], outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    channels, height, width = shape
    pixels = channels * height * width
    encoder = nn.Sequential(nn.Flatten(), nn.BatchNorm1d(pixels), nn.Linear(pixels, outputs))
    return encoder, nn.Sequential(nn.Linear(latents, pixels), nn.Unflatten(1, shape))


def transposed(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    channels, height, width = shape
    return Net(*own((channels, width, height), outputs, latents))


def failing(shape: tuple[int, int, int], outputs: int, latents: int) -> Net:
    raise RuntimeError("no memory.")


def single(shape: tuple[int, int, int], outputs: int, latents: int) -> nn.Module:
    return nn.Identity()


class Mismatched(nn.Module):
    def forward(self, batch: Tensor) -> Tensor:
        return batch @ torch.zeros(1000, 3)


def mismatched(shape: tuple[int, int, int], outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    return Mismatched(), Mismatched()


class Factory:
    @staticmethod
    def build(shape: tuple[int, int, int], outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
        return own(shape, outputs, latents)


@pytest.mark.parametrize("name", [name for name in NETS if name != "linear"])  # has no hidden layers
@pytest.mark.parametrize("channels", [1, 2])
def test_every_net_is_built_for_any_number_of_channels(name: str, channels: int) -> None:
    encoder, decoder = build_net(name, (channels, 32, 48), 6, 3)
    assert encoder.training
    assert decoder.training
    decoder.to(memory_format=torch.channels_last)  # type: ignore[call-overload]
    codes = torch.randn(2, 3, requires_grad=True)
    hidden = decoder.activations(codes)  # type: ignore[operator]
    assert len(hidden) == {"conv64": 5, "conv16": 4, "burgess": 6, "tripod": 4, "qlae": 5, "mlp": 2}[name]
    logits = decoder(codes)
    assert logits.shape == (2, channels, 32, 48)
    assert all(h.requires_grad for h in hidden)
    (logits.sum() + sum(h.sum() for h in hidden)).backward()
    assert codes.grad is not None
    assert codes.grad.abs().sum() > 0


@pytest.mark.parametrize("net", [own, f"{HERE}:own", Factory.build, f"{HERE}:Factory.build"])
def test_a_net_of_your_own(net: Any) -> None:
    built = build_net(net, (1, 4, 6), 5, 2)
    assert isinstance(built, Net)
    assert built.encoder.training
    statistics = built.encoder[1]  # type: ignore[index]
    assert int(statistics.num_batches_tracked) == 0  # the trial did not update them
    assert built.encoder(torch.rand(3, 1, 4, 6)).shape == (3, 5)
    assert build_net(name_of(net), (1, 4, 6), 5, 2).decoder(torch.rand(3, 2)).shape == (3, 1, 4, 6)


def test_a_module_that_was_in_evaluation_stays_so() -> None:
    built = build_net(f"{HERE}:frozen", (1, 4, 6), 5, 2)
    assert built.encoder.training
    assert not built.encoder[1].training  # type: ignore[index]


def frozen(shape: tuple[int, int, int], outputs: int, latents: int) -> tuple[nn.Module, nn.Module]:
    encoder, decoder = own(shape, outputs, latents)
    encoder[1].eval()  # type: ignore[index]
    return encoder, decoder


@pytest.mark.parametrize(
    ("net", "words"),
    [
        ("conv46", "unknown net 'conv46': did you mean 'conv64' or 'conv16'"),
        ("resnet152", "unknown net 'resnet152'"),
        (":own", "write your own as package.module:name"),
        ("no_such_module:own", "net 'no_such_module:own': the module 'no_such_module' cannot be imported (No module"),
        (f"{HERE}:nothing", f"the module '{HERE}' has no 'nothing'."),
        (f"{HERE}:HERE", f"net '{HERE}:HERE' must be a function, got str."),
        (failing, f"net '{HERE}:failing' failed: RuntimeError: no memory."),
        (single, f"net '{HERE}:single' must return an encoder and a decoder, two torch modules, got Identity."),
        (transposed, f"the decoder of net '{HERE}:transposed' must map (2, 2) to (2, 1, 4, 6), got (2, 1, 6, 4)."),
        (mismatched, f"the encoder of net '{HERE}:mismatched' failed: RuntimeError: "),
    ],
)
def test_errors_say_what_is_wrong(net: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        build_net(net, (1, 4, 6), 5, 2)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("shape", "outputs", "latents", "words"),
    [
        ((64, 64), 20, 10, "images (C, H, W), got the shape (64, 64)"),
        ((0, 64, 64), 20, 10, "channels, height and width must be a whole number of at least 1, got 0"),
        ((1, 64, 64), 0, 10, "outputs must be a whole number of at least 1, got 0"),
        ((1, 64, 64), 20, 2.5, "latents must be a whole number of at least 1, got 2.5"),
        ((1, 60, 64), 20, 10, "48 × 64 or 64 × 64"),
    ],
)
def test_wrong_sizes(shape: Any, outputs: Any, latents: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        build_net("conv64", shape, outputs, latents)
    assert words in str(caught.value)


def test_names() -> None:
    assert name_of("conv64") == "conv64"
    assert name_of(NETS["conv64"]) == "conv64"
    factory: Any = own
    assert name_of(factory) == f"{HERE}:own"


def local() -> Callable[..., Any]:
    def build(*_: object) -> None: ...

    return build


@pytest.mark.parametrize("net", [lambda *_: None, local(), Factory()])
def test_what_cannot_be_found_again_is_refused(net: Any) -> None:
    with pytest.raises(InputError, match="at the top level of a module"):
        name_of(net)
    with pytest.raises(InputError, match=r"can be found again|a mapping with a name"):
        build_net(net, (1, 4, 6), 5, 2)
