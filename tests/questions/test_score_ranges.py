from __future__ import annotations

import numpy as np
import pytest
from matplotlib.patches import Rectangle

from tests.questions.tables import make_table, noise_table, study_table
from unweave.errors import InputError
from unweave.questions import score_ranges
from unweave.questions.score_ranges import draw_score_ranges


def test_ranges_over_medians_have_no_spread_of_seeds() -> None:
    def score(_d: str, _r: str, strength: float, seed: int, _g: np.random.Generator) -> dict[str, float]:
        return {"mig": strength + (0, 100, -10, 0)[seed]}  # the median over seeds is the strength

    row = score_ranges(make_table(score)).set_index(["data", "recipe"]).loc[("cars3d", "annealed_vae")]
    assert row[["count", "minimum", "lower", "median", "upper", "maximum"]].tolist() == [3, 5, 15, 25, 62.5, 100]
    models = score_ranges(make_table(score), over="models").set_index(["data", "recipe"])
    assert models.loc[("cars3d", "annealed_vae"), ["count", "minimum", "maximum"]].tolist() == [12, -5, 200]


def test_a_method_without_scores_is_nan() -> None:
    table = noise_table("mig")
    table.loc[table["recipe"] == "beta_vae", "mig"] = np.nan
    rows = score_ranges(table).set_index("recipe").loc["beta_vae"]
    assert rows["count"].tolist() == [0, 0]
    assert rows["median"].isna().all()


def test_a_table_without_scores_is_refused() -> None:
    with pytest.raises(InputError, match="score_ranges: needs at least one column of scores such as follows"):
        score_ranges(noise_table("mine"))
    assert set(score_ranges(noise_table("mine"), metrics=["mine"])["metric"]) == {"mine"}


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
