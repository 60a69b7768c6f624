from __future__ import annotations

import numpy as np

from tests.questions.tables import noise_table
from unweave.questions.points import POINT, pair_points
from unweave.questions.runs import RUN


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
