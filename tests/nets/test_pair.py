from __future__ import annotations

import pytest
import torch
from torch import nn

from unweave.errors import InputError
from unweave.nets.pair import Flatten, LayeredDecoder, Unflatten, cells


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
