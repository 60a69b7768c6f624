from __future__ import annotations

from pathlib import Path

import onnx
import pytest
import torch
from onnx import numpy_helper

from tests.interop.runs import small_run
from unweave import Run
from unweave.errors import Unavailable
from unweave.interop import onnx_agreement as checking
from unweave.interop.onnx import export_onnx, make_decoder_graph, make_encoder_graph
from unweave.interop.onnx_agreement import check_decoder, check_encoder, example_codes, example_images


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return small_run("pca", tmp_path_factory.mktemp("runs"))


def bent(model: bytes, by: float) -> bytes:
    """The graph with every weight of its largest tensor moved."""
    proto = onnx.load_from_string(model)
    largest = max(proto.graph.initializer, key=lambda tensor: len(tensor.raw_data))
    moved = numpy_helper.from_array(numpy_helper.to_array(largest) + by, largest.name)
    largest.CopyFrom(moved)
    out: bytes = proto.SerializeToString()
    return out


def test_examples_are_reproducible_and_in_range(run: Run) -> None:
    images = example_images(run)
    assert torch.equal(images, example_images(run))
    assert 0 <= float(images.min()) <= float(images.max()) <= 1
    assert example_codes(run).shape == (12, 4)


def test_a_graph_that_differs_is_refused(run: Run) -> None:
    encoder, decoder = make_encoder_graph(run), make_decoder_graph(run)
    assert check_decoder(run, bent(decoder.model, 0.0)) == decoder.difference
    with pytest.raises(Unavailable, match=r"the ONNX decoder of the run .* differs from PyTorch by"):
        check_decoder(run, bent(decoder.model, 0.1))
    with pytest.raises(Unavailable, match=r"the ONNX encoder of the run .* differs from PyTorch by"):
        check_encoder(run, bent(encoder.model, 0.1))
    with pytest.raises(Unavailable, match="differs from PyTorch by nan"):
        check_encoder(run, bent(encoder.model, float("nan")))


def test_nothing_is_written_where_one_half_differs(run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(checking, "LARGEST_DIFFERENCE", -1.0)
    with pytest.raises(Unavailable, match="nothing was written"):
        export_onnx(run, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_the_other_side_of_a_boundary_counts_by_its_distance(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An encoder output halfway between two levels may be rounded either way, a level farther away is an error."""
    run = small_run("codebook-mlp", tmp_path)
    values = run.model.values
    assert values is not None
    with torch.no_grad():
        last = [layer for layer in run.model.encoder.modules() if isinstance(layer, torch.nn.Linear)][-1]
        last.weight.zero_()
        last.bias.copy_((values[:, 3] + values[:, 4]) / 2)
    rows = len(example_images(run))
    for level, allowed in ((3, True), (4, True), (5, False)):
        monkeypatch.setattr(checking, "_outputs", lambda *_, at=level: values[:, at].expand(rows, -1))
        if allowed:
            assert check_encoder(run, b"") < 1e-6
        else:
            with pytest.raises(Unavailable, match="differs"):
                check_encoder(run, b"")
