"""Make the ONNX graph of an encoder or a decoder, and check it against PyTorch."""

from __future__ import annotations

import json
import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import version
from typing import Any

import torch
from torch import Tensor, nn

from unweave.errors import InputError, extra
from unweave.interop.onnx.agreement import check_decoder, check_encoder, example_codes, example_images
from unweave.interop.onnx.halves import DecoderHalf, EncoderHalf, plain_model
from unweave.training import Run

OPSET = 18  # old enough for every onnxruntime of the last years, new enough for group norms


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
    first = str(error).strip().partition("\n")[0].rstrip(".")
    return f"{type(error).__name__}: {first}" if first else type(error).__name__
