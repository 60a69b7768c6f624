"""The promises of every metric in one table; a metric that is missing from it fails."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
import torch

from tests.metrics.samples import SPACE, factors, linear, mixed, noise
from unweave.metrics import METRICS
from unweave.metrics.scoring.inputs import Floats

N = 1500
OTHER = {  # tested by themselves
    "udr",
    "distance_agreement",
    "feature_match",
    "reconstruction_error",
    "psnr",
    "kl_per_latent",
    "total_correlation_sampled",
    "elbo",
}


@dataclass(frozen=True)
class Promise:
    """Bounds, what leaves the score as it is and how nearly, and what perfect and random codes get."""

    low: float
    high: float
    invariant: str  # of o(rder), s(ign), h(ift), c(ale) of the latents
    tolerance: float
    perfect: tuple[float, float]  # at least, at most: one latent a factor
    random: tuple[float, float]  # codes that know nothing
    settings: tuple[tuple[str, Any], ...] = ()


PROMISES = {
    "follows": Promise(0, 1, "oshc", 1e-9, (0.95, 1), (0, 0.001)),
    "mig": Promise(0, 1, "oshc", 1e-9, (0.98, 1), (0, 0.05)),
    "mig_sup": Promise(0, 1, "oshc", 1e-9, (0.99, 1), (0, 0.05)),
    "modularity": Promise(0, 1, "oshc", 1e-9, (0.99, 1), (0, 1)),
    "explicitness": Promise(0.3, 1, "oshc", 1e-3, (0.8, 1), (0.4, 0.6)),
    "dci": Promise(0, 1, "oshc", 0.03, (0.99, 1), (0, 0.1)),
    "sap": Promise(0, 1, "os", 1e-3, (0.1, 1), (0, 0.05)),
    "infomec": Promise(0, 1, "osh", 0.02, (0.95, 1), (0, 1)),
    "jemmig": Promise(0, 1, "oshc", 1e-9, (0.6, 1), (0, 0.3)),
    "dcimig": Promise(0, 1, "oshc", 1e-9, (0.95, 1), (0, 0.05)),
    "minimality_sufficiency": Promise(0, 1, "oshc", 1e-9, (0.99, 1), (0, 0.05)),
    "edi": Promise(0, 1, "oshc", 0.01, (0.95, 1), (0, 1)),
    "mcc": Promise(0, 1, "oshc", 1e-9, (1, 1), (0, 0.1)),
    "total_correlation": Promise(0, np.inf, "osh", 1e-6, (0, 0.01), (0, 0.02)),
    "wasserstein_correlation": Promise(0, np.inf, "osh", 1e-6, (0, 0.05), (0, 0.05)),
    "mutual_information": Promise(0, np.log(20), "oshc", 1e-9, (0, 0.02), (0, 0.15)),
    "active_units": Promise(0, 4, "osh", 0, (3, 3), (4, 4)),
    "single_latents": Promise(0, 1, "oshc", 0.02, (0.7, 1), (0, 0.6)),
    "sparse_probing": Promise(0, 1, "osh", 1e-3, (0.8, 1), (0.4, 0.6)),
    "value_match": Promise(0, 1, "oshc", 1e-9, (0.5, 1), (0, 0.1)),
    "absorption": Promise(0, 1, "osc", 1e-9, (0, 0), (0, 0)),
    "selectivity": Promise(0, 1, "oshc", 1e-9, (1, 1), (0, 0.1), (("pairs", 2000),)),
    "sparsity": Promise(0, 20, "osc", 0, (2, 3), (4, 4)),
    "downstream": Promise(0, 1, "oc", 0.03, (0.95, 1), (0.1, 0.5), (("sizes", (100, 1000)),)),
    "beta_vae_score": Promise(0, 1, "osh", 0.01, (0.99, 1), (0.2, 0.8), (("train", 600), ("test", 400))),
    "factor_vae_score": Promise(0, 1, "osh", 1e-9, (1, 1), (0.2, 0.5), (("train", 600), ("test", 400))),
    "irs": Promise(0, 1, "osh", 1e-9, (0.99, 1), (0, 0.4)),
    "omes": Promise(0, 1, "osh", 1e-9, (0.5, 1), (0, 0.7), (("pairs", 500),)),
    "local_mig": Promise(
        0, 1, "oshc", 1e-9, (0.9, 1), (0, 0.1), (("rho", 1.0), ("points", 1000), ("min_values", 2), ("bins", 20))
    ),
    "local_modularity": Promise(
        0, 1, "oshc", 1e-9, (0.9, 1), (0, 1), (("rho", 1.0), ("points", 1000), ("min_values", 2), ("bins", 20))
    ),
    "dci_es": Promise(-1, 1, "hc", 0.02, (0.5, 1), (0.8, 1), (("depths", (1, 2, 4)), ("trees", 10))),
    "flatness": Promise(0, 1, "osh", 1e-9, (0.9, 1), (0, 0.6), (("traversals", 60),)),
    "linearity": Promise(0, 1, "osh", 1e-9, (0.9, 1), (0, 0.9), (("traversals", 60),)),
    "fairness": Promise(0, 1, "o", 0.05, (0, 0.01), (0, 0.4), (("train", 500), ("points", 60))),
}


def test_the_table_has_every_metric() -> None:
    assert set(PROMISES) | OTHER == set(METRICS)
    assert {n for n, m in METRICS.items() if m.needs not in ("labels", "codes", "pool", "intervention")} == OTHER


def run(name: str, codes: Floats, labels: Any, transform: Any = lambda codes: codes) -> float:
    """The metric of transformed codes; by intervention, of a linear representation or of noise that the point seeds."""
    metric, settings = METRICS[name], dict(PROMISES[name].settings)
    if metric.needs == "labels":
        return float(metric.function(transform(codes), labels, **settings).score)
    if metric.needs == "codes":
        return float(metric.function(transform(codes), **settings).score)
    return float(metric.function(lambda points: transform(codes_at(codes, points)), SPACE, **settings).score)


def codes_at(table: Floats, points: Any) -> Floats:
    """The representation that gives each cell of the grid its own row of the table."""
    rows: Floats = table[SPACE.index(points).numpy() % len(table)]
    return rows


def example(name: str) -> tuple[Floats, Any]:
    if METRICS[name].needs in ("pool", "intervention"):
        weights = np.random.default_rng(7).normal(scale=0.25, size=(3, 4))
        weights[np.arange(3), np.arange(3)] += 1
        return linear(weights)(SPACE.at(torch.arange(SPACE.size))), None
    return mixed(N)


@pytest.mark.parametrize("name", PROMISES)
def test_scores_stay_in_range_and_repeat(name: str) -> None:
    codes, labels = example(name)
    score = run(name, codes, labels)
    assert PROMISES[name].low <= score <= PROMISES[name].high
    assert run(name, codes, labels) == score


TRANSFORMS = {
    "o": lambda codes: codes[:, [2, 0, 3, 1]],
    "s": lambda codes: codes * np.array([1, -1, 1, -1]),
    "h": lambda codes: codes + np.array([5.0, -3.0, 0.5, 100.0]),
    "c": lambda codes: codes * np.array([0.01, 3.0, 40.0, 1.0]),
}


@pytest.mark.parametrize(
    ("name", "change"), [(name, change) for name, promise in PROMISES.items() for change in promise.invariant]
)
def test_order_sign_shift_and_scale_do_not_matter(name: str, change: str) -> None:
    codes, labels = example(name)
    before, after = run(name, codes, labels), run(name, codes, labels, TRANSFORMS[change])
    assert after == pytest.approx(before, abs=PROMISES[name].tolerance)


@pytest.mark.parametrize("name", PROMISES)
def test_perfect_and_random_codes(name: str) -> None:
    promise = PROMISES[name]
    if METRICS[name].needs in ("pool", "intervention"):
        grid = linear(np.eye(3))(SPACE.at(torch.arange(SPACE.size)))
        perfect, random = run(name, grid, None), run(name, noise(SPACE.size, 4), None)
    else:
        labels = factors(N)
        perfect, random = run(name, labels.astype(np.float64), labels), run(name, noise(N, 4), labels)
    assert promise.perfect[0] - 1e-9 <= perfect <= promise.perfect[1] + 1e-9
    assert promise.random[0] <= random <= promise.random[1]


REAL = {  # of continuous factors: perfect codes at least, codes that know nothing at most
    "follows": (0.8, 0.05),
    "mig": (0.8, 0.05),
    "mig_sup": (0.8, 0.05),
    "modularity": (0.95, 1),
    "explicitness": (0.99, 0.05),
    "dci": (0.95, 0.1),
    "sap": (0.95, 0.05),
    "infomec": (0.95, 1),
    "jemmig": (0.8, 0.3),
    "dcimig": (0.8, 0.05),
    "minimality_sufficiency": (0.8, 0.05),
    "edi": (0.95, 1),
    "mcc": (1, 0.1),
    "dci_es": (0, 1),
    "omes": (0.5, 0.9),
    "downstream": (0.95, 0.05),
    "beta_vae_score": (0.99, 0.6),
    "factor_vae_score": (0.99, 0.6),
    "irs": (0.9, 0.4),
    "single_latents": (0.25, 0.12),  # a threshold does not recognise a bin in the middle
    "sparse_probing": (0.6, 0.6),
    "value_match": (0.2, 0.1),
    "absorption": (0, 0),
    "selectivity": (0.9, 0.2),
}


@pytest.mark.parametrize("name", [name for name, metric in METRICS.items() if metric.needs in ("labels", "pool")])
def test_perfect_and_random_codes_of_continuous_factors(name: str) -> None:
    """Also with gaps, and with each latent as a vector of two equal columns."""
    real, settings = np.random.default_rng(0).uniform(size=(N, 3)), dict(PROMISES[name].settings)
    function, (least, most) = METRICS[name].function, REAL[name]
    perfect = function(3 * real - 1, real, **settings).score
    assert least - 1e-9 <= perfect <= 1 + 1e-9
    assert 0 <= function(noise(N, 4), real, **settings).score <= most
    gaps = np.where(np.random.default_rng(1).uniform(size=real.shape) < 0.05, np.nan, real)
    with_gaps = function(3 * real - 1, gaps, **settings)
    assert with_gaps.score == pytest.approx(perfect, abs=0.03)
    if "groups" in METRICS[name].takes:
        assert with_gaps.missing.tolist() == np.isnan(gaps).sum(0).tolist()
        twice = function((3 * real - 1).repeat(2, axis=1), real, groups=2, **settings).score
        assert twice == pytest.approx(perfect, abs=0.02)


SHAPES: dict[str, Callable[[Floats], Floats]] = {
    "one latent": lambda codes: codes[:, :1],
    "fewer latents than factors": lambda codes: codes[:, :2],
    "more latents than factors": lambda codes: np.hstack([codes, noise(len(codes), 5)]),
    "duplicates": lambda codes: np.hstack([codes, codes]),
    "dead latents": lambda codes: np.hstack([codes, np.zeros((len(codes), 2)), np.full((len(codes), 1), 0.1)]),
    "all dead": lambda codes: np.zeros_like(codes),
    "one value but for one sample": lambda codes: np.eye(len(codes), 3),
    "tiny": lambda codes: codes * 1e-8,
    "huge": lambda codes: codes * 1e8,
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("name", PROMISES)
def test_odd_codes_get_a_defined_score(name: str, shape: str) -> None:
    codes, labels = example(name)
    score = run(name, SHAPES[shape](codes[:600]), None if labels is None else labels[:600])
    assert not np.isnan(score)
    high = 20 if name == "active_units" else PROMISES[name].high
    assert min(PROMISES[name].low, 0.0) <= score <= high


def test_duplicates_are_punished_where_a_metric_asks_for_one_latent_only() -> None:
    labels = factors(N)
    for name in ("mig", "sap"):
        assert run(name, np.hstack([labels, labels]).astype(float), labels) == pytest.approx(0, abs=1e-9)
