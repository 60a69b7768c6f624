from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import unweave
from tests.training.small import bars, trained
from unweave import FactorData, Run
from unweave.figures.dci_importance import draw_dci_importance, make_dci_importance


def test_the_importance_of_each_factor_sums_to_one(gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    result = make_dci_importance([gaussian], [data], generator, samples=60, importance="svm")
    np.testing.assert_allclose(result.maps[0].matrix.sum(1), 1.0)
    assert result.maps[0].factors == ("place", "width", "light")
    assert draw_dci_importance(result).get_suptitle().startswith("β-VAE")


def test_a_stored_score_is_drawn(generator: torch.Generator, tmp_path: Path) -> None:
    run = trained(tmp_path, steps=2, latents=2)
    stored = unweave.score(run, bars(), metrics=["dci"], samples=48, test_samples=24)["dci"]
    result = make_dci_importance([run], [bars()], generator, samples=50)
    order = list(result.maps[0].latents)
    totals = stored.importance.sum(0)
    np.testing.assert_allclose(result.maps[0].matrix, (stored.importance / totals)[order].T)
