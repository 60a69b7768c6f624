from __future__ import annotations

from tests.study.analyses.tables import study_table
from unweave.figures.picking import draw_picked
from unweave.study.analyses import picked_by_udr


def test_mean_pick_and_best_are_drawn_for_each_group() -> None:
    result = picked_by_udr(study_table(), metrics=["mig", "sap"])
    figure = draw_picked(result)
    lines = figure.axes[1].lines
    rows = list(result[result["metric"] == "sap"].itertuples())
    assert len(lines) == 4 * len(rows)
    for number, row in enumerate(rows):
        _, *marks = lines[4 * number : 4 * number + 4]
        assert [(mark.get_xdata()[0], mark.get_ydata()[0]) for mark in marks] == [  # type: ignore[index]
            (row.mean, number),
            (row.picked, number),
            (row.best, number),
        ]
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels[0] == "dsprites, β VAE"


def test_groups_may_be_data_sets() -> None:
    figure = draw_picked(picked_by_udr(study_table(), metrics=["mig"], per=("data",)))
    assert len(figure.axes[0].get_yticklabels()) == 3
