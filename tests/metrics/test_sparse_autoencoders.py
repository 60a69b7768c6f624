"""Scores that are asked of sparse autoencoders, compared with loops, scikit-learn and stored values of sae-lens."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse
from scipy.stats import binom
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score, f1_score, roc_auc_score

import unweave
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.metrics.scoring.request import ScoringInputs, chosen

SAE_LENS = json.loads((Path(__file__).parents[1] / "fixtures" / "sae_lens.json").read_text())


def sample(n: int, seed: int = 0) -> tuple[Floats, Integers]:
    """Codes of which some fire on one value, some on low codes, some at random, with ties, negative ones and zeros."""
    rng = np.random.default_rng(seed)
    factors = rng.integers(0, (2, 4), (n, 2))
    codes = np.where(rng.uniform(size=(n, 8)) < 0.2, rng.normal(size=(n, 8)).round(1), 0)
    codes[:, 0] = (factors[:, 1] == 2) * rng.exponential(size=n).round(1)
    codes[:, 1] = -1.0 * (factors[:, 0] == 1) * (rng.uniform(size=n) < 0.8) + (factors[:, 1] == 0) * 0.5
    codes[:, 2] = rng.normal(size=n) + factors[:, 1]
    return codes, factors


def best_by_loop(codes: Floats, labels: Any) -> tuple[float, float]:
    """The best F1 of any latent, direction and threshold, and the ROC area farthest from 1/2."""
    f1, areas = [], []
    for column in codes.T:
        for sign in (1, -1):
            for threshold in np.unique(sign * column):
                predicted = sign * column >= threshold
                if not predicted.all():
                    f1.append(2 * (predicted & labels).sum() / (predicted.sum() + labels.sum()))
        areas.append(abs(roc_auc_score(labels, column) - 0.5))
    return max(f1), 0.5 + max(areas)


@pytest.mark.parametrize("form", [np.asarray, sparse.csr_array])
def test_single_latents_are_the_best_of_a_loop(form: Any) -> None:
    """Fitted and tested on one sample, the scores of each value are the best that there are."""
    codes, factors = sample(150)
    found = metrics.single_latents(form(codes), factors, test=(form(codes), factors))
    assert found.values.tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [1, 2], [1, 3]]
    for place, (factor, value) in enumerate(found.values):
        f1, area = best_by_loop(codes, factors[:, factor] == value)
        assert found.f1_per_value[place] == pytest.approx(f1, abs=1e-12)
        assert found.auc_per_value[place] == pytest.approx(area, abs=1e-12)
    assert found.f1_latent[4] == found.auc_latent[4] == 0
    assert found.f1_sign[1] == -1
    assert found.f1 == pytest.approx(found.f1_per_value.mean())


def test_single_latents_are_tested_on_other_samples() -> None:
    codes, factors = sample(300)
    new, truth = sample(200, seed=1)
    found = metrics.single_latents(codes, factors, test=(new, truth))
    for place, (factor, value) in enumerate(found.values):
        predicted = found.f1_sign[place] * new[:, found.f1_latent[place]] >= found.f1_threshold[place]
        assert found.f1_per_value[place] == pytest.approx(f1_score(truth[:, factor] == value, predicted))


def test_wide_dense_codes_are_read_in_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, factors = sample(200)
    whole = metrics.single_latents(codes, factors)
    monkeypatch.setitem(metrics.single_latents.__globals__, "TABLE", 400)
    for form in (np.asarray, sparse.csr_array):
        parts = metrics.single_latents(form(codes), factors)
        assert parts.f1_per_value.tolist() == whole.f1_per_value.tolist()
        assert parts.auc_latent.tolist() == whole.auc_latent.tolist()


@pytest.mark.parametrize("k", [1, 3, 20])
def test_sparse_probing_is_scikit_learns_regression_on_the_most_different_latents(k: int) -> None:
    codes, factors = sample(300)
    new, truth = sample(200, seed=1)
    found = metrics.sparse_probing(sparse.csr_array(codes), factors, k=k, test=(sparse.csr_array(new), truth))
    for place, (factor, value) in enumerate(found.values):
        inside = factors[:, factor] == value
        apart = np.abs(codes[inside].mean(0) - codes[~inside].mean(0))
        best = np.argsort(-apart)[:k]
        assert found.latents[place].tolist() == best.tolist()
        model = LogisticRegression(class_weight="balanced", max_iter=1000).fit(codes[:, best], inside)
        expected = balanced_accuracy_score(truth[:, factor] == value, model.predict(new[:, best]))
        assert found.per_value[place] == pytest.approx(expected, abs=0.01)


def absorbed_sample(share: float, n: int = 4_500) -> tuple[Floats, Integers]:
    """Latent 0 is for shape 1, but silent on a share of those at the left, where latent 1 is active instead.

    Latents 2 and 3 are each for half of the samples of shape 2: the value is split, not absorbed.
    """
    rng = np.random.default_rng(0)
    factors = rng.integers(0, (3, 8), (n, 2))
    taken = (factors[:, 0] == 1) & (factors[:, 1] == 0) & (rng.uniform(size=n) < share)
    codes = np.zeros((n, 6))
    codes[:, 0] = (factors[:, 0] == 1) & ~taken
    codes[:, 1] = taken | ((factors[:, 0] == 1) & (factors[:, 1] == 3))  # beside latent 0, it absorbs nothing
    half = factors[:, 1] % 2 == 0
    codes[:, 2], codes[:, 3] = (factors[:, 0] == 2) & half, (factors[:, 0] == 2) & ~half
    codes[:, 4] = factors[:, 0] == 0
    codes[:, 5] = rng.uniform(size=n) < 0.01
    return codes, factors[:, :1]


def test_absorption_is_the_share_that_a_specific_latent_takes_over() -> None:
    codes, factors = absorbed_sample(0.2)
    found = metrics.absorption(sparse.csr_array(codes), factors, test=(sparse.csr_array(codes), factors))
    taken = (codes[factors[:, 0] == 1, 0] == 0).mean()  # of the samples with shape 1
    assert found.per_value == pytest.approx([0, taken, 0], abs=1e-12)
    assert 0.01 < taken < 0.03
    assert found.main == ((4,), (0,), (2, 3))
    assert found.absorbing[1] == (1,)
    assert found.score == pytest.approx(taken / 3)
    assert found.missed == pytest.approx([0, taken, 0])


def test_absorption_by_chance_is_rare() -> None:
    """A latent is called specific to a value that it knows nothing about with a probability below 0.01 per value."""
    rng = np.random.default_rng(0)
    draws, found, scores = 300, 0, []
    for seed in range(draws):
        codes = (rng.uniform(size=(300, 40)) < 0.03).astype(float)  # active in nine samples or so
        codes[:, 0] = rng.uniform(size=300) < 0.8  # a main latent of both values, silent in a fifth of the samples
        result = metrics.absorption(codes, rng.integers(0, 2, 300), seed=seed)
        found += sum(len(latents) > 0 for latents in result.absorbing)
        scores.append(result.score)
    assert found <= binom.ppf(0.999, 2 * draws, 0.01)
    assert np.mean(scores) < 0.01 * 0.2
    shuffled = unweave.score_codes(codes, rng.integers(0, 2, 300), metrics="absorption", null=50).worth["absorption"]
    assert shuffled.chance is not None
    assert shuffled.chance < 0.01 * 0.2


def test_a_value_without_a_main_latent_has_no_absorption() -> None:
    codes, factors = absorbed_sample(0.2)
    found = metrics.absorption(codes[:, [1, 5]], factors)
    assert np.isnan(found.per_value).all()
    assert found.score == 0


def grid_codes(points: Any) -> Any:
    """Latent 0 follows x, latent 1 follows x and y equally, latent 2 is constant."""
    x, y = points[..., 0].double().numpy(), points[..., 1].double().numpy()
    return np.stack([x, x + y, np.ones_like(x)], axis=-1)


def test_selectivity_of_known_latents() -> None:
    space = unweave.FactorSpace.of(x=6, y=6)
    found = metrics.selectivity(grid_codes, space)
    assert found.per_latent[0] == 1
    assert found.per_latent[1] == pytest.approx(0, abs=0.02)
    assert np.isnan(found.per_latent[2])
    # A uniform pair of different values of 0 to 5 differs by 7/3 on average. One value has a variance of 35/12.
    expected = 7 / 3 / np.sqrt(35 / 12)
    assert found.change[0].tolist() == pytest.approx([expected, 0], abs=0.03)
    assert found.change[1].tolist() == pytest.approx([expected / np.sqrt(2)] * 2, abs=0.03)


def test_selectivity_from_codes_is_that_of_new_points() -> None:
    space = unweave.FactorSpace.of(x=6, y=6, z=2)
    points = space.at(torch.arange(space.size))
    pool = metrics.selectivity(sparse.csr_array(grid_codes(points)), points)
    assert pool.score == pytest.approx(metrics.selectivity(grid_codes, space).score, abs=0.01)
    assert pool.pairs.tolist() == [6 * 2 * 15, 6 * 2 * 15, 36]
    with pytest.raises(InputError, match="fewer than two factors have samples that differ in them alone"):
        metrics.selectivity(np.eye(3), [[0, 0], [1, 1], [2, 2]])


@pytest.mark.parametrize("case", SAE_LENS["features"], ids=lambda case: case["name"])
def test_feature_match_is_that_of_sae_lens(case: dict[str, Any]) -> None:
    found = metrics.feature_match(case["features"], case["truth"])
    assert found.mcc == pytest.approx(case["mean_correlation_coefficient"], abs=1e-6)
    assert found.uniqueness == pytest.approx(case["feature_uniqueness"], abs=1e-12)


@pytest.mark.parametrize("case", SAE_LENS["codes"], ids=lambda case: case["name"])
def test_scores_of_codes_are_those_of_sae_lens(case: dict[str, Any]) -> None:
    codes, factors = sparse.csr_array(np.array(case["codes"])), np.array(case["factors"])
    match, counts = metrics.value_match(codes, factors), metrics.sparsity(codes)
    assert match.mcc == pytest.approx(case["mean_correlation_coefficient"], abs=1e-6)
    assert match.uniqueness == pytest.approx(case["feature_uniqueness"], abs=1e-12)
    assert counts.active == pytest.approx(case["l0"], abs=1e-6)
    assert counts.dead == case["dead_latents"]


def test_directions_of_different_spaces_are_refused() -> None:
    with pytest.raises(InputError, match="feature_match: both need directions in one space, got 3 and 4 dimensions"):
        metrics.feature_match(np.eye(3), np.eye(4))


def test_scores_for_sparse_codes_are_part_of_all_for_them_alone() -> None:
    made = {"single_latents", "sparse_probing", "value_match", "absorption", "sparsity"}
    (thin, _), (dense, why) = (
        chosen("all", ScoringInputs({"labels", "codes"}, varying=2, sparse=sparse)) for sparse in (True, False)
    )
    assert made <= {metric.name for metric in thin}
    assert not made & {metric.name for metric in dense}
    assert why["absorption"] == 'not part of "all" because it is made for sparse codes; request it by name'


def test_results_are_read_back() -> None:
    codes, factors = sample(200)
    found = unweave.score_codes(sparse.csr_array(codes), factors, metrics=["absorption", "single_latents", "sparsity"])
    again = unweave.Scores.from_json(found.to_json())
    assert again["absorption"].main == found["absorption"].main
    assert again.table == found.table
