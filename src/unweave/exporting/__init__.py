"""Models without PyTorch: encoder and decoder of a run as ONNX files."""

from unweave.exporting.checking import LARGEST_DIFFERENCE
from unweave.exporting.files import ExportedFile, export_onnx
from unweave.exporting.graphs import Graph, make_decoder_graph, make_encoder_graph

__all__ = [
    "LARGEST_DIFFERENCE",
    "ExportedFile",
    "Graph",
    "export_onnx",
    "make_decoder_graph",
    "make_encoder_graph",
]
