from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch import Tensor

from unweave.errors import InputError
from unweave.factors import Categorical, Cyclic, FactorSpace, Ordered

spaces = st.lists(
    st.tuples(st.sampled_from([Ordered, Cyclic, Categorical]), st.integers(1, 9)), min_size=1, max_size=5
).map(lambda kinds: FactorSpace.of(**{f"f{i}": kind(size) for i, (kind, size) in enumerate(kinds)}))
seeds = st.integers(0, 2**32)


def rng(seed: int = 0) -> torch.Generator:
    return torch.Generator().manual_seed(seed)


def grid(space: FactorSpace) -> Tensor:
    return torch.tensor(list(itertools.product(*map(range, space.sizes))))


def test_a_space_knows_its_factors() -> None:
    space = FactorSpace.of(shape=Categorical(3), scale=6, orientation=Cyclic(40), x=32, y=32)
    assert space.names == ("shape", "scale", "orientation", "x", "y")
    assert space.sizes == (3, 6, 40, 32, 32)
    assert space.kinds == ("categorical", "ordered", "cyclic", "ordered", "ordered")
    assert space.size == 737_280
    assert space == FactorSpace.of(shape=Categorical(3), scale=Ordered(6), orientation=Cyclic(40), x=32, y=32)
    assert space != FactorSpace.of(shape=3, scale=6, orientation=Cyclic(40), x=32, y=32)


@given(spaces)
def test_positions_count_the_grid_with_the_last_factor_fastest(space: FactorSpace) -> None:
    points = grid(space)
    assert torch.equal(space.index(points), torch.arange(space.size))
    assert torch.equal(space.at(torch.arange(space.size)), points)


@given(st.lists(st.integers(1, 2**20), min_size=1, max_size=6), seeds)
def test_positions_round_trip_on_large_grids(sizes: list[int], seed: int) -> None:
    while math.prod(sizes) > 2**63:
        sizes = sizes[:-1]
    space = FactorSpace.of(**{f"f{i}": size for i, size in enumerate(sizes)})
    points = space.sample(50, rng(seed))
    assert torch.equal(space.at(space.index(points)), points)


def test_a_grid_of_two_to_the_63_has_positions_and_a_larger_one_says_so() -> None:
    largest = FactorSpace.of(**{f"f{i}": 2 for i in range(63)})
    ones = torch.ones(63, dtype=torch.int64)
    assert int(largest.index(ones)) == 2**63 - 1
    assert torch.equal(largest.at(torch.tensor(2**63 - 1)), ones)
    too_large = FactorSpace.of(**{f"f{i}": 2 for i in range(64)})
    assert too_large.sample(3, rng()).shape == (3, 64)
    with pytest.raises(InputError, match="no 64-bit positions"):
        too_large.index(torch.ones(64, dtype=torch.int64))


@given(spaces, seeds)
def test_samples_lie_on_the_grid_and_repeat_with_the_seed(space: FactorSpace, seed: int) -> None:
    points = space.sample(40, rng(seed))
    assert torch.equal(space.check(points), points)
    assert torch.equal(points, space.sample(40, rng(seed)))


def test_samples_are_uniform_and_independent() -> None:
    space = FactorSpace.of(a=3, b=Cyclic(4), c=Categorical(5))
    counts = torch.bincount(space.index(space.sample(120_000, rng())), minlength=60).double()
    chi_squared = ((counts - 2000) ** 2 / 2000).sum()
    assert 30 < chi_squared < 98  # 59 degrees of freedom: outside with probability 0.001


@given(spaces, seeds, st.data())
def test_where_draws_allowed_values_only_and_all_of_them(space: FactorSpace, seed: int, data: st.DataObject) -> None:
    axis = data.draw(st.integers(0, len(space) - 1))
    allowed = data.draw(st.sets(st.integers(0, space.sizes[axis] - 1), min_size=1))
    points = space.sample(300, rng(seed), where={space.names[axis]: sorted(allowed)})
    assert set(points[:, axis].tolist()) == allowed


