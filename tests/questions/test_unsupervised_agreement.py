from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import unsupervised_agreement


def test_correlations_with_scores_that_need_no_labels() -> None:
    table = study_table()
    result = unsupervised_agreement(table)
    unlabelled = ["reconstruction_error", "elbo", "total_correlation", "total_correlation_sampled", "udr"]
    assert result["score"].unique().tolist() == unlabelled
    assert result["metric"].unique().tolist() == ["mig", "modularity", "dci.disentanglement", "sap"]
    for row in result.itertuples():
        part = table[table["data"] == row.data]
        assert row.correlation == pytest.approx(spearmanr(part[row.score], part[row.metric]).statistic)


def test_runs_without_a_score_are_left_out() -> None:
    table = study_table()
    table.loc[table["recipe"] == "dip_vae_i", "elbo"] = np.nan
    row = unsupervised_agreement(table, scores=["elbo"], metrics=["mig"]).set_index("data").loc["cars3d"]
    kept = table[(table["data"] == "cars3d") & (table["recipe"] != "dip_vae_i")]
    assert row["count"] == 30
    assert row["correlation"] == pytest.approx(spearmanr(kept["elbo"], kept["mig"]).statistic)


def test_medians_are_a_setting_and_both_kinds_of_score_are_needed() -> None:
    assert set(unsupervised_agreement(study_table(), over="medians")["count"]) == {9}
    with pytest.raises(InputError, match=r"one column of scores such as reconstruction_error, psnr, elbo.*scores="):
        unsupervised_agreement(noise_table("mig"))
    with pytest.raises(InputError, match="one column of scores such as follows"):
        unsupervised_agreement(noise_table("elbo"))
