from __future__ import annotations

import math

import pytest
import torch

import unweave
from tests.training.small import bars, pictures
from unweave.errors import InputError
from unweave.explore.examples import along_factor, at_random, by_factors, colour_entropy, seed_of, several, start_seeds


def test_an_image_is_found_by_its_factors() -> None:
    image, point = by_factors(bars(), [5, 2, 1])
    assert point == [5, 2, 1]
    assert torch.equal(image[0], pictures().unflatten(0, (12, 3, 2))[5, 2, 1])


def test_where_there_is_no_such_image_the_one_that_agrees_most_is_taken() -> None:
    points = torch.tensor([[0, 0, 0], [1, 1, 0], [1, 1, 1], [2, 0, 1]])
    some = unweave.load(pictures()[:4], factors=points, names=["a", "b", "c"])
    image, point = by_factors(some, [2, 1, 1])
    assert point == [1, 1, 1]
    assert torch.equal(image[0], pictures()[2])


def test_a_factor_moves_and_the_others_stay() -> None:
    images, values = along_factor(bars(), "place", [3, 1, 0])
    assert values == list(range(12))
    assert torch.equal(images[:, 0], pictures().unflatten(0, (12, 3, 2))[:, 1, 0])


def test_a_seed_gives_the_same_image_each_time() -> None:
    data = bars()
    first, point = at_random(data, 7)
    again, _ = at_random(data, 7)
    assert torch.equal(first, again)
    assert point is not None
    assert torch.equal(first, data.images([point])[0])
    assert torch.equal(several(data, 4), several(data, 4))


@pytest.mark.parametrize("factors", [None, "abc", [], [0, 0], [0, 0, 2], [0, 0, -1], [0, 0, 1.5], [0, 0, True], {}])
def test_factors_that_do_not_exist_are_refused(factors: object) -> None:
    with pytest.raises(InputError):
        by_factors(bars(), factors)
    with pytest.raises(InputError):
        along_factor(bars(), "place", factors)


def test_unknown_factors_and_seeds_are_refused() -> None:
    with pytest.raises(InputError, match="did you mean 'place'"):
        along_factor(bars(), "plaec", [0, 0, 0])
    with pytest.raises(InputError, match="name of a factor"):
        along_factor(bars(), 0, [0, 0, 0])
    for seed in (None, -1, 2**32, "1", 0.5):
        with pytest.raises(InputError, match="seed must be a whole number"):
            seed_of(seed)


def test_a_page_starts_from_the_image_with_most_contrast() -> None:
    flat, edge, part = torch.full((8, 8), 90), torch.zeros(8, 8), torch.full((8, 8), 60)
    edge[:, 4:], part[:, 4:] = 255, 120
    data = unweave.load(torch.stack([flat, edge, part] * 4).to(torch.uint8))
    seeds = start_seeds(data)
    spread = [float(at_random(data, seed)[0].float().std()) for seed in seeds]
    assert sorted(seeds) == list(range(16))
    assert spread == sorted(spread, reverse=True)
    assert spread[0] > 100 > spread[-1]


def test_the_start_image_has_many_colours() -> None:
    plain = torch.full((3, 4, 4), 30, dtype=torch.uint8)
    halves = plain.clone()
    halves[0, :, 2:] = 220
    quarters = halves.clone()
    quarters[1, 2:] = 220
    shaded = plain + torch.arange(4, dtype=torch.uint8)  # shades of one colour
    assert colour_entropy(plain) == colour_entropy(shaded) == 0
    assert colour_entropy(halves) == pytest.approx(math.log(2))
    assert colour_entropy(quarters) == pytest.approx(math.log(4))
    data = unweave.load("xysquares")
    entropies = [colour_entropy(at_random(data, seed)[0]) for seed in start_seeds(data)]
    assert entropies == sorted(entropies, reverse=True)
