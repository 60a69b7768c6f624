from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest

import unweave
from tests.training.small import trained
from unweave.errors import InputError
from unweave.figures.local_scores import draw_local_scores, local_rows, make_local_scores


def test_means_and_deviations_are_over_seeds() -> None:
    table = pandas.DataFrame(
        [
            {"data": "three_dots", "recipe": recipe, "seed": seed, "rho": rho, "metric": metric, "score": value}
            for metric in ("local_mig", "local_modularity")
            for recipe, shift in (("beta_vae", 0.0), ("jl1_vae", 0.5))
            for rho in (0.1, 1.0)
            for seed, value in enumerate([0.1 + shift, 0.2 + shift, 0.3 + shift])
        ]
    )
    result = make_local_scores(table)
    assert len(result.frame) == 8
    row = result.frame[(result.frame["method"] == "jl1_vae") & (result.frame["rho"] == 0.1)].iloc[0]
    assert (row["mean"], row["std"], row["runs"]) == pytest.approx((0.7, 0.1, 3))
    figure = draw_local_scores(result)
    assert [panel.get_title() for panel in figure.axes] == ["local MIG", "local modularity"]
    np.testing.assert_allclose(np.asarray(figure.axes[0].lines[0].get_xdata(), float), [0.1, 1.0])
    with pytest.raises(InputError, match="lacks the column 'rho'"):
        make_local_scores(table.drop(columns="rho"))
    with pytest.raises(InputError, match="'rho' and 'score' must contain numbers"):
        make_local_scores(table.assign(score="high"))


def test_stored_scores_of_runs_are_read_by_radius(tmp_path: Path) -> None:
    data = unweave.load("three_dots", size=16)
    run = trained(tmp_path, data=data, steps=2)
    with pytest.raises(InputError, match="none of these runs has local scores"):
        local_rows([run])
    settings = {"local_mig": {"rho": [0.2, 1.0], "neighbourhoods": 2, "points": 30}}
    scores = unweave.score(run, data, metrics=["local_mig"], settings=settings)["local_mig"]
    rows = local_rows([run])
    assert rows["rho"].tolist() == [0.2, 1.0]
    np.testing.assert_allclose(rows["score"], scores.per_rho)
    assert set(rows["recipe"]) == {"beta_vae"}
