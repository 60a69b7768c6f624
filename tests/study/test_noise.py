from __future__ import annotations

import torch

from unweave.study.noise import Noise


def test_images_are_random_and_a_function_of_their_factors(generator: torch.Generator) -> None:
    data = Noise((3, 8, 8))
    sample = data.sample(64, generator)
    assert sample.images.shape == (64, 3, 8, 8)
    assert 100 < sample.images.float().mean() < 155
    assert sample.factors is not None
    assert torch.equal(data.images(sample.factors), sample.images)
