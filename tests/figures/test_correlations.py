from __future__ import annotations

import numpy as np
import pandas
import pytest

from unweave.figures.correlations import (
    draw_correlations,
    draw_downstream_agreement,
    draw_metric_agreement,
    draw_statistical_efficiency,
    draw_transfer_between_data,
    draw_unsupervised_agreement,
)

ROWS = [
    ("dsprites", "mig", "sap", -0.256),
    ("dsprites", "mig", "mig", 1.0),
    ("cars3d", "mig", "mig", -0.001),
    ("cars3d", "mig", "sap", np.nan),
]


@pytest.mark.parametrize(
    ("draw", "rows", "columns", "panels"),
    [
        (draw_metric_agreement, "metric", "other", "data"),
        (draw_unsupervised_agreement, "score", "metric", "data"),
        (draw_transfer_between_data, "data", "other", "metric"),
        (draw_downstream_agreement, "task", "metric", "data"),
        (draw_statistical_efficiency, "efficiency", "metric", "data"),
    ],
)
def test_every_matrix_has_its_correlations_times_100(draw: object, rows: str, columns: str, panels: str) -> None:
    result = pandas.DataFrame(ROWS, columns=[panels, rows, columns, "correlation"])
    figure = draw(result)  # type: ignore[operator]
    assert [panel.get_title() for panel in figure.axes] == ["dSprites", "Cars3D"]
    assert [[text.get_text() for text in panel.texts] for panel in figure.axes] == [["−26", "100"], ["–", "0"]]
    np.testing.assert_array_equal(figure.axes[0].images[0].get_array(), [[-0.256, 1.0]])


def test_many_matrices_are_wrapped_and_unused_panels_hidden() -> None:
    names = [f"metric {number}" for number in range(8)]
    rows = [(data, a, b, 0.5) for data in "abcdefg" for a in names for b in names]
    frame = pandas.DataFrame(rows, columns=["data", "metric", "other", "correlation"])
    figure = draw_correlations(frame, rows="metric", columns="other", panels="data")
    shown = [panel.axison for panel in figure.axes]
    assert sum(shown) == 7
    assert figure.get_size_inches()[0] < 13
