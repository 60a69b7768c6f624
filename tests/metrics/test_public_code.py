"""Scores that the authors' code of newer metrics gave, in ``fixtures/golden/authors.json``.

The values were computed outside of this project by the functions of julka01/InnVariant (EDI),
antonioalmudevar/dependent_disentanglement (minimality and sufficiency), andreinicolicioiu/DCI-ES (explicitness) and
JacopoDapueto/transfer_disentanglement (OMES) as they are published, with three changes: EDI's estimator for classes is
called for classes (the public code loses that flag on the way, and estimates classes as numbers), its entropies are
exact (there, a network's), and DCI-ES' maximal area gets the name that its function expects. Null stands for a division
by zero there. OMES draws pairs at random, so its values are means over ten seeds, except for ``shapes3d_vae``; in the
rotated samples, latents are left out by their standard deviation over all rows: the public code draws rows for it, and
five latents have 0.0496 to 0.0506, at its threshold of 0.05.
"""

from __future__ import annotations

import json
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from tests.metrics.test_golden import ALL, HERE, KEPT, Case
from unweave import FactorSpace, metrics
from unweave.errors import InputError
from unweave.metrics.scoring.inputs import Floats, Integers

AUTHORS = json.loads((KEPT / "authors.json").read_text())
CODES = Path(__file__).parents[3] / "shared" / "genuine" / "codes" / "shapes3d_vae.npz"


def sample(name: str) -> tuple[Floats, Integers]:
    if name != "shapes3d_vae":
        return Case(name).codes, Case(name).factors
    if not CODES.exists():
        pytest.skip("the shared folder with codes of a trained model is not beside the project")
    with np.load(CODES) as file:
        return file["mean"], file["factors"]


@pytest.mark.parametrize("name", [*ALL, "shapes3d_vae"])
def test_minimality_and_sufficiency(name: str) -> None:
    found = metrics.minimality_sufficiency(*sample(name))
    minimality, sufficiency = AUTHORS[name]["min_suf"]
    assert found.sufficiency == pytest.approx(sufficiency, abs=1e-9)
    if minimality is not None:  # theirs divides by the entropy of constant latents
        assert found.minimality == pytest.approx(minimality, abs=1e-9)
    else:
        assert np.isnan(found.per_latent).any()
        assert 0 < found.minimality <= 1


@pytest.mark.parametrize("captured", ["max", "sum"])
@pytest.mark.parametrize("name", ALL)
def test_edi(name: str, captured: Any) -> None:
    found = metrics.edi(*sample(name), captured=captured)
    constant = np.ptp(Case(name).codes, axis=0).min() == 0  # whose information theirs estimates from random noise
    expected = AUTHORS[name]["edi"][captured]
    assert [found.modularity, found.compactness, found.explicitness] == pytest.approx(
        expected, abs=0.03 if constant else 5e-4
    )


def test_constant_codes_have_no_edi() -> None:
    """The authors' code compares noise, and calls it modular."""
    factors = Case(ALL[0]).factors
    found = metrics.edi(np.ones((len(factors), 3)), factors)
    assert [found.modularity, found.compactness, found.explicitness] == [0, 0, 0]
    one = metrics.edi(np.stack([factors[:, 0], np.ones(len(factors))], axis=1), factors)
    assert one.share[1].tolist() == [0] * one.share.shape[1]
    assert one.explicitness_per_factor[0] == pytest.approx(1, abs=0.05)


@pytest.mark.parametrize("name", HERE)
def test_explicitness_of_dci_es(name: str) -> None:
    """The authors' formula of the losses of scikit-learn's forests, here of 20 trees and depths 1, 2, 4 and 8."""
    case = Case(name)
    found = metrics.dci_es(case.codes, case.factors, test=case.test, depths=(1, 2, 4, 8), trees=20)
    np.testing.assert_allclose(found.per_factor, AUTHORS[name]["dci_es_small"], atol=1e-9)
    assert found.explicitness == pytest.approx(np.mean(AUTHORS[name]["dci_es_small"]))
    assert found.size == case.factors.shape[1] / case.codes.shape[1]


@pytest.mark.slow
def test_explicitness_of_dci_es_at_the_published_depths() -> None:
    case = Case("mixed-noisy")
    found = metrics.dci_es(case.codes, case.factors, test=case.test)
    np.testing.assert_allclose(found.per_factor, AUTHORS["mixed-noisy"]["dci_es"], atol=1e-9)


