"""Latents that are vectors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from sklearn.decomposition import PCA
from sklearn.linear_model import LinearRegression
from sklearn.svm import LinearSVC

import unweave
from tests.metrics.samples import mixed, noise
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics import METRICS
from unweave.metrics.scoring.scores import result_to_plain
from unweave.metrics.scoring.vectors import columns_of, principal
from unweave.metrics.total_correlation import sampled

CODES, LABELS = mixed(400)
QUICK: dict[str, dict[str, Any]] = {
    "beta_vae_score": {"train": 300, "test": 200},
    "factor_vae_score": {"train": 300, "test": 200},
}
GROUPED = [name for name, metric in METRICS.items() if "groups" in metric.takes and metric.uses_factors]


def vectors(n: int = 400) -> tuple[Any, Any]:
    """One vector of three columns per factor, each the factor along another direction with noise, shuffled."""
    _, labels = mixed(n)
    directions = np.random.default_rng(2).normal(size=(3, 3))
    blocks = [labels[:, [k]] * directions[k] + 0.05 * noise(n, 3, seed=k) for k in range(3)]
    return np.hstack(blocks), labels


def test_every_metric_of_codes_and_factors_takes_groups_or_all_columns() -> None:
    whole = {"explicitness", "downstream", "follows"}  # of all latents together, or grouped by the scorer
    assert set(GROUPED) | whole == {name for name, metric in METRICS.items() if metric.needs in ("labels", "pool")}


@pytest.mark.parametrize("name", GROUPED)
def test_groups_of_one_give_the_same_bits(name: str) -> None:
    function, settings = METRICS[name].function, QUICK.get(name, {})
    expected = result_to_plain(function(CODES, LABELS, **settings))
    for groups in (1, [[0], [1], [2], [3]]):
        assert result_to_plain(function(CODES, LABELS, groups=groups, **settings)) == expected
    if name in ("mig", "modularity", "dcimig"):
        assert result_to_plain(function(CODES, LABELS, groups=1, joint="neighbours")) == expected
    if name == "infomec":
        levels = np.round(CODES)
        plain = result_to_plain(function(levels, LABELS, discrete=True))
        assert result_to_plain(function(levels, LABELS, discrete=True, groups=1)) == plain


def test_groups_of_one_give_the_same_bits_in_the_scorer() -> None:
    """Also of metrics that take codes alone, and of those that the scorer groups."""
    names = ["follows", "explicitness", *(name for name, metric in METRICS.items() if metric.needs == "codes")]
    expected = unweave.score_codes(CODES, LABELS, metrics=names).to_json()
    assert unweave.score_codes(CODES, LABELS, metrics=names, dims_per_latent=1).to_json() == expected


def test_importances_are_in_the_order_of_the_groups_and_of_their_columns_alone() -> None:
    split: dict[str, Any] = {"test": (CODES[300:], LABELS[300:])}
    every = metrics.dci(CODES[:300], LABELS[:300], **split).importance
    found = metrics.dci(CODES[:300], LABELS[:300], groups=[[2], [0], [3], [1]], **split)
    np.testing.assert_array_equal(found.importance, every[[2, 0, 3, 1]])
    some = metrics.dci(CODES[:300], LABELS[:300], groups=[[2], [0]], **split)
    alone = metrics.dci(CODES[:300, [0, 2]], LABELS[:300], test=(CODES[300:, [0, 2]], LABELS[300:]))
    np.testing.assert_array_equal(some.importance, alone.importance[::-1])


def test_posteriors_of_vectors() -> None:
    logvar = noise(400, 4, seed=3) / 10
    single, grouped = metrics.kl_per_latent(CODES, logvar), metrics.kl_per_latent(CODES, logvar, groups=2)
    np.testing.assert_allclose(grouped.per_latent, single.per_latent.reshape(2, 2).sum(1), rtol=1e-12)
    assert grouped.score == pytest.approx(single.score, rel=1e-12)
    apart = metrics.total_correlation_sampled(CODES, logvar)
    assert metrics.total_correlation_sampled(CODES, logvar, groups=1).score == apart.score
    drawn = sampled("total_correlation", CODES, logvar, 0)
    expected = metrics.total_correlation(principal("total_correlation", drawn, 2)).score
    assert metrics.total_correlation_sampled(CODES, logvar, groups=2).score == expected != apart.score


@pytest.mark.parametrize("name", GROUPED)
def test_a_vector_per_factor_scores_as_a_latent_per_factor(name: str) -> None:
    codes, labels = vectors()
    settings = QUICK.get(name, {})
    apart = METRICS[name].function(codes, labels, **settings).score
    together = METRICS[name].function(codes, labels, groups=3, **settings).score
    perfect = METRICS[name].function(labels.astype(float), labels, **settings).score
    noise = 0.16 if name == "minimality_sufficiency" else 0.12  # what a vector holds beside its factor counts there
    assert together > perfect - noise
    if name in ("mig", "sap", "dcimig"):
        assert apart < 0.3 * together or name == "dcimig"


def test_principal_components_are_scikit_learns() -> None:
    codes, _ = vectors()
    groups = [[0, 1, 2], [4], [3, 5, 8]]
    ours = principal("mig", codes, groups)
    np.testing.assert_array_equal(ours[:, 1], codes[:, 4])
    for latent in (0, 2):
        theirs = PCA(1).fit_transform(codes[:, groups[latent]])[:, 0]
        assert abs(np.corrcoef(ours[:, latent], theirs)[0, 1]) == pytest.approx(1, abs=1e-9)
        assert np.ptp(ours[:, latent]) == pytest.approx(np.ptp(theirs))
    expected = metrics.mig(principal("mig", codes, 3), LABELS).score
    assert metrics.mig(codes, LABELS, groups=3).score == expected
    assert unweave.score_codes(codes, LABELS, dims_per_latent=3, metrics="mig")["mig"].score == expected


def test_importances_are_summed_and_classifiers_take_all_columns() -> None:
    codes, labels = vectors()
    split: dict[str, Any] = {"test": (codes[300:], labels[300:])}
    single = metrics.dci(codes[:300], labels[:300], **split).importance
    grouped = metrics.dci(codes[:300], labels[:300], groups=3, **split)
    np.testing.assert_allclose(grouped.importance, single.reshape(3, 3, -1).sum(1), atol=1e-12)
    assert grouped.per_latent.shape == (3,)
    found = metrics.sap(codes[:300], labels[:300], groups=3, **split).predictability
    model = LinearSVC(C=0.01, class_weight="balanced", random_state=0).fit(codes[:300, 3:6], labels[:300, 1])
    assert found[1, 1] == pytest.approx(np.mean(model.predict(codes[300:, 3:6]) == labels[300:, 1]), abs=0.02)
    fitted = LinearRegression().fit(codes[:, 3:6], labels[:, 2])
    correlation = metrics.mcc(codes, labels, groups=3).correlation[1, 2]
    assert correlation == pytest.approx(np.sqrt(fitted.score(codes[:, 3:6], labels[:, 2])), abs=1e-9)


def test_a_vector_can_know_what_no_column_does() -> None:
    """Each column is random by itself; the class is whether their signs agree, of which a whole vector has log 2."""
    signs = np.random.default_rng(0).integers(0, 2, (1500, 2))
    classes = signs[:, 0] ^ signs[:, 1]
    codes = np.hstack([(2.0 * signs - 1 + 0.2 * noise(1500, 2)) * [3, 1], noise(1500, 2, seed=5)])
    assert metrics.mig(codes, classes, groups=2).score < 0.05  # one component does not tell
    assert metrics.mig(codes, classes, groups=2, joint="neighbours").score > 0.9
    assert metrics.infomec(codes, classes, groups=2).nmi[:, 0] == pytest.approx([1, 0], abs=0.05)
    discrete = metrics.infomec(np.sign(codes), classes, groups=2, discrete=True).nmi[:, 0]
    assert discrete == pytest.approx([1, 0], abs=0.01)


def test_an_encoder_of_vectors_is_scored_by_every_metric() -> None:
    data = unweave.load("xysquares", size=8, square=2, grid=3, squares=2, spacing=2)

    def encode(images: Any) -> Any:
        places = [images.amax(2).argmax(2), images.amax(3).argmax(2)]
        return places[0].float().repeat_interleave(2, 1) + 0.5 * places[1].float().repeat_interleave(2, 1)

    few: dict[str, Any] = {"samples": 200, "settings": {"local_mig": {"points": 50, "min_values": 2, "rho": 1.0}}}
    names = ["mig", "irs", "total_correlation", "active_units", "local_mig"]
    scores = unweave.score(encode, data, metrics=names, dims_per_latent=2, **few)
    single = unweave.score(lambda images: encode(images)[:, ::2] * 2**0.5, data, metrics=names, **few)
    assert scores["active_units"].score == 2  # the third channel is empty
    for name in names:
        assert scores[name].score == pytest.approx(single[name].score, abs=1e-6), name
    fresh = unweave.score(encode, data, metrics="irs", source="fresh", groups=[[0, 1], [2, 3], [4, 5]], samples=200)
    assert fresh["irs"].score == pytest.approx(single["irs"].score, abs=0.15)


@pytest.mark.parametrize(
    ("groups", "message"),
    [
        (3, "4 columns cannot be divided into latents of 3"),
        (0, "must be a whole number of at least 1"),
        ([[0, 1], [1]], "different columns from 0 to 3"),
        ([[0, 4]], "different columns from 0 to 3"),
        ([[0], []], "groups must be lists of columns"),
        (["01"], "groups must be lists of columns"),
        ([0, 1], "groups must be lists of columns"),
        ([[0.5, 1]], "groups must be lists of columns"),
        ([[None]], "groups must be lists of columns"),
    ],
)
def test_groups_that_do_not_fit_are_a_sentence(groups: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        unweave.score_codes(CODES, LABELS, metrics="mig", groups=groups)
    with pytest.raises(InputError, match="groups or dims_per_latent, not both"):
        unweave.score_codes(CODES, LABELS, groups=[[0]], dims_per_latent=2)
    assert columns_of("mig", None, 2) == [[0], [1]]
    grouped: list[Any] = [np.array([[0, 2], [1, 3]]), torch.tensor([[0, 2], [1, 3]]), (range(0, 4, 2), range(1, 4, 2))]
    for pairs in grouped:
        assert columns_of("mig", pairs, 4) == [[0, 2], [1, 3]]
