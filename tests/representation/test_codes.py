"""Codes with a table of labels as people have it: words beside fractions beside whole numbers, with gaps."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas
import pytest
import torch

import unweave
from unweave.errors import InputError
from unweave.figures import FIGURES

N = 400
RNG = np.random.default_rng(0)
STAGE = RNG.integers(0, 3, N)
FRAME = pandas.DataFrame(
    {
        "stage": np.array(["egg", "larva", "adult"])[STAGE],
        "age": RNG.gamma(2, 3, N),
        "count": RNG.integers(0, 5, N),
    }
)
VALUES = np.stack([STAGE + RNG.normal(scale=0.1, size=N), np.log(FRAME["age"]), RNG.normal(size=N)], axis=1)


def test_each_column_keeps_its_name_and_kind() -> None:
    scores = unweave.score_codes(VALUES, FRAME, metrics=["follows", "mig", "mcc"])
    assert scores.factors == ("stage", "age", "count")
    assert [link.factor for link in scores["follows"].links] == ["stage", "age"]
    assert scores["follows"].unfollowed == ("count",)
    assert scores.notes["mcc"] == "without stage"
    alone = unweave.metrics.mcc(VALUES, FRAME[["age", "count"]].to_numpy()).score
    assert scores["mcc"].score == alone
    assert "z0 → stage" in str(scores)
    assert "stage" in scores._repr_html_()
    assert unweave.Scores.from_json(scores.to_json()).notes == scores.notes


def test_missing_values_are_named_and_left_out_of_their_factor_only() -> None:
    gaps = FRAME.copy()
    gaps.loc[:49, "stage"] = None
    gaps.loc[30:39, "age"] = np.nan
    with pytest.raises(InputError, match=r"stage has 50, age has 10 of 400 rows, the first in row 1.*missing=\"drop\""):
        unweave.score_codes(VALUES, gaps)
    scores = unweave.score_codes(VALUES, gaps, missing="drop", metrics=["follows", "mcc"])
    expected = unweave.metrics.follows(VALUES[50:], STAGE[50:]).share[:, 0]
    np.testing.assert_allclose(scores["follows"].share[:, 0], expected, atol=0.02)
    assert scores.notes == {"mcc": "without stage"}
    known = gaps[["age", "count"]].to_numpy()
    assert scores["mcc"].score == unweave.metrics.mcc(VALUES, known).score


def test_codes_are_a_representation() -> None:
    codes = unweave.Codes(VALUES, FRAME, name="mine")
    assert codes.size == 3
    drawn = codes.draw(1000, torch.Generator().manual_seed(0))
    assert len(drawn.codes) == N
    found = codes.follows()
    assert found is not None
    assert found.factors == ("stage", "age", "count")
    assert unweave.score(codes, metrics=["mcc"]).table == unweave.score_codes(VALUES, FRAME, metrics=["mcc"]).table
    with pytest.raises(InputError, match="mine has no encoder"):
        codes.encode(torch.zeros(1, 3, 8, 8))
    with pytest.raises(InputError, match="has factors but no images"):
        codes.data().rows([0])
    with pytest.raises(InputError, match="400 codes and 399 rows of factors"):
        unweave.Codes(VALUES, FRAME[:-1])


def test_figures_of_codes_have_the_names_of_columns(tmp_path: Path) -> None:
    images = RNG.integers(0, 255, (N, 8, 8, 3), dtype=np.uint8)
    codes = unweave.Codes(VALUES, FRAME, images=images, name="mine")
    made = FIGURES["mutual_information"].of_runs([codes], [codes.data()], torch.Generator().manual_seed(0))
    assert made.maps[0].factors == ("stage", "age", "count")
    with pytest.raises(InputError, match="reconstructions needs an encoder, which codes alone do not have"):
        FIGURES["reconstructions"].of_runs([codes], [codes.data()], torch.Generator().manual_seed(0))


def test_discrete_codes_have_levels() -> None:
    codes = unweave.Codes(np.stack([STAGE, STAGE[::-1]], axis=1), {"stage": FRAME["stage"].to_numpy()}, discrete=True)
    assert codes.levels is not None
    assert codes.levels.tolist() == [[0, 1, 2], [0, 1, 2]]
    assert codes.summary.usage is not None
    np.testing.assert_allclose(codes.summary.usage[0], np.bincount(STAGE) / N)
