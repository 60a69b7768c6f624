"""The share of a factor that a latent knows above chance, on codes whose answer is known."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.metrics import mutual_info_score

from unweave.data import load
from unweave.errors import InputError
from unweave.metrics import follows
from unweave.metrics.follows import Link

RNG = np.random.default_rng(3)


def test_the_share_is_the_information_minus_that_of_permuted_codes() -> None:
    factors = RNG.integers(0, (4, 3), (800, 2))
    codes = np.stack([factors[:, 0] + RNG.normal(scale=0.4, size=800), RNG.normal(size=800)], axis=1)
    found = follows(codes, factors, names=["shape", "hue"])
    edges = np.histogram_bin_edges(codes[:, 0], 20)
    binned = np.digitize(codes[:, 0], edges[1:-1])
    entropy = mutual_info_score(factors[:, 0], factors[:, 0])
    chance = np.mean([mutual_info_score(RNG.permutation(binned), factors[:, 0]) for _ in range(300)]) / entropy
    assert found.chance[0, 0] == pytest.approx(chance, abs=0.006)
    assert found.share[0, 0] == pytest.approx(mutual_info_score(binned, factors[:, 0]) / entropy - chance, abs=0.006)
    assert [str(link).partition(" 0.")[0] for link in found.links] == ["z0 → shape"]
    assert str(Link(0, "row", 0.41, 0.44)) == "z0 → row 0.41 above chance (0.44)"
    assert str(Link(1, "row", 0.04, 0.2)) == "z1 → row 0.04 above chance (0.20, weak)"
    assert found.unfollowed == ("hue",)


@pytest.mark.parametrize("name", ["three_dots", "cars3d", "dsprites"])
def test_codes_that_know_nothing_follow_nothing(name: str) -> None:
    from unweave.data.sets import SETS

    space = SETS[name].card.space
    assert space is not None
    shares, chances = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        factors = np.stack([rng.integers(0, size, 4000) for size in space.sizes], axis=1)
        found = follows(rng.normal(size=(4000, 10)), factors)
        shares.append(found.share.max())
        chances.append(found.chance.max())
    assert max(shares) == 0.0
    assert min(chances) > 0.02  # which is what a label without a floor was made of


def test_constant_factors_and_weak_links() -> None:
    factors = np.stack([RNG.integers(0, 4, 5000), np.zeros(5000, int)], axis=1)
    codes = np.where(RNG.random(5000) < 0.25, factors[:, 0], RNG.integers(0, 4, 5000)).astype(float)[:, None]
    found = follows(codes, factors, names=["stage", "batch"], discrete=True)
    (link,) = found.links
    assert link.weak
    assert str(link).endswith(", weak)")
    assert found.constant == ("batch",)
    assert found.unfollowed == ("stage",)


def test_rows_without_a_value_are_left_out_of_that_factor_only() -> None:
    factors = RNG.integers(0, 4, (3000, 2)).astype(float)
    codes = factors.copy()
    codes[:1500, 0] = RNG.normal(size=1500)  # wrong where the factor is missing
    factors[:1500, 0] = np.nan
    found = follows(codes, factors, discrete=False, kinds=["ordered"] * 2)
    assert found.share[0, 0] > 0.98
    assert found.share[1, 1] > 0.98


def test_fractions_are_cut_at_quantiles() -> None:
    age = RNG.lognormal(size=4000)
    found = follows(np.log(age)[:, None], age)
    assert found.share[0, 0] > 0.65
    with pytest.raises(InputError, match="1 factors need as many names, got 2"):
        follows(age[:, None], age, names=["a", "b"])


def test_an_untrained_net_hardly_follows_anything() -> None:
    import torch

    data = load("xysquares", size=32)
    images, factors = data.sample(2000, torch.Generator().manual_seed(0))
    assert factors is not None
    weights = torch.randn(images[0].numel(), 4, generator=torch.Generator().manual_seed(1))
    found = follows((images.flatten(1).float() @ weights).numpy(), factors, names=data.space.names)
    assert all(link.share < 0.5 for link in found.links)
