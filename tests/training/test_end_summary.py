from __future__ import annotations

from pathlib import Path

import pytest
import torch

from tests.training.small import bars, pictures, trained
from unweave.metrics import psnr
from unweave.streams import stream
from unweave.training.end_summary import MEASURED, measure_baseline, measure_psnr, summarise


def test_the_summary_and_the_psnr_are_those_of_the_codes(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=30, lr=1e-3, latents=4)
    data = bars()
    again = summarise(run.model, run.configuration, data)
    assert again == run.summary
    images = data.sample(MEASURED, stream(0, "psnr")).images
    assert measure_psnr(run.model, run.configuration, data) == pytest.approx(
        psnr(images, run.reconstruct(images)).score
    )


def test_the_baseline_is_the_psnr_of_the_mean_image(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=1)
    mean = pictures().float().mean(0) / 255
    errors = [float(((row.float() / 255 - mean) ** 2).mean()) for row in pictures()]
    expected = sum(-10 * torch.tensor(error).log10() for error in errors) / 72
    assert measure_baseline(run.configuration, bars()) == pytest.approx(float(expected), abs=0.2)
    assert run.hint.startswith("This run reconstructs barely better than the mean image")
    longer = trained(tmp_path, "ae", steps=150, lr=2e-3, batch=32)
    assert longer.hint == ""
