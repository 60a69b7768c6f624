"""Sparse codes: every metric that takes them gives what it gives for the dense array; the others refuse."""

from __future__ import annotations

from dataclasses import fields
from typing import Any

import numpy as np
import pytest
import torch
from scipy import sparse

import unweave
from unweave.errors import InputError
from unweave.metrics import METRICS
from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.metrics.scoring.scores import result_to_plain

SETTINGS: dict[str, list[dict[str, Any]]] = {
    "follows": [{}, {"discrete": True}],
    "mig_sup": [{}, {"normaliser": "code"}],
    "mcc": [{}, {"method": "spearman"}],
    "sap": [{}, {"standardise": True}, {"method": "correlation"}],
    "explicitness": [{}, {"classifier": "one-vs-rest"}],
    "irs": [{}, {"quantile": 0.5, "bins": 4}],
    "beta_vae_score": [{"train": 200, "test": 100}],
}
NAMES = [name for name, metric in METRICS.items() if metric.sparse]
OF_CODES = [name for name, metric in METRICS.items() if metric.needs in ("labels", "codes", "pool")]


def sample(n: int = 600, latents: int = 20) -> tuple[Floats, Integers]:
    """Latents that are active in a tenth of the samples, some of them odd: dense, constant, dead, of few values."""
    rng = np.random.default_rng(0)
    factors = rng.integers(0, (2, 5, 6), (n, 3))
    codes = np.where(rng.uniform(size=(n, latents)) < 0.1, rng.normal(size=(n, latents)), 0)
    codes[:, 0], codes[:, 1] = np.where(factors[:, 1] == 1, 1.5, 0), 0
    codes[:, 2], codes[:, 3], codes[:, 4] = rng.normal(size=n), np.abs(codes[:, 3]), 1.0
    codes[:, 5] = np.round(codes[:, 5], 1)
    codes[:, 6] = (factors[:, 2] == 2) * rng.exponential(size=n)
    return codes, factors


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("kind", ["classes", "missing", "continuous"])
@pytest.mark.filterwarnings("ignore:.*drawn with replacement")
def test_sparse_codes_give_what_dense_codes_give(name: str, kind: str) -> None:
    codes, classes = sample()
    factors: Any = classes
    if kind == "missing":
        factors = classes.astype(object)
        factors[:40, 1] = None
    if kind == "continuous":
        factors = classes.astype(object)
        factors[:, 1] += np.random.default_rng(1).uniform(size=len(factors))
    for settings in SETTINGS.get(name, [{}]):
        arguments = () if METRICS[name].needs == "codes" else (factors,)
        dense = METRICS[name].function(codes, *arguments, **settings)
        thin = METRICS[name].function(sparse.csc_array(codes), *arguments, **settings)
        for part in fields(dense):
            here, there = getattr(thin, part.name), getattr(dense, part.name)
            if isinstance(there, float | int | np.ndarray):
                np.testing.assert_allclose(np.asarray(here, float), np.asarray(there, float), rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", sorted(set(OF_CODES) - set(NAMES)))
def test_other_metrics_refuse_sparse_codes_with_a_reason(name: str) -> None:
    codes, factors = sample(50)
    with pytest.raises(
        InputError, match=f"{name}: takes no sparse codes: it|{name}: takes no sparse codes: in a batch"
    ):
        unweave.score_codes(sparse.csr_array(codes), factors, metrics=[name])


def test_tensors_count_and_latents_that_are_never_active_are_counted() -> None:
    codes, factors = sample()
    scores = unweave.score_codes(torch.tensor(codes).to_sparse(), factors, metrics=["mig", "active_units"])
    assert scores.notes == {"latents that are never active": "1 of 20"}
    assert scores.table["mig"] == pytest.approx(unweave.metrics.mig(codes, factors).score, abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.filterwarnings("ignore:.*drawn with replacement")
def test_codes_without_an_active_entry_score_as_zeros(name: str) -> None:
    factors = sample(60)[1]
    settings = SETTINGS[name][0] if name == "beta_vae_score" else {}
    arguments = () if METRICS[name].needs == "codes" else (factors,)
    dense = METRICS[name].function(np.zeros((60, 5)), *arguments, **settings).score
    assert METRICS[name].function(sparse.csr_array((60, 5)), *arguments, **settings).score == dense


def test_bad_sparse_codes_are_refused() -> None:
    codes, factors = sample(50)
    codes[3, 2] = np.nan
    with pytest.raises(InputError, match="1 of 50 codes are NaN"):
        unweave.score_codes(sparse.csr_array(codes), factors)
    with pytest.raises(InputError, match="groups of columns need dense codes"):
        unweave.score_codes(sparse.csr_array(sample(50)[0]), factors, dims_per_latent=2)
    with pytest.raises(InputError, match="factors must be dense, got a sparse matrix"):
        unweave.score_codes(sample(50)[0], sparse.csr_array(factors))
    with pytest.raises(InputError, match="encode must return dense codes, got sparse ones"):
        unweave.score(lambda images: sparse.csr_array(images.flatten(1).numpy()), unweave.load("xysquares", size=8))


@pytest.mark.parametrize("name", [name for name in NAMES if "groups" in METRICS[name].takes])
@pytest.mark.filterwarnings("ignore:.*drawn with replacement")
def test_groups_of_one_are_the_latents_of_sparse_codes(name: str) -> None:
    codes, factors = sample(120, latents=8)
    thin, settings = sparse.csr_array(codes), SETTINGS[name][0] if name == "beta_vae_score" else {}
    expected = result_to_plain(METRICS[name].function(thin, factors, **settings))
    for groups in (1, [[latent] for latent in range(8)]):
        assert result_to_plain(METRICS[name].function(thin, factors, groups=groups, **settings)) == expected
    with pytest.raises(InputError, match="groups of columns need dense codes"):
        METRICS[name].function(thin, factors, groups=[[1], [0]], **settings)
    scores = unweave.score_codes(thin, factors, metrics=[name], settings={name: settings})
    assert (
        unweave.score_codes(thin, factors, metrics=[name], dims_per_latent=1, settings={name: settings}).table
        == scores.table
    )


@pytest.mark.parametrize("seed", range(8))
def test_jemmig_takes_the_first_of_latents_that_know_equally_much(seed: int) -> None:
    """Rounding differs for sparse codes, and would choose another latent, which holds more besides the factor."""
    rng = np.random.default_rng(seed)
    factor = rng.integers(0, 5, 300)
    codes = (factor[:, None] == [0, 0, 0]) * np.column_stack([1 + rng.uniform(size=(300, 2)), np.ones(300)])
    dense, thin = unweave.metrics.jemmig(codes, factor), unweave.metrics.jemmig(sparse.csr_array(codes), factor)
    np.testing.assert_allclose(thin.joint_entropy, dense.joint_entropy, atol=1e-9)
    first = unweave.metrics.jemmig(codes[:, :1], factor)
    np.testing.assert_allclose(dense.joint_entropy, first.joint_entropy, atol=1e-9)
