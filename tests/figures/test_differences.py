from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection

from tests.questions.tables import study_table
from unweave.figures.differences import draw_method_differences
from unweave.questions import method_differences


def test_intervals_are_drawn_and_significant_ones_filled() -> None:
    result = method_differences(study_table(), metrics=["mig", "sap"])
    figure = draw_method_differences(result)
    first = result[result["data"] == result["data"].iloc[0]]
    drawn: dict[tuple[float, float], tuple[float, bool]] = {}  # the interval, its point, and whether it is filled
    for panel in figure.axes[:2]:
        for intervals, points in zip(panel.collections, panel.lines[1:], strict=True):  # after the line at zero
            assert isinstance(intervals, LineCollection)
            filled = points.get_markerfacecolor() != "white"
            for segment, point in zip(intervals.get_segments(), np.asarray(points.get_xdata()), strict=True):
                drawn[segment[0, 0], segment[1, 0]] = point, filled
    assert drawn == {(row.low, row.high): (row.difference, row.p_holm < 0.05) for row in first.itertuples()}
    assert {row.p_holm < 0.05 for row in first.itertuples()} == {True, False}
