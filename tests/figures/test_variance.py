from __future__ import annotations

import numpy as np

from tests.questions.tables import study_table
from unweave.figures.variance import draw_variance_explained
from unweave.questions import variance_explained


def test_bars_are_the_shares_of_each_source() -> None:
    result = variance_explained(study_table(), metrics=["mig", "sap"])
    figure = draw_variance_explained(result)
    assert len(figure.axes) == 2
    part = result[result["metric"] == "sap"]
    for bars, source in zip(figure.axes[1].containers, ("objective", "hyperparameter", "seed"), strict=True):
        widths = [bar.get_width() for bar in bars]
        np.testing.assert_array_equal(widths, part.loc[part["source"] == source, "explained"])
