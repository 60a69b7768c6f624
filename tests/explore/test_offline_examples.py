from __future__ import annotations

import pytest
import torch

import unweave
from tests.training.small import bars, pictures
from unweave.explore import examples as explore_examples
from unweave.explore.examples import choose_examples, start_seeds


def test_examples_are_images_of_the_data_with_their_factors() -> None:
    examples = choose_examples(bars())
    assert examples.factors is not None
    stored = pictures()[:, None]
    grid = torch.cartesian_prod(torch.arange(12), torch.arange(3), torch.arange(2)).tolist()
    for image, factors in zip(examples.images, examples.factors.tolist(), strict=True):
        assert torch.equal(image, stored[grid.index(factors)])
    assert torch.equal(choose_examples(bars()).images, examples.images)


def test_every_value_of_every_factor_is_there_for_the_first_images() -> None:
    examples = choose_examples(bars())
    assert examples.factors is not None
    points = {tuple(point) for point in examples.factors.tolist()}
    for root in start_seeds(bars())[:4]:
        point = examples.factors[root].tolist()
        for axis, size in enumerate((12, 3, 2)):
            for value in range(size):
                assert (*point[:axis], value, *point[axis + 1 :]) in points


def test_the_room_is_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(explore_examples, "MOST_BYTES", 10 * 256)
    few = choose_examples(bars())
    assert len(few.images) == len(few.roots) == 10
    monkeypatch.setattr(explore_examples, "MOST_BYTES", 45 * 256)
    assert len(choose_examples(bars()).images) == 16 + 17


def test_images_without_factors() -> None:
    examples = choose_examples(unweave.load(pictures()))
    assert examples.factors is None
    assert len(examples.images) == 16
