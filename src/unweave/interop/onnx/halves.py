"""The two halves of a model as modules with one input and one output: the functions that an ONNX graph computes."""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn

from unweave.model import Model
from unweave.training import Run


class EncoderHalf(nn.Module):
    """Map float images (B, C, H, W) in [0, 1] to codes (B, D), as :meth:`Run.encode` does."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, images: Tensor) -> Tensor:
        """Return posterior means, or quantised values; standardisation is part of the graph."""
        return self.model.code(images).representation


class DecoderHalf(nn.Module):
    """Map codes (B, D) to float images (B, C, H, W) in [0, 1], as :meth:`Run.decode` does."""

    def __init__(self, model: Model) -> None:
        super().__init__()
        self.model = model

    def forward(self, codes: Tensor) -> Tensor:
        """Return images; the offset, the sigmoid, undoing the standardisation and clamping are part of the graph."""
        return self.model.decode(codes).clamp(0, 1)


def plain_model(run: Run) -> Model:
    """Return a copy of a run's model on the CPU, in evaluation mode, with tensors in the standard memory format."""
    model = copy.deepcopy(run.model).cpu().eval().requires_grad_(False)
    return model.to(memory_format=torch.contiguous_format)  # type: ignore[call-overload, no-any-return]
