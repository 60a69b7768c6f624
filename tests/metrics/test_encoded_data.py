from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

import unweave
from unweave.errors import InputError
from unweave.metrics import EncodedData
from unweave.metrics.scoring.encoded_data import sample_sizes


class Model:
    """An encoder of the mean of each channel, which reconstructs by it and has a posterior."""

    def __init__(self) -> None:
        self.batches: list[int] = []

    def __call__(self, images: Tensor) -> Tensor:
        return images.mean((2, 3))

    def reconstruct(self, images: Tensor) -> Tensor:
        self.batches.append(len(images))
        return self(images)[:, :, None, None].expand_as(images)

    def posterior(self, images: Tensor) -> tuple[Tensor, Tensor]:
        return self(images), self(images) - 3


@pytest.mark.parametrize("name", ["xysquares", "noisy_dsprites"])
def test_the_images_held_are_the_first_of_the_sample(name: str) -> None:
    data = unweave.load(name, size=8)
    encoded = EncodedData(Model(), data, samples=1100, batch=300)
    assert encoded.images.shape == (1000, *data.shape)
    assert encoded.images.dtype == torch.uint8
    assert encoded.images is encoded.images
    assert encoded.reconstructions.shape == encoded.images.shape
    mean, logvar = encoded.posterior
    assert mean.shape == logvar.shape == (1100, data.shape[0])
    np.testing.assert_allclose(logvar, mean - 3, atol=1e-6)
    if not data.stochastic:
        assert torch.equal(encoded.images, data.images(encoded.sample.factors[:1000]))  # type: ignore[index]
        np.testing.assert_allclose(mean, encoded.sample.codes)


def own(n: int, labelled: bool) -> unweave.FactorData:
    images = (torch.arange(n) * 2).to(torch.uint8).view(n, 1, 1, 1).expand(n, 1, 8, 8)
    return unweave.load(images, factors=torch.arange(n)[:, None] if labelled else None)


@pytest.mark.parametrize("labelled", [True, False])
def test_of_a_finite_table_no_image_is_drawn_twice(labelled: bool) -> None:
    encoded = EncodedData(Model(), own(90, labelled), samples=50, test_samples=60)
    first, second = encoded.sample, encoded.test_sample
    assert (len(first.codes), len(second.codes)) == (50, 30)  # a third, at most, to test
    together = np.concatenate([first.codes, second.codes])
    assert len(np.unique(together)) == 80
    if labelled:
        np.testing.assert_allclose(first.codes[:, 0], first.factors[:, 0] * 2 / 255, atol=1e-6)  # type: ignore[index]
    pixels = encoded.images.float().mean((1, 2, 3)).numpy() / 255
    np.testing.assert_allclose(pixels, first.codes[:, 0], atol=1e-6)


@pytest.mark.parametrize(
    ("asked", "drawn"), [((1000, 500), (20, 10)), ((5, 500), (5, 10)), ((1000, 4), (26, 4)), ((6, 3), (6, 3))]
)
def test_a_finite_table_bounds_the_samples(asked: tuple[int, int], drawn: tuple[int, int]) -> None:
    encoded = EncodedData(Model(), own(30, labelled=True), samples=asked[0], test_samples=asked[1])
    assert sample_sizes(own(30, labelled=True), *asked) == drawn
    assert (len(encoded.sample.codes), len(encoded.test_sample.codes)) == drawn
    assert sample_sizes(unweave.load("xysquares", size=8), 1000, 500) == (1000, 500)


def test_metrics_that_split_themselves_get_both_samples_of_a_finite_table() -> None:
    encoded = EncodedData(Model(), own(90, True), samples=70, test_samples=60)
    assert len(encoded.joined.codes) == 70  # of the 60 and 30 of the two samples
    np.testing.assert_allclose(encoded.joined.codes[:, 0], encoded.joined.factors[:, 0] * 2 / 255, atol=1e-6)  # type: ignore[index]
    grid = EncodedData(Model(), unweave.load("xysquares", size=16), samples=70)
    assert grid.joined is grid.sample


@pytest.mark.parametrize(
    ("wrong", "ask", "message"),
    [
        (
            {"reconstruct": lambda images: images[:, :, :4]},
            "reconstructions",
            r"reconstruct must return images \(50, 3",
        ),
        ({"reconstruct": lambda images: None}, "reconstructions", "as a tensor, got NoneType"),
        ({"posterior": lambda images: images.flatten(1)}, "posterior", "must return a pair"),
        ({"posterior": lambda images: (images[:, :2, 0, 0], images[:, 0, 0, :1])}, "posterior", "mean and logvar"),
    ],
)
def test_a_broken_model_is_a_sentence(wrong: dict[str, Any], ask: str, message: str) -> None:
    model = Model()
    vars(model).update(wrong)
    encoded = EncodedData(model, unweave.load("xysquares", size=16), samples=50)
    with pytest.raises(InputError, match=message):
        getattr(encoded, ask)
