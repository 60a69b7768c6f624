from __future__ import annotations

import numpy as np
import pytest

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import efficiency_points, mean_against_sampled, metric_pairs, transfer_of_scores
from unweave.questions._question import POINT, draw_points, pair_points
from unweave.questions.efficiency_points import draw_efficiency_points
from unweave.questions.mean_against_sampled import draw_mean_against_sampled
from unweave.questions.metric_pairs import draw_metric_pairs
from unweave.questions.transfer_of_scores import draw_transfer_of_scores
from unweave.study.columns import RUN


def test_points_pair_the_scores_of_one_run_and_leave_out_missing_ones() -> None:
    runs = noise_table("mig", "sap").reset_index(drop=True)
    runs.loc[3, "sap"] = np.nan
    points = pair_points(runs, [("mig", "sap"), ("sap", "mig")])
    assert tuple(points.columns) == POINT
    assert len(points) == 2 * (len(runs) - 1)
    scores = {tuple(run[:4]): run[4:] for run in runs[[*RUN, "mig", "sap"]].itertuples(index=False, name=None)}
    for *run, x, y, x_value, y_value in points.itertuples(index=False, name=None):
        mig, sap = scores[tuple(run)]
        assert (x_value, y_value) == ((mig, sap) if (x, y) == ("mig", "sap") else (sap, mig))


def test_every_point_of_a_panel_is_drawn_in_the_colour_of_its_method() -> None:
    result = transfer_of_scores(study_table(), metrics=["mig", "sap"])
    figure = draw_points(result, rows="metric", columns="data")
    assert len(figure.axes) == 4
    part = result[(result["metric"] == "sap") & (result["data"] == result["data"].unique()[0])]
    for line, recipe in zip(figure.axes[2].lines, result["recipe"].unique(), strict=True):
        expected = part[part["recipe"] == recipe]
        np.testing.assert_array_equal(line.get_xydata(), expected[["x_value", "y_value"]])


def test_every_pair_of_metrics_has_a_panel_on_one_data_set() -> None:
    result = metric_pairs(study_table(), metrics=["mig", "sap", "modularity"])
    figure = draw_metric_pairs(result, data="cars3d")
    assert [panel.get_title().replace("\n", " ") for panel in figure.axes] == [
        "MIG (x) and SAP (y)",
        "MIG (x) and modularity (y)",
        "SAP (x) and modularity (y)",
    ]
    assert sum(np.size(line.get_xdata()) for line in figure.axes[0].lines) == 45
    assert draw_metric_pairs(result).get_suptitle() == "dSprites, one of 3 data sets"
    with pytest.raises(InputError, match="unknown data set 'cars': did you mean 'cars3d'"):
        draw_metric_pairs(result, data="cars")


def test_a_diagonal_does_not_widen_the_axes() -> None:
    result = transfer_of_scores(study_table(), metrics=["modularity"])
    low, _ = draw_transfer_of_scores(result).axes[0].get_xlim()
    assert low > 0.5
    figure = draw_mean_against_sampled(mean_against_sampled(study_table()))
    assert len(figure.axes) == 3
    assert figure.get_supxlabel() == "log total correlation, sampled"


def test_efficiencies_have_one_row_per_data_set_and_classifier() -> None:
    figure = draw_efficiency_points(efficiency_points(study_table(), metrics=["mig"]))
    labels = [panel.get_ylabel().replace("\n", " ") for panel in figure.axes]
    assert set(labels) == {f"{d}, {c}" for d in ("dSprites", "Cars3D", "3D Shapes") for c in ("logistic", "boosted")}
