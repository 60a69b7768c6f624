from __future__ import annotations

import numpy as np
from matplotlib.patches import Rectangle

from tests.questions.tables import study_table
from unweave.figures.ranges import draw_score_ranges
from unweave.questions import score_ranges


def test_boxes_have_the_quartiles_and_a_method_without_scores_has_none() -> None:
    table = study_table()
    table.loc[table["recipe"] == "dip_vae_i", "mig"] = np.nan
    result = score_ranges(table, metrics=["mig", "sap"])
    figure = draw_score_ranges(result)
    assert [len(panel.patches) for panel in figure.axes] == [2, 3] * 3
    row = result[(result["metric"] == "mig") & (result["recipe"] == "beta_vae")].iloc[0]
    place = list(dict.fromkeys(result["recipe"])).index("beta_vae")
    boxes = [patch.get_bbox().bounds for patch in figure.axes[0].patches if isinstance(patch, Rectangle)]
    wanted = [box for box in boxes if abs(box[0] + 0.3 - place) < 1e-9]
    np.testing.assert_allclose([wanted[0][1], wanted[0][1] + wanted[0][3]], [row["lower"], row["upper"]])
