from __future__ import annotations

import numpy as np
import pandas
import pytest

from unweave.errors import InputError
from unweave.figures.score_strips import draw_score_strips, make_score_strips, sideways


def table() -> pandas.DataFrame:
    scores = {"beta_vae": [0.1, 0.2, 0.3], "jl1_vae": [0.5, 0.5, 0.8]}
    return pandas.DataFrame(
        [
            {"data": "three_dots", "recipe": recipe, "seed": seed, "mig": value, "sap": value / 2, "gamma": seed}
            for recipe, values in scores.items()
            for seed, value in enumerate(values)
        ]
    )


def test_every_run_is_a_point_and_the_bar_is_the_mean() -> None:
    figure = draw_score_strips(make_score_strips(table(), metrics=["mig"]))
    (panel,) = figure.axes
    assert [label.get_text() for label in panel.get_xticklabels()] == ["β-VAE", "JL1-VAE"]
    for position, (line, expected) in enumerate(zip(panel.lines, ([0.1, 0.2, 0.3], [0.5, 0.5, 0.8]), strict=True)):
        np.testing.assert_allclose(np.sort(np.asarray(line.get_ydata(), float)), expected)
        assert np.abs(np.asarray(line.get_xdata(), float) - position).max() < 0.3
    means = [float(bar.get_segments()[0][0, 1]) for bar in panel.collections]  # type: ignore[attr-defined]
    assert means == pytest.approx([0.2, 0.6])


def test_methods_can_be_another_column_and_all_scores_are_drawn() -> None:
    result = make_score_strips(table(), by="gamma")
    assert list(result.frame["method"].unique()) == ["0", "1", "2"]
    assert list(result.frame["metric"].unique()) == ["mig", "sap"]
    with pytest.raises(InputError, match="lacks the column 'migg'"):
        make_score_strips(table(), metrics=["migg"])


def test_equal_scores_stand_side_by_side() -> None:
    offsets = sideways(np.array([0.5, 0.0, 0.5, 0.5, 1.0]))
    assert offsets[[1, 4]].tolist() == [0, 0]
    assert len(set(offsets[[0, 2, 3]].tolist())) == 3
