"""Does an ONNX graph compute what PyTorch computes? Run both on the same batches and compare the results."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from unweave.errors import Unavailable, extra
from unweave.streams import stream
from unweave.training import Run

LARGEST_DIFFERENCE = 1e-3  # a quarter of a grey level; for codes, relative to the largest code if that exceeds 1
ROWS = 12  # images and codes that are compared
BATCHES = (1, 5, 6)  # their batches, of several sizes


def example_images(run: Run) -> Tensor:
    """Return images (12, C, H, W): half of them noise, half decoded from random codes. The data is not needed."""
    generator = stream(run.configuration.seed, "export")
    noise = torch.rand(ROWS // 2, *run.configuration.data.shape, generator=generator)
    codes = torch.randn(ROWS // 2, run.configuration.latent.size, generator=generator)
    return torch.stack([noise, run.decode(codes)], dim=1).flatten(0, 1)


def example_codes(run: Run) -> Tensor:
    """Return codes (12, D): half of them of the example images, half random."""
    codes = run.encode(example_images(run)[: ROWS // 2])
    noise = torch.randn(codes.shape, generator=stream(run.configuration.seed, "export codes"))
    return torch.stack([codes, noise], dim=1).flatten(0, 1)


def check_encoder(run: Run, model: bytes) -> float:
    """Return the largest difference of the codes, relative to the largest code if that exceeds 1.

    Where rounding puts a quantised latent on the other side of a boundary, both values are right. What counts there is
    how much farther the value is from the encoder's output than PyTorch's choice.
    """
    images = example_images(run)
    expected, codes = run.encode(images), _outputs(model, "images", images)
    difference = (codes - expected).abs()
    if run.model.values is not None:
        device = next(run.model.parameters()).device
        with torch.no_grad():
            continuous = run.model.code(images.to(device)).continuous.float().cpu()
        farther = ((codes - continuous).abs() - (expected - continuous).abs()).abs()
        difference = torch.where(_is_level(codes, run.model.values.cpu()), difference.minimum(farther), difference)
    return _checked("encoder", run, float(difference.max()) / max(1.0, float(expected.abs().max())))


def check_decoder(run: Run, model: bytes) -> float:
    """Return the largest difference of the images."""
    codes = example_codes(run)
    return _checked("decoder", run, float((_outputs(model, "codes", codes) - run.decode(codes)).abs().max()))


def _is_level(codes: Tensor, values: Tensor) -> Tensor:
    """Return which codes (B, D) are one of the values (D, levels) of their latent, up to rounding."""
    return (codes[:, :, None] - values).abs().amin(-1) < LARGEST_DIFFERENCE


def _outputs(model: bytes, name: str, rows: Tensor) -> Tensor:
    """Run a graph on rows with onnxruntime, in batches of several sizes."""
    session = _session(model)
    parts = [session.run(None, {name: part.numpy()})[0] for part in rows.split(BATCHES)]
    return torch.cat([torch.from_numpy(part) for part in parts])


def _session(model: bytes) -> Any:
    runtime: Any = extra("onnxruntime", "onnx")
    options = runtime.SessionOptions()
    options.intra_op_num_threads = options.inter_op_num_threads = 1
    options.log_severity_level = 3  # errors only
    return runtime.InferenceSession(model, options, providers=["CPUExecutionProvider"])


def _checked(part: str, run: Run, difference: float) -> float:
    if difference <= LARGEST_DIFFERENCE:  # false for NaN as well
        return difference
    raise Unavailable(
        f"the ONNX {part} of the run {run.folder} differs from PyTorch by {difference:.2g}, more than "
        f"{LARGEST_DIFFERENCE:g}, so nothing was written: please report this with the versions of torch and onnx."
    )
