"""Means and spreads over seeds."""

import numpy as np
import pandas as pd
import pytest

from unweave.errors import InputError
from unweave.papers.results import fastest, finished, mean_and_spread, over_seeds


def test_the_spread_is_the_sample_deviation() -> None:
    assert mean_and_spread(np.array([1.0, 2.0, 3.0])) == "2.000 ± 1.000"
    assert mean_and_spread(np.array([1.0, np.nan])) == "1.000"
    assert mean_and_spread(np.array([np.nan])) == "–"


def test_seeds_are_counted_in_each_group() -> None:
    table = pd.DataFrame({"recipe": ["ae", "ae", "vae"], "mig": [0.1, 0.3, 0.5]})
    summary = over_seeds(table, ["recipe"], ["mig"])
    assert list(summary["seeds"]) == [2, 1]
    assert list(summary["mig"]) == ["0.200 ± 0.141", "0.500"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="no column 'dci'"):
        over_seeds(pd.DataFrame({"recipe": ["ae"]}), ["recipe"], ["dci"])


def test_unfinished_runs_are_left_out() -> None:
    assert len(finished(pd.DataFrame({"state": ["finished", "failed"]}))) == 1


def test_the_fastest_run_counts() -> None:
    runs = pd.DataFrame({"recipe": ["vae", "ae", "vae"], "seconds": [90.4, 5.0, 30.0]})
    assert fastest(runs, ["recipe"]).to_dict("list") == {"recipe": ["vae", "ae"], "seconds of the fastest run": [30, 5]}
