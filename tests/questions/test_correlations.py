from __future__ import annotations

import numpy as np
import pandas
import pytest
from scipy.stats import spearmanr

from tests.questions.tables import noise_table
from unweave.figures.drawing.panels import PAGE
from unweave.questions import QUESTIONS
from unweave.questions._question import correlate, draw_correlations, rank_correlation
from unweave.study.columns import read_runs


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


ROWS = [
    ("dsprites", "mig", "sap", -0.256),
    ("dsprites", "mig", "mig", 1.0),
    ("cars3d", "mig", "mig", -0.001),
    ("cars3d", "mig", "sap", np.nan),
]


@pytest.mark.parametrize(
    ("name", "rows", "columns", "panels"),
    [
        ("metric_agreement", "metric", "other", "data"),
        ("unsupervised_agreement", "score", "metric", "data"),
        ("transfer_between_data", "data", "other", "metric"),
        ("downstream_agreement", "task", "metric", "data"),
        ("statistical_efficiency", "efficiency", "metric", "data"),
    ],
)
def test_every_matrix_has_its_correlations_times_100(name: str, rows: str, columns: str, panels: str) -> None:
    result = pandas.DataFrame(ROWS, columns=[panels, rows, columns, "correlation"])
    figure = QUESTIONS[name].draw(result)
    matrices = figure.axes[:-1]  # the last is the scale
    assert [panel.get_title() for panel in matrices] == ["dSprites", "Cars3D"]
    assert [[text.get_text() for text in panel.texts] for panel in matrices] == [["−26", "100"], ["–", "0"]]
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), [[-0.256, 1.0]])


def test_many_matrices_are_wrapped_and_unused_panels_hidden() -> None:
    names = [f"metric {number}" for number in range(8)]
    rows = [(data, a, b, 0.5) for data in "abcdefg" for a in names for b in names]
    frame = pandas.DataFrame(rows, columns=["data", "metric", "other", "correlation"])
    figure = draw_correlations(frame, rows="metric", columns="other", panels="data")
    shown = [panel.axison for panel in figure.axes[:-1]]
    assert sum(shown) == 7
    assert figure.get_figwidth() == PAGE
