from __future__ import annotations

import numpy as np

from tests.questions.tables import study_table
from unweave.figures.strengths import draw_scores_by_strength, draw_total_correlation
from unweave.questions import scores_by_strength, total_correlation_by_strength


def test_lines_are_the_medians_from_weak_to_strong() -> None:
    result = scores_by_strength(study_table(), metrics=["mig", "sap"])
    figure = draw_scores_by_strength(result)
    assert len(figure.axes) == 3 * 2
    panel = figure.axes[3]  # the second data set, the second score
    part = result[(result["data"] == result["data"].unique()[1]) & (result["metric"] == "sap")]
    for line, recipe in zip(panel.lines, result["recipe"].unique(), strict=True):
        expected = part[part["recipe"] == recipe].sort_values("order")
        np.testing.assert_array_equal(line.get_xdata(), [1, 2, 3])
        np.testing.assert_array_equal(line.get_ydata(), expected["median"])


def test_total_correlation_is_logarithmic_and_shows_both_kinds_of_codes() -> None:
    figure = draw_total_correlation(total_correlation_by_strength(study_table()))
    assert [panel.get_yscale() for panel in figure.axes] == ["log"] * 6
    titles = [panel.get_title().replace("\n", " ") for panel in figure.axes[:2]]
    assert titles == ["total correlation, mean", "total correlation, sampled"]
