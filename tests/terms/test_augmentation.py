from __future__ import annotations

import torch

from unweave.terms import Augmentation

IMAGES = torch.rand(200, 2, 5, 6, generator=torch.Generator().manual_seed(0))


def test_shifts_move_the_whole_image(generator: torch.Generator) -> None:
    moved = Augmentation(shift=2)(IMAGES, generator)
    seen = set()
    for image, result in zip(IMAGES, moved, strict=True):
        for down in range(-2, 3):
            for right in range(-2, 3):
                expected = torch.zeros_like(image)
                expected[:, max(0, down) : 5 + min(0, down), max(0, right) : 6 + min(0, right)] = image[
                    :, max(0, -down) : 5 - max(0, down), max(0, -right) : 6 - max(0, right)
                ]
                if torch.equal(expected, result):
                    seen.add((down, right))
                    break
            else:
                continue
            break
        else:
            raise AssertionError("no shift gives this image")
    assert len(seen) == 25


def test_noise_has_its_deviation_and_its_chance(generator: torch.Generator) -> None:
    grey = torch.full((4000, 1, 4, 4), 0.5)
    noisy = Augmentation(noise=0.05, chance=0.25)(grey, generator)
    changed = (noisy != grey).flatten(1).any(1)
    assert abs(changed.float().mean() - 0.25) < 0.03
    assert abs(noisy[changed].std() - 0.05) < 0.002
    assert torch.equal(Augmentation()(IMAGES, generator), IMAGES)
