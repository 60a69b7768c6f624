from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.questions.tables import make_table, noise_table
from unweave.errors import InputError
from unweave.questions import metric_agreement, metric_pairs


def test_agreement_is_spearmans_correlation_of_every_pair() -> None:
    table = noise_table("mig", "sap", "modularity")
    result = metric_agreement(table)
    assert len(result) == 2 * 9
    for row in result.itertuples():
        part = table[table["data"] == row.data]
        assert row.correlation == pytest.approx(spearmanr(part[row.metric], part[row.other]).statistic)


def test_metrics_that_order_models_alike_agree_on_one_data_set_and_reverse_on_the_other() -> None:
    def score(data: str, _r: str, _s: float, _n: int, g: np.random.Generator) -> dict[str, float]:
        x = g.normal()
        return {"mig": x, "sap": x**3 if data == "dsprites" else -x, "modularity": 0.5}

    result = metric_agreement(make_table(score)).set_index(["data", "metric", "other"])["correlation"]
    assert result["dsprites", "mig", "sap"] == pytest.approx(1)
    assert result["cars3d", "mig", "sap"] == pytest.approx(-1)
    assert np.isnan(result["cars3d", "mig", "modularity"])  # constant


def test_medians_over_seeds_are_a_setting() -> None:
    table = noise_table("mig", "sap")
    assert set(metric_agreement(table)["count"]) == {36}
    assert set(metric_agreement(table, over="medians")["count"]) == {9}


def test_pairs_have_every_model_once_per_pair() -> None:
    pairs = metric_pairs(noise_table("mig", "sap", "modularity"))
    assert pairs.groupby(["x", "y"]).size().tolist() == [72, 72, 72]


def test_one_metric_is_too_few() -> None:
    with pytest.raises(InputError, match="metric_agreement: needs at least 2 columns of scores"):
        metric_agreement(noise_table("mig"))
    with pytest.raises(InputError, match="metric_pairs: the table lacks the column 'seed'"):
        metric_pairs(noise_table("mig", "sap").drop(columns="seed"))
