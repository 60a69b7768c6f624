from __future__ import annotations

import numpy as np

from tests.questions.tables import study_table
from unweave.figures.best import draw_best
from unweave.questions import best_without_labels


def test_each_picked_run_is_one_marker_on_the_line_of_its_data_set() -> None:
    result = best_without_labels(study_table(), rule="elbo", metrics=["mig", "sap"])
    figure = draw_best(result)
    data = result["data"].unique().tolist()
    marks = [line for line in figure.axes[1].lines if line.get_marker() != "None"]
    drawn = [tuple(np.asarray(mark.get_xydata())[0]) for mark in marks]
    assert drawn == [(row.sap, data.index(row.data)) for row in result.itertuples()]
    assert figure.legends[0].get_title().get_text() == "score of the run picked by ELBO"
