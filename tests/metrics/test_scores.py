from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

import numpy as np
import pytest
import torch

import unweave
from tests.metrics.samples import SPACE, linear, mixed, noise
from unweave.errors import InputError
from unweave.metrics import METRICS, Scores, result_from_plain, result_to_plain
from unweave.metrics.scoring.scores import Value

CODES, LABELS = mixed(90)
IMAGES = np.random.default_rng(0).integers(0, 256, (6, 1, 8, 8), np.uint8)
QUICK: dict[str, dict[str, Any]] = {
    "beta_vae_score": {"train": 50, "test": 20, "batch": 4},
    "factor_vae_score": {"train": 50, "test": 20, "batch": 4, "variance_points": 50},
    "irs": {"points": 100},
    "local_mig": {"points": 60, "neighbourhoods": 2, "rho": [0.5, 1.0], "min_values": 2},
    "local_modularity": {"points": 60, "neighbourhoods": 2, "rho": 1.0, "min_values": 2},
    "fairness": {"train": 60, "points": 5},
    "downstream": {"sizes": (10, 30)},
    "distance_agreement": {"pairs": 20},
}


def result_of(name: str) -> Any:
    """A result of each metric, with a constant factor and a constant latent where it takes them."""
    metric, settings = METRICS[name], QUICK.get(name, {})
    labels, codes = np.hstack([LABELS, np.zeros_like(LABELS[:, :1])]), np.hstack([CODES, np.zeros((90, 1))])
    posterior = noise(6, 3), noise(6, 3, seed=2)
    arguments: tuple[Any, ...] = {
        "labels": (codes, labels),
        "codes": (codes,),
        "pool": (codes, labels),
        "intervention": (linear(np.eye(3, 4)), SPACE),
        "reconstruction": (IMAGES, IMAGES),
        "posterior": posterior,
        "model": (IMAGES, IMAGES, *posterior),
        "other": ([CODES, codes],),
    }[metric.needs]
    if name == "feature_match":
        arguments = CODES.T, codes.T[: len(CODES.T)]
    if name == "distance_agreement":
        arguments = unweave.load("xysquares", size=16), lambda images: images.mean((2, 3))
    return metric.function(*arguments, **settings)


@pytest.mark.parametrize("name", METRICS)
def test_every_result_can_be_kept_as_json(name: str) -> None:
    result = result_of(name)
    text = json.dumps(result_to_plain(result), allow_nan=False)
    again = result_from_plain(name, json.loads(text))
    assert type(again) is type(result)
    for part in dataclasses.fields(result):
        kept, was = getattr(again, part.name), getattr(result, part.name)
        assert type(kept) is type(was), part.name
        if isinstance(was, np.ndarray):
            assert kept.dtype == was.dtype, part.name
            assert kept.shape == was.shape, part.name
        np.testing.assert_array_equal(kept, was)
    np.testing.assert_equal(again.score, result.score)


def test_infinities_and_nan_are_kept_apart() -> None:
    assert result_to_plain(Value(math.inf)) == {"score": "Infinity"}
    assert result_to_plain(Value(-math.inf)) == {"score": "-Infinity"}
    assert result_to_plain(Value(math.nan)) == {"score": "NaN"}
    assert result_of("psnr").score == math.inf
    plain = result_to_plain(result_of("mig"))
    assert plain["per_factor"][3] == "NaN"
    assert math.isnan(result_from_plain(METRICS["mig"], plain).per_factor[3])


def test_empty_arrays_keep_their_type() -> None:
    result = result_from_plain("mcc", {"score": 0.5, "correlation": [], "matched": []})
    assert (result.correlation.dtype, result.matched.dtype) == (np.float64, np.int64)


def test_scores_are_read_back_from_json() -> None:
    scores = unweave.score_codes(CODES, LABELS)
    again = Scores.from_json(scores.to_json())
    assert list(again) == list(scores)
    assert again.table == scores.table
    assert again.left_out == scores.left_out != {}
    np.testing.assert_array_equal(again["dci"].importance, scores["dci"].importance)
    for wrong in ("{}", "[1]", '{"results": {"mig": {}}, "left_out": {}}', "not json"):
        with pytest.raises(InputError, match=r"not scores|not a result of mig"):
            Scores.from_json(wrong)


def test_the_table_is_json_with_strings_for_what_is_not_finite() -> None:
    settings = {"total_correlation": {"ridge": 0.0}}
    names = ["total_correlation", "mig"]
    scores = unweave.score_codes(np.hstack([CODES, CODES]), LABELS, metrics=names, settings=settings)
    assert scores["total_correlation"].score == math.inf
    assert json.loads(scores.table_to_json()) == {"total_correlation": "Infinity", "mig": scores["mig"].score}


def test_results_of_ones_own_keep_their_score() -> None:
    @dataclasses.dataclass(frozen=True)
    class Gap:
        score: float
        table: Any

    plain = result_to_plain(Gap(0.5, torch.ones(2).numpy()))
    assert plain == {"score": 0.5, "table": [1.0, 1.0]}
    assert result_from_plain("my_metrics:gap", plain) == Value(0.5)
    scores = Scores({"my_metrics:gap": Gap(0.5, np.eye(2))})
    assert scores.table == {"my_metrics:gap": 0.5}
    assert Scores.from_json(scores.to_json()).table == scores.table