@pytest.mark.parametrize("strength", [-0.9, -0.3, 0.5, 0.95])
def test_a_correlation_links_two_factors_and_leaves_each_uniform(strength: float) -> None:
    space = FactorSpace.of(x=32, shape=Categorical(3), y=20)
    points = space.sample(200_000, rng(), correlation={("x", "y"): strength}).double()
    # a Gaussian copula's rank correlation is 6/π · asin(ρ/2)
    expected = 6 / math.pi * math.asin(strength / 2)
    assert torch.corrcoef(points.T)[0, 2] == pytest.approx(expected, abs=0.01)
    assert torch.corrcoef(points.T)[0, 1] == pytest.approx(0, abs=0.01)
    for axis, size in ((0, 32), (2, 20)):
        share = torch.bincount(points[:, axis].long(), minlength=size) / len(points)
        torch.testing.assert_close(share, torch.full((size,), 1 / size), atol=0.003, rtol=0)


def test_correlations_combine_with_where_and_with_each_other() -> None:
    space = FactorSpace.of(a=10, b=10, c=10)
    links = {("a", "b"): 0.7, ("b", "c"): -0.7}
    points = space.sample(50_000, rng(), correlation=links, where={"a": [0, 5, 9]})
    assert set(points[:, 0].tolist()) == {0, 5, 9}
    matrix = torch.corrcoef(points.double().T)
    assert matrix[0, 1] > 0.6
    assert matrix[1, 2] == pytest.approx(6 / math.pi * math.asin(-0.35), abs=0.02)
    assert matrix[0, 2] == pytest.approx(0, abs=0.02)


def test_lists_and_arrays_are_points_too() -> None:
    space = FactorSpace.of(x=10, shape=Categorical(3))
    assert space.index([[1, 2]]).tolist() == space.index(np.array([[1, 2]])).tolist() == [5]
    assert space.at([5]).tolist() == space.at(np.array([5])).tolist() == [[1, 2]]
    one, three = np.array([1, 3])  # numpy's whole numbers are whole numbers
    assert set(space.sample(50, rng(), where={"x": [three]})[:, 0].tolist()) == {3}
    assert space.pairs(three, one, rng()).changed.sum(1).tolist() == [1, 1, 1]


def test_impossible_links_are_refused() -> None:
    space = FactorSpace.of(a=10, b=10, c=10, hue=Cyclic(10), shape=Categorical(3))
    with pytest.raises(InputError, match=r"given twice, with 0\.5 and -0\.5"):
        space.sample(5, rng(), correlation={("a", "b"): 0.5, ("b", "a"): -0.5})
    with pytest.raises(InputError, match="inconsistent"):
        space.sample(5, rng(), correlation={("a", "b"): 0.9, ("b", "c"): 0.9, ("a", "c"): -0.9})
    for name in ("hue", "shape"):
        with pytest.raises(InputError, match="but must be an ordered factor"):
            space.sample(5, rng(), correlation={("a", name): 0.5})
    with pytest.raises(InputError, match="between -1 and 1"):
        space.sample(5, rng(), correlation={("a", "b"): 1.0})


def test_accept_keeps_what_it_accepts_uniformly() -> None:
    space = FactorSpace.of(a=6, b=6)
    points = space.sample(45_000, rng(), accept=lambda p: p[:, 0] > p[:, 1])
    assert (points[:, 0] > points[:, 1]).all()
    counts = torch.bincount(space.index(points), minlength=36)
    assert ((counts == 0) | ((counts - 3000).abs() < 250)).all()
    assert (counts > 0).sum() == 15  # above the diagonal
    with pytest.raises(InputError, match="kept 0 of"):
        space.sample(5, rng(), accept=lambda p: p[:, 0] > 6)


@given(spaces, seeds)
def test_a_traversal_goes_through_its_point_along_one_factor(space: FactorSpace, seed: int) -> None:
    points = space.sample(4, rng(seed))
    for axis, name in enumerate(space.names):
        lines = space.traverse(points, name)
        assert lines.shape == (4, space.sizes[axis], len(space))
        for point, line in zip(points, lines, strict=True):
            assert line[:, axis].tolist() == list(range(space.sizes[axis]))
            assert (line == point).sum(0)[torch.arange(len(space)) != axis].eq(space.sizes[axis]).all()
            assert torch.equal(line[point[axis]], point)


@given(spaces, seeds, st.floats(0, 1), st.data())
def test_a_neighbourhood_is_the_whole_of_it_and_no_more(
    space: FactorSpace, seed: int, rho: float, data: st.DataObject
) -> None:
    fixed = data.draw(st.sets(st.sampled_from(space.names)))
    center = space.sample(1, rng(seed))[0]
    points = space.near(center, rho, 600, rng(seed), fixed=fixed)
    assert points.shape == (600, len(space))
    for axis, (name, size, kind) in enumerate(zip(space.names, space.sizes, space.kinds, strict=True)):
        radius = 0 if name in fixed or kind == "categorical" else math.floor(rho * size + 1e-9)
        reach = range(int(center[axis]) - radius, int(center[axis]) + radius + 1)
        expected = {v % size for v in reach} if kind == "cyclic" else {v for v in reach if 0 <= v < size}
        assert set(points[:, axis].tolist()) == expected


