from __future__ import annotations

import torch

import unweave
from tests.training.small import pictures
from unweave import FactorData, Run
from unweave.figures.drawing.strips import to_bytes
from unweave.figures.samples import MARGINALS, PRIOR, draw_samples, make_samples


def test_samples_are_decoded_from_the_prior(gaussian: Run, data: FactorData) -> None:
    generator = torch.Generator().manual_seed(5)
    result = make_samples([gaussian], [data], generator, columns=3, rows=2, images=False)
    codes = torch.randn(6, 4, generator=torch.Generator().manual_seed(5))
    expected = to_bytes(gaussian.decode(codes))
    assert torch.equal(torch.cat([images for _, images in result.rows]), expected)
    assert result.source == PRIOR[0].upper() + PRIOR[1:] + "."


def test_runs_say_where_their_codes_come_from(
    gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_samples([gaussian, quantised], [data, data], generator, columns=3, rows=1)
    assert [label for label, _ in result.rows] == ["own images\nimages", "β-VAE", "QLAE"]  # images once
    assert result.source == f"β-VAE: {PRIOR}; QLAE: {MARGINALS}."
    assert draw_samples(result).texts[1].get_text() == result.source


def test_three_runs_are_listed_with_commas(
    gaussian: Run, quantised: Run, plain: Run, linear: Run, data: FactorData, generator: torch.Generator
) -> None:
    result = make_samples([gaussian, quantised, plain, linear], [data] * 4, generator, columns=2, rows=1)
    assert result.source == f"β-VAE: {PRIOR}; QLAE, AE and PCA: {MARGINALS}."


def test_runs_on_the_same_data_stand_together(
    gaussian: Run, quantised: Run, plain: Run, data: FactorData, generator: torch.Generator
) -> None:
    runs, sets = [gaussian, quantised, plain], [data, unweave.load(pictures()), data]
    result = make_samples(runs, sets, generator, columns=2, rows=1)
    labels = [label for label, _ in result.rows]
    assert labels == ["own images\nimages", "β-VAE", "AE", "own images\nimages", "QLAE"]
