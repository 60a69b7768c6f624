from __future__ import annotations

from pathlib import Path

import torch

from tests.interop.runs import small_run
from unweave.interop.onnx import DecoderHalf, EncoderHalf, plain_model


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
