from __future__ import annotations

import sys
import warnings
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from tests.interop.runs import small_run
from unweave.errors import InputError, MissingExtra
from unweave.interop.onnx import make_decoder_graph, metadata


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
