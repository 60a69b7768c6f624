"""A column of floats is continuous, one of integers is a grid, and one of words has classes, unless declared."""

from __future__ import annotations

import json
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import unweave
from tests.cli.running import run
from tests.metrics.samples import mixed
from unweave import metrics
from unweave.metrics.scoring.factor_kinds import read_kinds

CODES, LABELS = mixed(300)
GRID = LABELS.astype(np.float64)
GAPS = np.where(np.arange(300) < 9, np.nan, GRID[:, 1])
WORDS = np.array(list("abcde"))[LABELS[:, 0]]
FRAME = pd.DataFrame({"whole": LABELS[:, 0], "angle": LABELS[:, 1] / 8, "gaps": GAPS, "word": WORDS})
ORDERED, CONTINUOUS = "ordered", "continuous"
OF_FLOATS = "ignore:whole numbers that are stored as floats"


@pytest.mark.parametrize(
    ("factors", "expected"),
    [
        (LABELS, [ORDERED] * 3),
        (LABELS.astype(np.uint8), [ORDERED] * 3),
        (LABELS > 1, [ORDERED] * 3),
        (LABELS.tolist(), [ORDERED] * 3),
        (WORDS, ["categorical"]),
        (GRID, [CONTINUOUS] * 3),
        (GRID.astype(np.float32), [CONTINUOUS] * 3),
        (torch.tensor(GRID, dtype=torch.bfloat16), [CONTINUOUS] * 3),
        (torch.tensor(LABELS), [ORDERED] * 3),
        (GRID.tolist(), [CONTINUOUS] * 3),
        ([[1, 0.5], [2, 1.0], [None, 2.0]], [ORDERED, CONTINUOUS]),
        (np.array([[1, 0.5], [2, 1.0], [None, 2.0]], object), [ORDERED, CONTINUOUS]),
        (np.column_stack([GRID[:, 0], GAPS]), [CONTINUOUS, ORDERED]),
        (FRAME, [ORDERED, CONTINUOUS, ORDERED, "categorical"]),
        ({"age": pd.array([1, None, 2], dtype="Int64"), "size": [1.0, 2.0, 4.0]}, [ORDERED, CONTINUOUS]),
        ({"stage": ["3", "", "4"], "size": ["3.0", "4.0", "5"]}, [ORDERED, CONTINUOUS]),
        ({"stage": ["3.0", "", "4.0"]}, [ORDERED]),
    ],
)
@pytest.mark.filterwarnings(OF_FLOATS)
def test_the_kind_of_a_column_is_that_of_its_type(factors: Any, expected: list[str]) -> None:
    _, found = read_kinds(factors, None, None, "drop")
    assert [found.declared[k] for k in range(len(expected))] == expected


@pytest.mark.filterwarnings(OF_FLOATS)
def test_floats_are_scored_as_declared_continuous_and_integers_as_a_grid() -> None:
    for metric in (metrics.dci, metrics.sap, metrics.explicitness):
        expected = metric(CODES, LABELS, kinds=["continuous"] * 3).score
        assert metric(CODES, GRID).score == expected
        assert metric(CODES, torch.tensor(GRID).float()).score == expected
        assert metric(CODES, GRID, kinds=["ordered"] * 3).score == metric(CODES, LABELS).score != expected


@pytest.mark.filterwarnings("error")
def test_integers_of_a_table_stay_a_grid_beside_floats_and_gaps() -> None:
    table = FRAME[["angle", "whole", "gaps"]]
    scores = unweave.score_codes(CODES, table, metrics=["dci", "explicitness"], missing="drop")
    kinds = ["continuous", "ordered", "ordered"]
    expected = metrics.explicitness(CODES, table.to_numpy(), kinds=kinds)
    assert scores["explicitness"].per_factor.tolist() == expected.per_factor.tolist()
    mine = unweave.Codes(CODES, table, missing="drop")
    assert unweave.score(mine, metrics="explicitness")["explicitness"].score == expected.score
    frame = FRAME[["angle", "whole"]]
    assert (
        metrics.explicitness(CODES, frame).score == metrics.explicitness(CODES, frame.to_numpy(), kinds=kinds[:2]).score
    )


def test_whole_floats_are_named_in_one_warning() -> None:
    with warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        unweave.score_codes(CODES, {"x": GRID[:, 0], "y": LABELS[:, 1]}, metrics=["mig", "sap", "dci"], null=2)
    assert [str(each.message) for each in seen] == [
        "whole numbers that are stored as floats are scored as continuous: x. If they are labels or values on a grid, "
        'pass integers or kinds={"x": "ordered"} (--kind x=ordered).'
    ]
    with pytest.warns(UserWarning, match=r'continuous: factor 0, factor 1, factor 2\. If .* kinds={0: "ordered", 1: '):
        metrics.sap(CODES, GRID)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        metrics.sap(CODES, GRID, kinds=["continuous", "ordered", "ordered"])
        metrics.mig(CODES, GRID * 0.5 + 0.25)
        metrics.mig(CODES, np.column_stack([LABELS[:, 0] / 8, np.ones(300)]))  # a constant column has no kind


@pytest.mark.filterwarnings("error")
def test_a_grid_of_a_data_set_is_declared_by_it() -> None:
    """Floats that are loaded with images have a grid of values, so scores of encoders on them stay as they are."""
    images = np.random.default_rng(0).integers(0, 255, (300, 8, 8), np.uint8)
    encode = torch.nn.Flatten()
    scores = [
        unweave.score(encode, unweave.load(images, factors=factors), metrics=["explicitness"], samples=200).table
        for factors in (GRID, LABELS, GRID / 8)
    ]
    assert scores[0] == scores[1] == scores[2]


@pytest.mark.filterwarnings("error")
def test_integers_beside_a_continuous_factor_of_a_data_set_stay_a_grid() -> None:
    images = np.random.default_rng(0).integers(0, 255, (300, 8, 8), np.uint8)
    age = np.random.default_rng(1).normal(size=300)
    data = unweave.load(images, factors={"age": age, "x": LABELS[:, 0]})
    assert data.labels is not None
    encoder = unweave.Encoder(torch.nn.Flatten(), data)
    (_, factors), kinds = encoder.draw_labelled(100, torch.Generator().manual_seed(0), data)
    assert factors is not None
    assert factors.dtype == torch.float64
    assert kinds == {0: "continuous", 1: "ordered"}
    assert encoder.follows(samples=200) is not None


def test_the_command_line_says_so_in_a_note(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save(tmp_path / "codes.npy", CODES)
    (tmp_path / "factors.csv").write_text("x,y\n" + "\n".join(f"{a:.1f},{b}" for a, b in LABELS[:, :2]))
    files = ["--codes", str(tmp_path / "codes.npy"), "--factors", str(tmp_path / "factors.csv")]
    assert run(monkeypatch, "score", *files, "--metric", "explicitness", "--metric", "mig") == 0
    said = capsys.readouterr().out
    assert said.count("note: whole numbers that are stored as floats are scored as continuous: x. ") == 1
    assert run(monkeypatch, "score", *files, "--metric", "explicitness", "--kind", "x=ordered", "--json") == 0
    expected = metrics.explicitness(CODES, LABELS[:, :2]).score
    assert json.loads(capsys.readouterr().out)["explicitness"] == pytest.approx(expected)