def test_a_neighbourhood_is_uniform_even_where_it_is_cut_or_goes_round() -> None:
    space = FactorSpace.of(line=10, circle=Cyclic(5))
    points = space.near(torch.tensor([1, 4]), 0.6, 70_000, rng())  # the line from 0 to 7, the whole circle
    for axis, size in ((0, 8), (1, 5)):
        counts = torch.bincount(points[:, axis])
        assert len(counts) == size
        assert (counts / 70_000 - 1 / size).abs().max() < 0.01


def test_neighbourhoods_of_many_centres_come_at_once() -> None:
    space = FactorSpace.of(x=64, y=64)
    centers = torch.tensor([[5, 60], [30, 30], [0, 0]])
    points = space.near(centers, 0.1, 500, rng())
    assert points.shape == (3, 500, 2)
    assert ((points - centers[:, None]).abs() <= 6).all()


@given(spaces.filter(lambda s: max(s.sizes) > 1), seeds, st.data())
def test_pairs_differ_in_exactly_as_many_factors_as_asked(space: FactorSpace, seed: int, data: st.DataObject) -> None:
    most = sum(size > 1 for size in space.sizes)
    low = data.draw(st.integers(0, most))
    high = data.draw(st.integers(low, most))
    for changed in (low, (low, high)):
        pairs = space.pairs(60, changed, rng(seed))
        space.check(pairs.first)
        space.check(pairs.second)
        assert torch.equal(pairs.first != pairs.second, pairs.changed)
        counts = pairs.changed.sum(1)
        assert ((counts >= low) & (counts <= (high if isinstance(changed, tuple) else low))).all()


def test_pairs_choose_factors_values_and_numbers_uniformly() -> None:
    space = FactorSpace.of(a=4, b=Categorical(4), c=Cyclic(4))
    pairs = space.pairs(90_000, None, rng())
    numbers = torch.bincount(pairs.changed.sum(1), minlength=4) / 90_000
    torch.testing.assert_close(numbers, torch.tensor([0, 1 / 3, 1 / 3, 1 / 3]), atol=0.01, rtol=0)
    assert (pairs.changed.float().mean(0) - 2 / 3).abs().max() < 0.01
    steps = (pairs.second - pairs.first)[pairs.changed] % 4
    assert (torch.bincount(steps, minlength=4)[1:] / len(steps) - 1 / 3).abs().max() < 0.01


@given(spaces, seeds)
def test_held_batches_share_one_factor(space: FactorSpace, seed: int) -> None:
    held = space.fixed_batches(30, 8, rng(seed))
    assert held.factors.shape == (30, 8, len(space))
    space.check(held.factors)
    for batch, axis in zip(held.factors, held.axis, strict=True):
        assert (batch[:, axis] == batch[0, axis]).all()


