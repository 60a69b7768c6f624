from __future__ import annotations

import pytest
import torch

from tests.metrics.samples import SPACE
from unweave import FactorSpace
from unweave.errors import InputError
from unweave.metrics import beta_vae_score, factor_vae_score, irs
from unweave.metrics.scoring.chosen_points import batches_of, codes_of, random_axes, varying_axes


def test_votes_are_drawn_in_pieces_that_fit() -> None:
    assert sum(batches_of(10_000, 128)) == 10_000
    assert max(batches_of(10_000, 128)) * 128 <= 320_000
    assert list(batches_of(2, 10**9)) == [1, 1]


def test_codes_keep_the_points_shape() -> None:
    points = torch.zeros(2, 5, 3, dtype=torch.int64)
    assert codes_of("irs", lambda p: torch.zeros(len(p), 7), points).shape == (2, 5, 7)
    with pytest.raises(InputError, match="given 10 points but returned 9"):
        codes_of("irs", lambda p: torch.zeros(len(p) - 1, 7), points)
    with pytest.raises(InputError, match="irs: 10 of 10 codes are NaN"):
        codes_of("irs", lambda p: torch.full((len(p), 7), torch.nan), points)


def test_factors_with_one_value_are_never_held(generator: torch.Generator) -> None:
    space = FactorSpace.of(a=3, still=1, b=2)
    axes = varying_axes("irs", space)
    assert set(random_axes(axes, 50, generator).tolist()) == {0, 2}
    with pytest.raises(InputError, match="needs at least 2 factors with more than one value, got 1"):
        varying_axes("irs", FactorSpace.of(a=3, still=1))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda r: beta_vae_score(r, SPACE, train=0), "train must be a whole number of at least 1"),
        (lambda r: factor_vae_score(r, SPACE, batch=1), "batch must be a whole number of at least 2"),
        (lambda r: irs(r, SPACE, quantile=0), "quantile must be above 0"),
        (lambda r: irs(r, SPACE, points=0), "points must be a whole number of at least 1"),
    ],
)
def test_impossible_settings_are_a_sentence(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InputError, match=message):
        call(lambda points: points.double())
