from __future__ import annotations

import pytest
import torch

from unweave.cli.data import distances_as_json, print_distances
from unweave.data.distances import ChannelStatistics, Importance, Matrices

LINE = (torch.arange(3.0)[:, None] - torch.arange(3.0)).abs()
CONSTANT = 1 - torch.eye(3)
ROWS = [Importance("random", 0.5, 0.25), Importance("x", 0.25, 0.125), Importance("y", 0.25, 0.0)]
ROWS += [Importance("shape", 0.125, 0.0)]
MATRICES = [
    Matrices("x", LINE, 2 * LINE),
    Matrices("y", LINE, CONSTANT),
    Matrices("shape", LINE[:2, :2], LINE[:2, :2]),
]
STATISTICS = ChannelStatistics(torch.tensor([0.5]), torch.tensor([0.25]), 1200, False)


def test_a_correlation_that_is_not_defined_is_none_in_json() -> None:
    plain = distances_as_json(ROWS, MATRICES, STATISTICS)
    correlations = {row["factor"]: row["correlation"] for row in plain["factors"]}
    assert correlations == {"random": None, "x": pytest.approx(1.0), "y": None, "shape": None}
    assert plain["factors"][1] == {"factor": "x", "mean": 0.25, "std": 0.125, "correlation": correlations["x"]}
    assert plain["channels"] == {"mean": [0.5], "std": [0.25], "images": 1200, "exact": False}


def test_the_tables_have_a_row_per_factor_and_channel(capsys: pytest.CaptureFixture[str]) -> None:
    print_distances(ROWS, MATRICES, STATISTICS)
    shown = capsys.readouterr().out
    rows = [line.split() for line in shown.splitlines()]
    assert ["x", "0.2500", "0.1250", "1.000"] in rows
    assert ["y", "0.2500", "0.0000", "constant"] in rows
    assert ["shape", "0.1250", "0.0000", "two", "values"] in rows
    assert ["0", "0.500000", "0.250000"] in rows
    assert "from 1,200 images (a sample)" in shown
