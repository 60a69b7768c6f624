from __future__ import annotations

import numpy as np

from unweave.figures.impossibility import draw_impossibility
from unweave.study.impossibility import demonstrate


def test_both_representations_are_drawn_in_the_colours_of_the_first_factor() -> None:
    shown = demonstrate(3, samples=500)
    figure = draw_impossibility(shown)
    before, after = (panel.collections[0] for panel in figure.axes)
    np.testing.assert_array_equal(before.get_offsets(), shown.factors[:, :2])
    np.testing.assert_array_equal(after.get_offsets(), shown.entangled[:, :2])
    np.testing.assert_array_equal(np.asarray(after.get_array()), shown.factors[:, 0])
    scores = [float(panel.get_title().partition("MIG ")[2]) for panel in figure.axes]
    assert scores[0] > 0.95  # 1, less the bias of 500 samples
    assert scores[1] < 0.05
