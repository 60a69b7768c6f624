from __future__ import annotations

from typing import Any, Literal

import pytest
import torch
from scipy.stats import pearsonr, spearmanr
from torch import Tensor

import unweave
from unweave.data.distances import mse, perceived_distance
from unweave.errors import InputError
from unweave.metrics import distance_agreement


def pixels(images: Tensor) -> Tensor:
    return images.flatten(1)


def test_codes_that_are_the_pixels_agree_with_what_is_perceived() -> None:
    data = unweave.load("three_dots", size=16)
    result = distance_agreement(data, pixels, decode=lambda codes: codes.view(-1, 1, 16, 16), pairs=300)
    assert result.names == ("ground_truth", "perceived", "latent", "reconstruction")
    assert result.spearman[1, 2] == pytest.approx(1)  # a root orders as its square does
    assert result.spearman[1, 3] == pytest.approx(1)
    pairs = data.space.pairs(300, 1, torch.Generator().manual_seed(0))
    expected = spearmanr(
        (pairs.first - pairs.second).abs().sum(1), perceived_distance(data, pairs.first, pairs.second, distance=mse)
    ).statistic
    assert result.spearman[0, 1] == pytest.approx(expected)
    assert result.score == pytest.approx(expected)


def test_without_a_decoder_there_are_three_distances() -> None:
    data = unweave.load("xysquares", size=16)
    result = distance_agreement(data, pixels, pairs=100)
    assert result.names == ("ground_truth", "perceived", "latent")
    assert result.score == 0  # constant distances agree with nothing
    with pytest.raises(InputError, match="pairs must be a whole number of at least 3"):
        distance_agreement(data, pixels, pairs=1)


@pytest.mark.parametrize("over", ["factor", "all"])
@pytest.mark.parametrize("norm", [1, 2])
def test_correlations_are_those_of_explicit_loops(over: Literal["factor", "all"], norm: Literal[1, 2]) -> None:
    data = unweave.load("three_dots", size=16)
    generator = torch.Generator().manual_seed(3)
    if over == "factor":
        drawn = data.space.pairs(200, 1, generator)
        first, second = drawn.first, drawn.second
    else:
        first, second = data.space.sample(200, generator), data.space.sample(200, generator)
    truth, latent = [], []
    for a, b in zip(first.tolist(), second.tolist(), strict=True):
        truth.append(sum(abs(i - j) for i, j in zip(a, b, strict=True)))
        one, other = (codes(data.images(torch.tensor([point])).float() / 255)[0].tolist() for point in (a, b))
        latent.append(sum(abs(i - j) ** norm for i, j in zip(one, other, strict=True)) ** (1 / norm))
    result = distance_agreement(data, codes, pairs=200, over=over, norm=norm, seed=3)
    assert result.score == pytest.approx(spearmanr(truth, latent).statistic, abs=1e-6)
    assert result.pearson[2, 0] == pytest.approx(pearsonr(truth, latent).statistic, abs=1e-6)


def codes(images: Tensor) -> Tensor:
    """The means of rows and columns, whose distances differ by the norm."""
    return torch.cat([images.mean((1, 2)), images.mean((1, 3))], 1)


@pytest.mark.parametrize("wrong", [{"over": "pairs"}, {"norm": 3}])
def test_unknown_forms_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(InputError, match=r"over|norm"):
        distance_agreement(unweave.load("xysquares", size=16), pixels, pairs=10, **wrong)
