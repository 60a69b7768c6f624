from __future__ import annotations

import numpy as np
from matplotlib.collections import LineCollection

from tests.questions.tables import study_table
from unweave.figures.picking import draw_picked
from unweave.questions import picked_by_udr


def test_mean_pick_and_best_are_drawn_for_each_group() -> None:
    result = picked_by_udr(study_table(), metrics=["mig", "sap"])
    figure = draw_picked(result)
    rows = result[result["metric"] == "sap"]
    (reach,) = figure.axes[1].collections
    assert isinstance(reach, LineCollection)
    assert [segment[:, 0].tolist() for segment in reach.get_segments()] == rows[["mean", "best"]].to_numpy().tolist()
    for line, kind in zip(figure.axes[1].lines, ("mean", "picked", "best"), strict=True):
        assert np.asarray(line.get_xdata()).tolist() == rows[kind].tolist()
        assert np.asarray(line.get_ydata()).tolist() == list(range(len(rows)))
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels[0] == "dSprites, β-VAE"


def test_groups_may_be_data_sets() -> None:
    figure = draw_picked(picked_by_udr(study_table(), metrics=["mig"], per=("data",)))
    assert len(figure.axes[0].get_yticklabels()) == 3
