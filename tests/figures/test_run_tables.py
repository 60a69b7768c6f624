from __future__ import annotations

from pathlib import Path

import pytest

import unweave
from tests.training.small import trained
from unweave.errors import InputError
from unweave.figures.figure import check_scored, method_column, table_of_runs


def test_a_table_has_settings_and_the_last_scores(tmp_path: Path) -> None:
    data = unweave.load("xysquares", size=16)
    run = trained(tmp_path, data=data, steps=2)
    unweave.score(run, data, metrics=["mig"], samples=50)
    last = unweave.score(run, data, metrics=["mig"], samples=60)["mig"].score
    table = table_of_runs([run])
    row = table.iloc[0]
    assert (row["recipe"], row["data"], row["seed"], row["data.size"]) == ("beta_vae", "xysquares", 0, 16)
    assert row["mig"] == pytest.approx(last)
    assert check_scored("a figure", table, ()) == ["mig"]
    assert method_column(table, None) == "method"
    assert method_column(table.drop(columns="method"), None) == "recipe"
    assert method_column(table, "seed") == "seed"
    with pytest.raises(InputError, match="Scores of runs are measured by: unweave score"):
        check_scored("a figure", table.drop(columns="mig"), ())
