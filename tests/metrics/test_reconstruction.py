from __future__ import annotations

import math

import numpy as np
import pytest
import torch

from unweave.errors import InputError
from unweave.metrics import psnr, reconstruction_error


def test_a_tenth_of_error_is_twenty_decibels() -> None:
    images = torch.full((3, 1, 8, 8), 0.5)
    assert reconstruction_error(images, images + 0.1).score == pytest.approx(0.01)
    assert psnr(images, images + 0.1).score == pytest.approx(20)
    assert psnr(images, images).score == math.inf
    mixed = psnr(images, images + torch.tensor([0.1, 0.01, 0.1])[:, None, None, None])
    np.testing.assert_allclose(mixed.per_image, [20, 40, 20], rtol=1e-4)


def test_bytes_are_read_as_shares_of_255() -> None:
    images = np.array([[[0, 255], [51, 102]]], np.uint8)
    assert reconstruction_error(images, np.array([[[0, 1], [0.2, 0.4]]])).score == pytest.approx(0)


@pytest.mark.parametrize(
    ("images", "again", "message"),
    [
        (np.zeros((2, 4)), np.zeros((3, 4)), "images have shape"),
        (np.zeros((2, 4)), np.full((2, 4), np.nan), "reconstructions have NaN"),
        (np.zeros((2, 4)), np.full((2, 4), 1.5), r"must lie in \[0, 1\]"),
        (np.zeros((0, 4)), np.zeros((0, 4)), "N > 0"),
        ([[0.0, 1.0], [0.0]], np.zeros((2, 2)), "of one size"),
        (np.zeros((2, 4), complex), np.zeros((2, 4)), "must be numbers"),
    ],
)
def test_what_is_no_reconstruction_is_a_sentence(images: object, again: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        psnr(images, again)
