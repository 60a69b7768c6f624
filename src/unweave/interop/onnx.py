"""Models without PyTorch: encoder and decoder of a run as ONNX graphs and files, once both agree with PyTorch."""

from __future__ import annotations

import copy
import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import InputError, Unavailable, extra, first_line
from unweave.model import Model
from unweave.store.files import atomic_write
from unweave.streams import stream
from unweave.training import Run

__all__ = [
    "LARGEST_DIFFERENCE",
    "ExportedFile",
    "Graph",
    "export_onnx",
    "make_decoder_graph",
    "make_encoder_graph",
]

OPSET = 18  # old enough for every onnxruntime of the last years, new enough for group norms
LARGEST_DIFFERENCE = 1e-3  # a quarter of a grey level; for codes, relative to the largest code if that exceeds 1
ROWS = 12  # images and codes that are compared
BATCHES = (1, 5, 6)  # their batches, of several sizes


@dataclass(frozen=True, eq=False)
class Graph:
    """An ONNX graph, and the largest difference between its results and PyTorch's."""

    model: bytes
    difference: float


def make_encoder_graph(run: Run) -> Graph:
    """Return the graph from ``images`` (B, C, H, W), float32 in [0, 1], to ``codes`` (B, D)."""
    half = EncoderHalf(plain_model(run))
    model = _exported("encoder", run, half, example_images(run)[:2], "images", "codes")
    return Graph(model, check_encoder(run, model))


def make_decoder_graph(run: Run) -> Graph:
    """Return the graph from ``codes`` (B, D) to ``images`` (B, C, H, W), float32 in [0, 1]."""
    half = DecoderHalf(plain_model(run))
    model = _exported("decoder", run, half, example_codes(run)[:2], "codes", "images")
    return Graph(model, check_decoder(run, model))


def _exported(part: str, run: Run, half: nn.Module, batch: Tensor, inputs: str, outputs: str) -> bytes:
    for module in ("onnx", "onnxscript", "onnxruntime"):
        extra(module, "onnx")
    try:
        with _quiet():
            program = torch.onnx.export(
                half,
                (batch,),
                input_names=[inputs],
                output_names=[outputs],
                dynamic_shapes=({0: torch.export.Dim("batch")},),
                opset_version=OPSET,
                dynamo=True,
                verbose=False,
            )
    except Exception as error:  # the exporter raises errors of many kinds
        raise InputError(
            f"the {part} of the run {run.folder} cannot be exported to ONNX: {_root_of(error)}. "
            "A net or latent of your own must consist of operations that torch.onnx.export knows."
        ) from error
    assert program is not None
    proto = program.model_proto
    _describe(proto, metadata(run, part))
    model: bytes = proto.SerializeToString()
    return model


def metadata(run: Run, part: str) -> dict[str, Any]:
    """Return what a graph says about itself; each value is stored as JSON under its name with the prefix unweave."""
    configuration, values = run.configuration, run.model.values
    return {
        "part": part,
        "run": run.name,
        "step": run.step,
        "recipe": configuration.recipe,
        "data": configuration.data.label,
        "shape": list(configuration.data.shape),
        "pixels": "float32 in [0, 1]; divide bytes by 255",
        "latents": configuration.latent.size,
        "levels": None if values is None else values.shape[1],
        "values": None if values is None else values.cpu().tolist(),
    }


def _describe(proto: Any, properties: dict[str, Any]) -> None:
    proto.producer_name, proto.producer_version = "unweave", version("unweave")
    proto.doc_string = f"The {properties['part']} of {properties['recipe']} on {properties['data']}."
    del proto.metadata_props[:]
    for node in proto.graph.node:  # the exporter stores where in the source files a node comes from
        del node.metadata_props[:]
        node.doc_string = ""
    for key, value in properties.items():
        proto.metadata_props.add(key=f"unweave.{key}", value=json.dumps(value))


@contextmanager
def _quiet() -> Iterator[None]:
    """Hide the messages that the exporter has for its own developers."""
    logger = logging.getLogger("torch.onnx")
    level = logger.level
    logger.setLevel(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logger.setLevel(level)


def _root_of(error: BaseException) -> str:
    """Return the first line of the innermost error; the exporter wraps it in pages of advice."""
    while error.__cause__ is not None:
        error = error.__cause__
    return first_line(error, named=True)


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


@dataclass(frozen=True)
class ExportedFile:
    """An ONNX file, and the largest difference between its results and PyTorch's."""

    path: Path
    difference: float


def export_onnx(run: Run, folder: str | Path) -> tuple[ExportedFile, ExportedFile]:
    """Write ``encoder.onnx`` and ``decoder.onnx`` to a folder; return both with their differences from PyTorch.

    The encoder maps ``images`` (B, C, H, W), float32 in [0, 1], to ``codes`` (B, D), and the decoder maps codes to
    images in [0, 1], like ``run.encode`` and ``run.decode``, for any batch size B. Everything that the model does to
    images and codes is part of the graphs. Both are compared with PyTorch by onnxruntime first: if either differs by
    more than :data:`LARGEST_DIFFERENCE`, an error is raised and nothing is written.
    """
    if not isinstance(run, Run):
        raise InputError(f"export_onnx takes a run, such as unweave.open returns, got {type(run).__name__}.")
    folder = Path(folder)
    if folder.exists() and not folder.is_dir():
        raise InputError(f"cannot write to the folder {folder}: it is a file.")
    graphs = {"encoder.onnx": make_encoder_graph(run), "decoder.onnx": make_decoder_graph(run)}
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot write to the folder {folder}: {error.strerror or error}.") from error
    for name, graph in graphs.items():
        with atomic_write(folder / name) as aside:
            aside.write_bytes(graph.model)
    encoder, decoder = (ExportedFile(folder / name, graph.difference) for name, graph in graphs.items())
    return encoder, decoder


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