def test_explicitness_of_known_curves() -> None:
    """A staircase over sixteen cells: a tree of depth d tells 2^d of them apart."""
    rng = np.random.default_rng(0)
    codes = rng.uniform(size=(2000, 1))
    found = metrics.dci_es(codes, (codes * 16).astype(int), depths=(1, 2, 3, 4), trees=1)
    loss = found.loss[0]
    assert loss[0] > loss[1] > loss[2] > loss[3]
    area = sum((loss[i] + loss[i + 1]) / 2 - loss[3] for i in range(3))
    assert found.explicitness == pytest.approx(1 - 2 * area / (3 * 15 / 16))
    with pytest.raises(InputError, match="in increasing order, got \\[4, 2\\]"):
        metrics.dci_es(codes, (codes * 16).astype(int), depths=(4, 2))


@pytest.mark.parametrize("name", [*ALL, "shapes3d_vae"])
def test_omes(name: str) -> None:
    codes, factors = sample(name)
    expected = AUTHORS[name]["omes"]
    for pooling in ("average", "max"):
        found = metrics.omes(codes, factors, pooling=pooling)
        for score, value in zip((found.multiple_encoding, found.score, found.overlap), expected[pooling], strict=True):
            if value is not None:  # theirs divides by 0 if no latent changes with a factor
                assert score == pytest.approx(value, abs=0.015)


def test_omes_of_new_points_and_of_a_pool_agree() -> None:
    space = FactorSpace.of(x=5, y=6, z=8)
    weights = np.random.default_rng(0).normal(scale=0.3, size=(3, 4)) + np.eye(3, 4)

    def represent(points: Any) -> Floats:
        return np.asarray(points, np.float64) @ weights

    points = space.sample(4000, torch.Generator().manual_seed(0))
    pool, fresh = metrics.omes(represent(points), points.numpy()), metrics.omes(represent, space)
    assert pool.score == pytest.approx(fresh.score, abs=0.02)
    np.testing.assert_allclose(pool.change, fresh.change, atol=0.05)
    assert (fresh.pairs == -1).all()


def test_omes_of_perfect_codes_is_what_different_values_allow() -> None:
    """Two different values out of n correlate by -1 / (n - 1)."""
    points = np.stack(np.meshgrid(np.arange(2), np.arange(3), np.arange(9), indexing="ij"), -1).reshape(-1, 3)
    found = metrics.omes(points.astype(float), points, pairs=100_000)
    changes = np.array([0, 1 / 2, 7 / 8])
    np.testing.assert_allclose(found.change, np.diag(changes), atol=0.01)
    overlap = 1 - (1 - changes) / 3  # only the own entry differs from the ideal, by 1 - change
    np.testing.assert_allclose(found.per_factor, overlap * changes, atol=0.01)


def test_omes_pairs_are_all_pairs_that_differ_in_one_factor() -> None:
    rng = np.random.default_rng(0)
    factors = rng.integers(0, 4, (60, 2))
    counted = [
        sum(
            bool(a[axis] != b[axis] and a[1 - axis] == b[1 - axis])
            for i, a in enumerate(factors)
            for b in factors[i + 1 :]
        )
        for axis in (0, 1)
    ]
    assert metrics.omes(rng.normal(size=(60, 3)), factors).pairs.tolist() == counted


def test_codes_beyond_single_precision() -> None:
    codes, factors = sample("mixed-noisy")
    codes = codes.astype(np.float64)
    expected = metrics.omes(codes[:500], factors[:500], threshold=0).score
    assert metrics.omes(codes[:500] * 1e90, factors[:500], threshold=0).score == pytest.approx(expected, abs=1e-9)
    for function in (metrics.dci_es, partial(metrics.dci, importance="gbt-exact")):
        with pytest.raises(InputError, match="too large for scikit-learn's trees; rescale them first"):
            function(codes[:500] * 1e45, factors[:500])
    gone = np.where(np.arange(factors.shape[1]) == 1, np.nan, factors)[:500]
    few: dict[str, Any] = {"depths": [1, 2], "trees": 3}
    rest = metrics.dci_es(codes[:500], np.delete(factors[:500], 1, axis=1), **few)
    kinds = ["ordered"] * gone.shape[1]
    assert metrics.dci_es(codes[:500], gone, kinds=kinds, **few).explicitness == rest.explicitness


def test_omes_without_pairs_is_refused() -> None:
    rng = np.random.default_rng(0)
    factors = np.stack([np.arange(40), rng.permutation(40)], 1)
    with pytest.raises(InputError, match="no two samples differ in one factor alone"):
        metrics.omes(rng.normal(size=(40, 2)), factors)
    scores = unweave.score_codes(rng.normal(size=(40, 2)), factors, metrics="all")
    assert scores.left_out["omes"].startswith('not part of "all" because it needs samples that differ in one factor')
