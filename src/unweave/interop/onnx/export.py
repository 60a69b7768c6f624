"""Write encoder and decoder of a run as ONNX files, once both agree with PyTorch."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from unweave.errors import InputError
from unweave.interop.onnx.graphs import make_decoder_graph, make_encoder_graph
from unweave.store.files import atomic_write
from unweave.training import Run


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
