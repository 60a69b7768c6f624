from __future__ import annotations

import pytest
import torch
from scipy.stats import spearmanr
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
