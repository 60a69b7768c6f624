from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
import torch
from onnx import numpy_helper
from torch import Tensor, nn

from tests.interop.runs import CASES, LARGE_CASES, small_run
from unweave import Run
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.interop import onnx as export
from unweave.interop.onnx import (
    LARGEST_DIFFERENCE,
    DecoderHalf,
    EncoderHalf,
    ExportedFile,
    check_decoder,
    check_encoder,
    example_codes,
    example_images,
    export_onnx,
    make_decoder_graph,
    make_encoder_graph,
    metadata,
    plain_model,
)

Exported = tuple[Run, ExportedFile, ExportedFile]


class Odd(nn.Module):
    """A decoder with a function that ONNX does not have."""

    def forward(self, codes: Tensor) -> Tensor:
        sums: Tensor = torch.special.bessel_j0(codes).sum(1)
        return sums[:, None, None, None].expand(-1, 1, 16, 16)


def test_metadata_of_a_quantised_run(tmp_path: Path) -> None:
    run = small_run("fsq-mlp", tmp_path)
    said = metadata(run, "encoder")
    assert (said["shape"], said["latents"], said["levels"]) == ([1, 16, 16], 3, 5)
    assert said["values"] == [[-1.0, -0.5, 0.0, 0.5, 1.0]] * 3


def test_a_net_that_cannot_be_exported_is_a_sentence(tmp_path: Path) -> None:
    run = small_run("gaussian-conv16", tmp_path)
    run.model.decoder = Odd()
    with pytest.raises(InputError, match=r"the decoder of the run .* cannot be exported to ONNX"):
        make_decoder_graph(run)


def test_without_onnx_the_extra_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = small_run("pca", tmp_path)
    monkeypatch.setitem(sys.modules, "onnxscript", None)
    with pytest.raises(MissingExtra, match=r"pip install -e '\.\[onnx\]'"):
        make_decoder_graph(run)


def test_the_exporter_is_quiet(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    run = small_run("pca", tmp_path)
    capfd.readouterr()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_decoder_graph(run)
    assert capfd.readouterr() == ("", "")


def test_halves_are_encode_and_decode(tmp_path: Path, generator: torch.Generator) -> None:
    run = small_run("gaussian-conv16", tmp_path)
    model = plain_model(run)
    images = torch.rand(4, 1, 16, 16, generator=generator)
    codes = 9 * torch.randn(4, 3, generator=generator)
    torch.testing.assert_close(EncoderHalf(model)(images), run.encode(images))
    torch.testing.assert_close(DecoderHalf(model)(codes), run.decode(codes))


def test_the_model_of_the_run_is_left_alone(tmp_path: Path) -> None:
    run = small_run("gaussian-conv16", tmp_path)
    copy = plain_model(run)
    assert not any(parameter.requires_grad for parameter in copy.parameters())
    assert all(parameter.requires_grad for parameter in run.model.parameters())


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
    monkeypatch.setattr(export, "LARGEST_DIFFERENCE", -1.0)
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
        monkeypatch.setattr(export, "_outputs", lambda *_, at=level: values[:, at].expand(rows, -1))
        if allowed:
            assert check_encoder(run, b"") < 1e-6
        else:
            with pytest.raises(Unavailable, match="differs"):
                check_encoder(run, b"")


@pytest.fixture(scope="module", params=[*CASES, *(pytest.param(case, marks=pytest.mark.slow) for case in LARGE_CASES)])
def exported(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Exported:
    folder = tmp_path_factory.mktemp(request.param)
    run = small_run(request.param, folder / "runs")
    return run, *export_onnx(run, folder / "new" / "onnx")


def outputs(file: ExportedFile, name: str, rows: Tensor) -> Tensor:
    session = onnxruntime.InferenceSession(str(file.path))
    (out,) = session.run(None, {name: rows.numpy()})
    return torch.from_numpy(out)


def test_the_files_compute_what_the_run_computes(exported: Exported, generator: torch.Generator) -> None:
    run, encoder, decoder = exported
    images = torch.rand(7, *run.configuration.data.shape, generator=generator)
    codes = run.encode(images)
    torch.testing.assert_close(outputs(encoder, "images", images), codes, atol=2e-5, rtol=1e-5)
    torch.testing.assert_close(outputs(decoder, "codes", codes), run.decode(codes), atol=2e-5, rtol=0)
    assert max(encoder.difference, decoder.difference) < LARGEST_DIFFERENCE / 10


def test_any_batch_size_and_far_codes_work(exported: Exported) -> None:
    run, _, decoder = exported
    for rows in (1, 3):
        codes = torch.full((rows, run.model.latent.size), 30.0)
        images = outputs(decoder, "codes", codes)
        assert 0 <= float(images.min()) <= float(images.max()) <= 1
        torch.testing.assert_close(images, run.decode(codes), atol=1e-3, rtol=0)


def test_the_files_say_what_they_are(exported: Exported) -> None:
    run, *files = exported
    for file, part, names in zip(
        files, ("encoder", "decoder"), (("images", "codes"), ("codes", "images")), strict=True
    ):
        model: Any = onnx.load(file.path)
        onnx.checker.check_model(model, full_check=True)
        assert (model.graph.input[0].name, model.graph.output[0].name) == names
        said = {entry.key: json.loads(entry.value) for entry in model.metadata_props}
        assert said["unweave.part"] == part
        assert said["unweave.run"] == run.name
        assert tuple(said["unweave.shape"]) == run.configuration.data.shape
        assert said["unweave.latents"] == run.model.latent.size
        values = run.model.values
        assert said["unweave.values"] == (None if values is None else values.tolist())
        assert said["unweave.levels"] == (None if values is None else values.shape[1])
        batch = model.graph.input[0].type.tensor_type.shape.dim[0]
        assert batch.dim_param
        assert str(Path(__file__).parents[2]) not in str(model)  # no path of this machine


def test_an_unusable_folder_is_refused(tmp_path: Path) -> None:
    run = small_run("pca", tmp_path / "runs")
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="it is a file"):
        export_onnx(run, tmp_path / "file")


def test_only_runs_are_exported(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="takes a run"):
        export_onnx(torch.nn.Linear(2, 2), tmp_path)  # type: ignore[arg-type]