def test_held_batches_leave_the_other_factors_free() -> None:
    space = FactorSpace.of(a=8, b=8)
    held = space.fixed_batches(500, 32, rng(), axis="b")
    assert (held.axis == 1).all()
    assert (held.factors[:, :, 0] != held.factors[:, :1, 0]).float().mean() == pytest.approx(31 / 32 * 7 / 8, abs=0.02)
    assert (torch.bincount(held.factors[:, 0, 1]) / 500 - 1 / 8).abs().max() < 0.06
    free = space.fixed_batches(4000, 2, rng())
    assert free.axis.float().mean() == pytest.approx(0.5, abs=0.03)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda s: s.index(torch.tensor([0, 7])), "factor 'shape' is out of range: got 7, expected 0 to 2"),
        (lambda s: s.index(torch.tensor([-1, 0])), "'x' is out of range: got -1"),
        (lambda s: s.index(torch.tensor([0.0, 1.0])), "must be integers"),
        (lambda s: s.index(torch.tensor([0, 1, 2])), "2 columns"),
        (lambda s: s.at(torch.tensor([30])), "positions must be between 0 and 29"),
        (lambda s: s.at(torch.tensor([1.7])), "positions must be integers"),
        (lambda s: s.index([[0, 1], [2]]), "rows of the same length"),
        (lambda s: s.sample(1, rng(), where={"x": [1.5]}), "where: x must be a whole number"),
        (lambda s: s.sample(1, rng(), where={"x": True}), "where: x must be a whole number"),
        (lambda s: s.sample(2.5, rng()), "number of points must be a whole number"),
        (lambda s: s.sample(1, None), "pass a torch.Generator, got None"),
        (lambda s: s.sample(1, 3), "pass a torch.Generator, got 3"),
        (lambda s: s.sample(1, rng(), accept=lambda p: p[:, 0]), "one boolean for each of the 1024 points"),
        (lambda s: s.sample(1, rng(), accept=lambda p: p > 0), "one boolean for each of the 1024 points"),
        (lambda s: s.sample(1, rng(), accept=lambda p: True), "one boolean for each of the 1024 points, got True"),
        (lambda s: s.sample(1, rng(), correlation={"xy": 0.5}), "keys must be pairs"),
        (lambda s: s.sample(1, rng(), correlation={("x", "x"): 0.5}), "x and x must be different"),
        (lambda s: s.near([0, 0], 0.5, 3, rng(), fixed="x"), "fixed must be a list of factors"),
        (lambda s: s.near([0, 0], "much", 3, rng()), "rho must be a fraction"),
        (lambda s: s.near([0, 0], 0.5, -1, rng()), "number of points must be a whole number"),
        (lambda s: s.pairs(1, (1, 2, 3), rng()), "a number or a range"),
        (lambda s: s.pairs(1, 1.0, rng()), "changed must be a whole number"),
        (
            lambda s: s.fixed_batches(2, 2, rng(), axis=torch.tensor([0, 9])),
            "the column of a factor for each of 2 batches",
        ),
        (lambda s: s.traverse([0, 0], 1.5), "must be a whole number"),
        (lambda s: FactorSpace.of(a=2**63), "at most 9223372036854775807"),
        (lambda s: s.traverse(torch.tensor([0, 0]), "shpe"), "did you mean 'shape'"),
        (lambda s: s.traverse(torch.tensor([0, 0]), 2), "no factor 2"),
        (lambda s: s.sample(-1, rng()), "number of points must be a whole number of at least 0, got -1"),
        (lambda s: s.sample(1, rng(), where={"x": []}), "values of x must be between 0 and 9"),
        (lambda s: s.sample(1, rng(), where={"x": 10}), "values of x must be between 0 and 9"),
        (lambda s: s.near(torch.tensor([0, 0]), 1.5, 3, rng()), "rho must be a fraction"),
        (lambda s: s.pairs(1, 3, rng()), "between 0 and 2, the number of factors"),
        (lambda s: FactorSpace.of(), "at least one factor"),
        (lambda s: FactorSpace.of(a=0), "at least 1"),
        (lambda s: FactorSpace(("a", "a"), (Ordered(2), Ordered(2))), "a different name"),
    ],
)
def test_impossible_requests_are_a_sentence(call: object, message: str) -> None:
    assert callable(call)
    with pytest.raises(InputError, match=message):
        call(FactorSpace.of(x=10, shape=Categorical(3)))


def test_original_pairs_are_those_of_disentanglement_lib(generator: torch.Generator) -> None:
    """The share of pairs with 0 … 3 differing factors, for 4 factors of 5 values.

    With k uniform on 1, 2, 3 and then 1 or k: 1 factor is redrawn in 1/2 + 1/6 of pairs, 2 and 3 in 1/6 each; every
    redrawn value differs with probability 4/5.
    """
    pairs = FactorSpace.of(a=5, b=5, c=5, d=5).pairs(200_000, "original", generator)
    shares = torch.bincount(pairs.changed.sum(1), minlength=5) / 200_000
    redrawn = {1: 4 / 6, 2: 1 / 6, 3: 1 / 6}
    expected = [
        sum(share * math.comb(k, m) * 0.8**m * 0.2 ** (k - m) for k, share in redrawn.items() if m <= k)
        for m in range(5)
    ]
    torch.testing.assert_close(shares, torch.tensor(expected), atol=0.004, rtol=0)
    assert torch.equal(pairs.changed, pairs.first != pairs.second)
    assert pairs.changed.float().mean(0).std() < 0.004  # no factor is preferred


def test_original_pairs_need_two_factors(generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="two factors or more"):
        FactorSpace.of(a=5).pairs(3, "original", generator)
