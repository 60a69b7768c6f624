"""Models without PyTorch: encoder and decoder of a run as ONNX files."""

from unweave.interop.onnx.agreement import LARGEST_DIFFERENCE
from unweave.interop.onnx.export import ExportedFile, export_onnx
from unweave.interop.onnx.graphs import Graph, make_decoder_graph, make_encoder_graph

__all__ = [
    "LARGEST_DIFFERENCE",
    "ExportedFile",
    "Graph",
    "export_onnx",
    "make_decoder_graph",
    "make_encoder_graph",
]
