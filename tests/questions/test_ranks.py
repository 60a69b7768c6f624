from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.questions.tables import noise_table
from unweave.questions.ranks import correlate, rank_correlation
from unweave.questions.runs import read_runs


def test_rank_correlation_is_scipys_with_ties() -> None:
    g = np.random.default_rng(0)
    a, b = g.integers(0, 4, 50).astype(float), g.integers(0, 6, 50).astype(float)
    assert rank_correlation(a, b) == pytest.approx(spearmanr(a, b).statistic, abs=1e-12)
    assert rank_correlation(a, np.exp(a)) == pytest.approx(1.0)


def test_rank_correlation_without_an_answer_is_nan() -> None:
    nan = float("nan")
    assert np.isnan(rank_correlation(np.array([1.0, 2.0]), np.array([1.0, 2.0])))  # two points always correlate
    assert np.isnan(rank_correlation(np.arange(5.0), np.ones(5)))
    assert rank_correlation(np.array([1, 2, 3, nan]), np.array([3, 2, 1, 9.0])) == -1


def test_correlations_are_within_data_sets_over_models_or_medians() -> None:
    runs = read_runs("thing", noise_table("mig", "sap"), ["mig", "sap"])
    models = correlate(runs, ["mig"], ["sap"], "models", ("metric", "other")).set_index("data")
    medians = correlate(runs, ["mig"], ["sap"], "medians", ("metric", "other")).set_index("data")
    for data in ("dsprites", "cars3d"):
        part = runs[runs["data"] == data]
        assert models.loc[data, "correlation"] == pytest.approx(spearmanr(part["mig"], part["sap"]).statistic)
        assert models.loc[data, "count"] == 36
        grid = part.groupby(["recipe", "strength"])
        pairs = [(np.median(group["mig"]), np.median(group["sap"])) for _, group in grid]
        assert medians.loc[data, "correlation"] == pytest.approx(spearmanr(*zip(*pairs, strict=True)).statistic)
        assert medians.loc[data, "count"] == 9
