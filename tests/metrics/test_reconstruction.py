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
        (np.zeros((2, 4)), np.full((2, 4), 1.5), r"must be in \[0, 1\]"),
        (np.zeros((0, 4)), np.zeros((0, 4)), "of at least one image"),
        ([[0.0, 1.0], [0.0]], np.zeros((2, 2)), "must be a batch of images of one size, got a list of 2"),
        ([torch.zeros(2), torch.zeros(3)], np.zeros((2, 2)), "must be a batch of images of one size, got a list of 2"),
        (torch.zeros(2, 4, dtype=torch.cfloat).conj(), np.zeros((2, 4)), "must be real numbers, got complex64"),
        (torch.zeros(2, 4).to_sparse(), np.zeros((2, 4)), "dense tensor"),
        ("a picture", np.zeros((2, 4)), "must be real numbers"),
        (np.zeros((2, 4), complex), np.zeros((2, 4)), "must be real numbers, got complex128"),
    ],
)
def test_what_is_no_reconstruction_is_a_sentence(images: object, again: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        psnr(images, again)


def test_the_wrapped_ratio_hides_large_errors() -> None:
    """60² is 3,600, and 16 modulo 256: a hundredth of pixels off by 60 leaves 0.16 of 36."""
    images = np.full((1, 100, 100), 100, np.uint8)
    again = images.copy()
    again[0, 0] += 60
    assert psnr(images, again).score == pytest.approx(20 * math.log10(255) - 10 * math.log10(36))
    for pair in ((images, again), (again, images), (images / 255, again / 255)):
        assert psnr(*pair, wrapped=True).score == pytest.approx(20 * math.log10(255) - 10 * math.log10(0.16))
    assert psnr(images, images + 16, wrapped=True).score == math.inf


def test_the_wrapped_ratio_of_a_reconstruction_that_fails_at_details() -> None:
    """One pixel in a hundred is off by 60, the others by a little: about 33 dB, which the wrapped ratio calls 44."""
    rng = np.random.default_rng(0)
    images = rng.integers(0, 256, (20, 64, 64, 3))
    error = np.round(rng.normal(0, 1.25, images.shape)) + 60 * (rng.random(images.shape) < 0.01)
    again = (images + error).clip(0, 255)
    wrapped = [
        np.mean([(int(a - b) % 256) ** 2 % 256 for a, b in zip(x.flat, y.flat, strict=True)])
        for x, y in zip(images[:2], again[:2], strict=True)
    ]
    true, theirs = (psnr(images.astype(np.uint8), again.astype(np.uint8), wrapped=w) for w in (False, True))
    np.testing.assert_allclose(theirs.per_image[:2], 20 * np.log10(255) - 10 * np.log10(wrapped))
    assert true.score == pytest.approx(33.1, abs=0.3)
    assert theirs.score == pytest.approx(44.3, abs=0.3)
    assert psnr(rng.integers(0, 256, (5, 64, 64), np.uint8), np.zeros((5, 64, 64), np.uint8), wrapped=True).score > 24


def test_the_float32_round_trip_of_tripods_code_lowers_63_of_256_values() -> None:
    """(v / 255 · 2 − 1 + 1) / 2 · 255 in float32, truncated, for every value v; the count was found with their code."""
    values = np.arange(256, dtype=np.uint8).reshape(256, 1)
    again = np.full_like(values, 0)
    round_trip = [
        int(np.uint8((np.float32(v) / np.float32(255) * 2 - 1 + 1) / 2 * np.float32(255))) for v in range(256)
    ]
    assert sum(got != v for v, got in enumerate(round_trip)) == 63
    error = np.array([(got * got) % 256 for got in round_trip]) / 255.0**2
    found = psnr(values, again, wrapped=True, truncated=True).per_image
    with np.errstate(divide="ignore"):
        np.testing.assert_allclose(found, -10 * np.log10(error))
    with pytest.raises(InputError, match="truncated is a part of wrapped"):
        psnr(values, again, truncated=True)


def test_the_first_images_are_measured_in_parts() -> None:
    rng = np.random.default_rng(0)
    images, again = rng.random((2_300, 2, 2)), rng.random((2_300, 2, 2))  # more than are held at once
    expected = -10 * np.log10(((images - again) ** 2).mean((1, 2)))
    np.testing.assert_allclose(psnr(images, again).per_image, expected)
    np.testing.assert_allclose(psnr(images, again, most=1_200).per_image, expected[:1_200])
    with pytest.raises(InputError, match="most must be a whole number of at least 1"):
        psnr(images, again, most=0)
