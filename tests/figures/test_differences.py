from __future__ import annotations

import numpy as np

from tests.study.analyses.tables import study_table
from unweave.figures.differences import draw_method_differences
from unweave.study.analyses import method_differences


def test_intervals_are_drawn_and_significant_ones_filled() -> None:
    result = method_differences(study_table(), metrics=["mig", "sap"])
    figure = draw_method_differences(result)
    first = result[result["data"] == result["data"].iloc[0]]
    lines = [line for panel in figure.axes[:2] for line in panel.lines[1:]]  # after the line at zero
    for number, row in enumerate(first.itertuples()):
        interval, point = lines[2 * number : 2 * number + 2]
        assert np.asarray(interval.get_xdata()).tolist() == [row.low, row.high]
        assert np.asarray(point.get_xdata()).tolist() == [row.difference]
        assert (point.get_markerfacecolor() != "white") == (row.p_holm < 0.05)
    assert {row.p_holm < 0.05 for row in first.itertuples()} == {True, False}
