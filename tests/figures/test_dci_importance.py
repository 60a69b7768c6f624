from __future__ import annotations

from pathlib import Path

import numpy as np
import torch

import unweave
from tests.training.small import bars, trained
from unweave import FactorData, Run
from unweave.figures.dci_importance import draw_dci_importance, make_dci_importance
from unweave.metrics import dci


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


def test_factors_have_the_kinds_that_scores_give_them() -> None:
    rng = np.random.default_rng(0)
    stage, age = rng.integers(0, 3, 300), rng.integers(0, 90, 300).astype(float)
    codes = np.stack([stage + 0.3 * rng.normal(size=300), age / 20 + 0.3 * rng.normal(size=300)], axis=1)
    mine = unweave.Codes(codes, {"age": age, "stage": stage})
    result = make_dci_importance([mine], [mine.data()], torch.Generator().manual_seed(0), samples=300, importance="svm")
    rows = torch.randperm(300, generator=torch.Generator().manual_seed(0)).numpy()
    table, kinds = np.column_stack([age, stage])[rows], ["continuous", "ordered"]
    importance = dci(codes[rows].astype(np.float32), table, importance="svm", kinds=kinds).importance
    expected = (importance / importance.sum(0))[list(result.maps[0].latents)]
    np.testing.assert_allclose(result.maps[0].matrix, expected.T, atol=1e-12)
