"""The transposed convolution that doubles an image, 4 × 4 with stride 2, made fast on CPUs.

PyTorch's layer is slow on a CPU in two places: the gradient of the bias of a wide layer, and all of a layer with few
outputs, such as the last one of a decoder. Here the first is a plain sum, and the second has its own implementations.
What remains is limited by memory, so consecutive layers apply the derivative of a ReLU to a gradient in place.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import torch
import torch.nn.functional as F
from torch import Tensor, nn

_DTYPES = (torch.float32, torch.float64, torch.bfloat16)
_FEW = 8  # outputs up to which the sub-pixel implementation is faster than PyTorch's; measured for 32 inputs


class _Row(NamedTuple):
    """A choice: the derivative of a ReLU is applied by the layer that has the ReLU, or by the next one."""

    before: bool  # this layer applies the derivative of the ReLU before it
    after: bool  # the next layer applies the derivative of this layer's ReLU


_ALONE = _Row(before=False, after=False)


class Upconv(nn.ConvTranspose2d):
    """``nn.ConvTranspose2d(inputs, outputs, 4, stride=2, padding=1)``, optionally followed by a ReLU.

    Parameters, values and derivatives are the same up to rounding. Under autocast it computes in bfloat16, as
    PyTorch's layer does. On other devices and when compiled it calls PyTorch's layer.
    """

    bias: nn.Parameter

    def __init__(self, inputs: int, outputs: int, *, relu: bool = False) -> None:
        super().__init__(inputs, outputs, 4, stride=2, padding=1)
        self.relu = relu

    def forward(self, features: Tensor, output_size: list[int] | None = None, *, row: _Row = _ALONE) -> Tensor:
        """Map features (B, inputs, H, W) to (B, outputs, 2H, 2W). ``row`` is for :func:`in_a_row`."""
        weight: Tensor = self.weight
        bias: Tensor = self.bias
        if features.device.type != "cpu" or torch.compiler.is_compiling():
            return _plain(features, weight, bias, self.relu)
        if torch.is_autocast_enabled("cpu"):
            dtype = torch.get_autocast_dtype("cpu")
            features, weight, bias = features.to(dtype), weight.to(dtype), bias.to(dtype)
        if features.dtype != weight.dtype or features.dtype not in _DTYPES:
            return _plain(features, weight, bias, self.relu)
        out: Tensor = _fast(features, weight, bias, self.relu, row)
        return out

    def extra_repr(self) -> str:
        """Show the numbers of channels, and the ReLU."""
        return f"{self.in_channels}, {self.out_channels}{', relu' if self.relu else ''}"


def in_a_row(layers: Iterable[Upconv], features: Tensor) -> Tensor:
    """Apply several layers to ``features``, faster than one by one.

    The output of a hidden layer must not be used by anything but the next layer. A layer with a forward hook keeps its
    own gradient, since the hook may use its output elsewhere.
    """
    *hidden, last = layers
    before = False
    for layer in hidden:
        after = layer.relu and not layer._forward_hooks
        features = layer(features, row=_Row(before, after))
        before = after
    out: Tensor = last(features, row=_Row(before, after=False))
    return out


def _plain(features: Tensor, weight: Tensor, bias: Tensor, relu: bool, _: _Row = _ALONE) -> Tensor:
    out = F.conv_transpose2d(features, weight, bias, stride=2, padding=1)
    return F.relu(out) if relu else out


class _Upconv(torch.autograd.Function):
    """The layer with a backward pass of differentiable operations, which can be differentiated again."""

    @staticmethod
    def forward(features: Tensor, weight: Tensor, bias: Tensor, relu: bool, row: _Row) -> Tensor:
        outputs = weight.shape[1]
        if outputs == 1 and features.dtype != torch.bfloat16:  # in which sums of rounded products lose digits
            out = _single(features, weight, bias)
        elif outputs <= _FEW:
            out = _subpixel(features, weight, bias)
        else:
            out = F.conv_transpose2d(features, weight, bias, stride=2, padding=1)
        return out.relu_() if relu else out

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Tensor, Tensor, Tensor, bool, _Row], output: Tensor) -> None:
        features, weight, _, relu, ctx.row = inputs
        saved = (features, weight, output) if relu else (features, weight)
        ctx.save_for_backward(*saved)
        ctx.save_for_forward(*saved)

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        features, weight, *rectified = ctx.saved_tensors
        if rectified and not ctx.row.after:
            grad = torch.ops.aten.threshold_backward(grad, rectified[0], 0)
        if ctx.row.before and torch.is_grad_enabled():
            features = F.relu(features)  # unchanged values, but masks what second derivatives send to them
        wants_features, wants_weight, wants_bias, *_ = ctx.needs_input_grad
        # A transposed convolution is the derivative of a convolution, so its own derivative is a convolution of the
        # gradient. The gradient of the weights is that of the convolution with input and output exchanged.
        to_features = F.conv2d(grad, weight, stride=2, padding=1) if wants_features else None
        to_weight = _weight_gradient(grad, features, weight) if wants_weight else None
        if to_features is not None and ctx.row.before:
            to_features = _shut(to_features, features)
        return to_features, to_weight, grad.sum((0, 2, 3)) if wants_bias else None, None, None

    @staticmethod
    def jvp(ctx: Any, features_t: Tensor | None, weight_t: Tensor | None, bias_t: Tensor | None, *_: None) -> Tensor:
        features, weight, *rectified = ctx.saved_tensors
        tangent = torch.zeros((), dtype=weight.dtype)
        if features_t is not None:
            tangent = tangent + F.conv_transpose2d(features_t, weight, stride=2, padding=1)
        if weight_t is not None:
            tangent = tangent + F.conv_transpose2d(features, weight_t, stride=2, padding=1)
        if bias_t is not None:
            tangent = tangent + bias_t[:, None, None]
        for out in rectified:
            tangent = torch.where(out > 0, tangent, 0)
        batch, _, height, width = features.shape
        return tangent.expand(batch, weight.shape[1], 2 * height, 2 * width)

    @staticmethod
    def vmap(_: Any, in_dims: tuple[int | None, ...], *arguments: Any) -> tuple[Tensor, int]:
        out: Tensor = torch.vmap(_plain, in_dims=in_dims)(*arguments)
        return out, 0


_fast: Callable[..., Tensor] = _Upconv.apply


def _shut(grad: Tensor, out: Tensor) -> Tensor:
    """Set ``grad`` to zero where ``out`` is zero, in place unless it may be differentiated again."""
    if torch.is_grad_enabled():
        zeroed: Tensor = torch.ops.aten.threshold_backward(grad, out, 0)
        return zeroed
    torch.ops.aten.threshold_backward.grad_input(grad, out, 0, grad_input=grad)
    return grad


def _weight_gradient(images: Tensor, grad: Tensor, weight: Tensor) -> Tensor:
    """Compute the weight gradient of a convolution of images (B, outputs, 2H, 2W) from ``grad`` (B, inputs, H, W)."""
    geometry = (
        [2, 2],
        [1, 1],
        [1, 1],
        False,
        [0, 0],
        1,
    )  # stride, padding, dilation, transposed, output padding, groups
    wanted = [False, True, False]  # gradients of images, weight, bias
    gradient: Tensor = torch.ops.aten.convolution_backward(grad, images, weight, None, *geometry, wanted)[1]
    return gradient


def _single(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute a layer with one output: a matrix product spreads each pixel over 4 × 4 pixels, which are then added.

    Row 2i of the output takes kernel row 1 of input row i and kernel row 3 of input row i − 1, and row 2i + 1 takes
    kernel row 2 of input row i and kernel row 0 of input row i + 1; columns likewise.
    """
    batch, inputs, height, width = features.shape
    pixels = features.permute(0, 2, 3, 1).reshape(-1, inputs)  # (B · H · W, inputs), free for channels last
    kernel = weight.permute(2, 3, 1, 0).reshape(16, inputs)
    spread = (kernel @ pixels.t()).view(4, 4, batch, height, width)
    spread[1, ..., 1:, :] += spread[3, ..., :-1, :]
    spread[2, ..., :-1, :] += spread[0, ..., 1:, :]
    rows = spread[1:3]  # (2, 4, B, H, W): even and odd rows of the output
    rows[:, 1, ..., 1:] += rows[:, 3, ..., :-1]
    rows[:, 2, ..., :-1] += rows[:, 0, ..., 1:]
    phases = rows[:, 1:3]  # (2, 2, B, H, W): even and odd columns too
    out = features.new_empty(batch, 1, 2 * height, 2 * width)
    torch.add(phases.permute(2, 3, 0, 4, 1), bias, out=out.view(batch, height, 2, width, 2))
    return out


def _subpixel(features: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """Compute a layer with few outputs by a 2 × 2 convolution with one channel for each of four neighbouring pixels.

    The 2 × 2 output pixels around a corner between input pixels depend only on the 2 × 2 input pixels around it.
    """
    batch, inputs, height, width = features.shape
    outputs = weight.shape[1]
    kernel = weight.view(inputs, outputs, 2, 2, 2, 2)  # tap and phase of rows, then of columns
    kernel = kernel.flip(2, 4).permute(3, 5, 1, 0, 2, 4).reshape(4 * outputs, inputs, 2, 2)
    kernel = kernel.contiguous(memory_format=torch.channels_last)
    corners = F.conv2d(features, kernel, bias.repeat(4), padding=1)  # (B, 4 · outputs, H + 1, W + 1)
    blocks = corners.permute(0, 2, 3, 1).reshape(batch, height + 1, width + 1, 2, 2, outputs)
    padded = blocks.transpose(2, 3).reshape(batch, 2 * height + 2, 2 * width + 2, outputs)
    return padded[:, 1:-1, 1:-1].permute(0, 3, 1, 2).contiguous(memory_format=torch.channels_last)
