from __future__ import annotations

import pytest
from scipy.stats import spearmanr

from tests.questions.tables import noise_table, study_table
from unweave.errors import InputError
from unweave.questions import downstream_agreement


def test_correlation_of_metrics_with_accuracy() -> None:
    table = study_table()
    result = downstream_agreement(table)
    assert result["task"].unique().tolist() == ["downstream.score"]
    for row in result.itertuples():
        part = table[table["data"] == row.data]
        assert row.correlation == pytest.approx(spearmanr(part[row.metric], part["downstream.score"]).statistic)


def test_tasks_of_ones_own_and_medians() -> None:
    table = noise_table("mig", "lr_100", "gbt_100")
    result = downstream_agreement(table, tasks=["lr_100", "gbt_100"], over="medians")
    assert result["task"].tolist() == ["lr_100", "gbt_100"] * 2
    assert set(result["count"]) == {9}


def test_accuracy_is_needed() -> None:
    with pytest.raises(InputError, match=r"downstream_agreement: needs .* such as downstream.score.*tasks="):
        downstream_agreement(noise_table("mig"))
