from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import onnx
import onnxruntime
import pytest
import torch
from torch import Tensor

from tests.interop.runs import CASES, LARGE_CASES, small_run
from unweave import Run
from unweave.errors import InputError
from unweave.interop.onnx import LARGEST_DIFFERENCE, ExportedFile, export_onnx

Exported = tuple[Run, ExportedFile, ExportedFile]


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
