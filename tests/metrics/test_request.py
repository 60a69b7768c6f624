from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import numpy as np
import pytest
import torch

import unweave
from tests.metrics.samples import mixed
from unweave.errors import InputError
from unweave.metrics import METRICS, check_metrics, mig
from unweave.metrics.scoring.request import ScoringInputs, check_settings, chosen, find_metrics

CODES, LABELS = mixed(60)


def gap(codes: Any, factors: Any, *, least: float = 0.0) -> float:
    """How far apart are the codes of the first factor's values?"""
    return max(least, float(np.ptp(codes[factors[:, 0] == 0].mean(0))))


def without_factors(codes: Any) -> float:
    """Take codes alone."""
    return 0.0


def test_all_is_what_can_be_computed_and_the_rest_has_a_reason() -> None:
    for there in (
        ScoringInputs({"codes"}),
        ScoringInputs.of_table({"codes"}, LABELS),
        ScoringInputs.of_table({"codes"}, LABELS[:, :1]),
        ScoringInputs.of_table({"codes"}, LABELS + 0.5),
        ScoringInputs.of_table({"codes"}, LABELS * 0),
        ScoringInputs.of_table({"codes"}, LABELS.astype(str)),
    ):
        wanted, left_out = chosen("all", there)
        assert {metric.name for metric in wanted} | set(left_out) == set(METRICS)
        assert not {metric.name for metric in wanted} & set(left_out)


@pytest.mark.parametrize(
    ("factors", "name", "reason"),
    [
        (LABELS, "downstream", "because it takes minutes; request it by name"),
        (LABELS, "psnr", "needs images and their reconstructions: use unweave.score"),
        (LABELS, "elbo", "needs images, their reconstructions, mean and log-variance of Gaussian posteriors"),
        (LABELS, "udr", "call unweave.metrics.udr"),
        (LABELS, "fairness", "needs an encoder, and data with an image of every combination of factors"),
        (LABELS * [1, 0, 0], "modularity", "needs at least two factors that vary, got 1"),
        (LABELS * 0, "mig", "needs at least one factor that varies, got 0"),
        (LABELS * 0, "mcc", "needs at least one factor that varies, got 0"),
        (LABELS.astype(str), "mcc", "the factors are words, which have no order"),
        (None, "mig", "needs factors, but no factors were given"),
    ],
)
def test_the_reason_is_said_in_words(factors: Any, name: str, reason: str) -> None:
    assert reason in unweave.score_codes(CODES, factors).left_out[name]
    if name != "downstream":
        with pytest.raises(InputError, match=f"^{name}: "):
            unweave.score_codes(CODES, factors, metrics=[name])


def test_continuous_factors_are_taken_from_any_data() -> None:
    images = torch.randint(256, (50, 3, 8, 8), dtype=torch.uint8, generator=torch.Generator().manual_seed(0))
    data = unweave.load(images, factors=torch.rand(50, 2, generator=torch.Generator().manual_seed(1)))
    wanted, left_out = check_metrics(["mcc", "sap"], data)
    assert [metric.name for metric in wanted] == ["mcc", "sap"]
    assert not left_out
    with pytest.raises(InputError, match="fairness: needs data with an image of every combination"):
        check_metrics("fairness", data)
    with pytest.raises(InputError, match="mig: needs factors, but the data has no factors, only images"):
        check_metrics("mig", unweave.load(images))
    assert [m.name for m in check_metrics("psnr", data, offers={"reconstruction"})[0]] == ["psnr"]
    for name, offers, lacks in (
        ("psnr", {"posterior"}, "reconstruct"),
        ("elbo", {"posterior"}, "reconstruct"),
        ("elbo", {"reconstruction"}, "posterior"),
        ("kl_per_latent", {"reconstruction"}, "posterior"),
    ):
        with pytest.raises(InputError, match=rf"^{name}: needs .*{lacks}.*, but the encoder has no method {lacks}\.$"):
            check_metrics(name, data, offers=offers)


def test_metrics_of_ones_own_by_function_and_by_module() -> None:
    path = f"{__name__}:gap"
    for own in (gap, path):
        scores = unweave.score_codes(CODES, LABELS, metrics=["mig", own], settings={path: {"least": 9.0}})
        assert list(scores.table) == ["mig", path]
        assert scores.table[path] == 9.0
    assert unweave.score_codes(CODES, LABELS, metrics=gap).table == {path: gap(CODES, LABELS)}
    tensors = torch.as_tensor(CODES), torch.as_tensor(LABELS)
    assert unweave.score_codes(*tensors, metrics=gap).table == {path: gap(CODES, LABELS)}  # arrays are passed on
    data = unweave.load("xysquares", size=16)
    found = unweave.score(lambda images: images.mean((2, 3)), data, metrics=["mcc", path], samples=100)
    assert list(found) == ["mcc", path]


def test_a_function_within_another_goes_by_its_name() -> None:
    def inner(codes: Any, factors: Any, *, seed: int = 5) -> Any:
        return mig(codes, factors, bins=2 + seed)

    scores = unweave.score_codes(CODES, LABELS, metrics=[inner, mig, "mig"], seed=3)
    assert list(scores) == ["inner", "mig"]
    assert scores["inner"].score == mig(CODES, LABELS, bins=5).score
    assert scores["inner"].mutual_information.shape == (4, 3)


@pytest.mark.parametrize(
    ("metrics", "message"),
    [
        ("mgi", "unknown metric 'mgi': did you mean 'mig'"),
        ([], "name at least one metric"),
        ([5], "a metric is a name or a function"),
        ("nowhere:gap", "the module 'nowhere' cannot be imported"),
        (f"{__name__}:gab", "has no 'gab'"),
        (without_factors, "must be a function of codes and factors"),
        (dict, "must be a function of codes and factors"),
    ],
)
def test_what_is_no_metric_is_refused(metrics: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        find_metrics(metrics)


def test_a_name_that_is_taken_is_refused() -> None:
    def sap(codes: Any, factors: Any) -> float:
        return 0.0

    with pytest.raises(InputError, match="cannot be called 'sap'"):
        find_metrics(sap)
    with pytest.raises(InputError, match=r"must return a number, or an object with a number as \.score, got 'high'"):
        unweave.score_codes(CODES, LABELS, metrics=lambda codes, factors: "high")


def test_settings_are_checked_by_the_metrics_they_are_for() -> None:
    assert check_settings(None, "all") == {}
    path = f"{__name__}:gap"
    with pytest.raises(InputError, match=r"unknown setting of .*gap 'most': expected one of least"):
        check_settings({path: {"most": 1}}, [path])
    with pytest.raises(InputError, match="unknown metric"):
        check_settings({path: {}}, "all")


@pytest.mark.parametrize(
    ("metric", "setting", "value", "message"),
    [
        ("mig", "bins", "a", "bins must be a valid integer, got 'a'"),
        ("mig", "bins", "5", "bins must be a valid integer, got '5'"),
        ("mig", "bins", True, "bins must not be a boolean"),
        ("mig", "bins", -4, "bins must be .* 2, got -4"),
        ("modularity", "bins", 1001, "bins must be .* 1000, got 1001"),
        ("mig", "bin", 3, "unknown setting of mig 'bin': did you mean 'bins'"),
        ("dci", "importance", "tree", "importance must be 'gbt', 'gbt-exact', 'forest' or 'svm', got 'tree'"),
        ("dci", "importance", 1, "importance must be 'gbt', .* got 1"),
        ("infomec", "variant", 3, "variant must be 'tripod', 'qlae' or 'qlae-training', got 3"),
        ("dci", "seed", -1, "seed must be .* 0, got -1"),
        ("sap", "standardise", 1, "standardise must be a valid boolean, got 1"),
        ("total_correlation", "ridge", -1.0, "ridge must be .* 0, got -1"),
        ("factor_vae_score", "threshold", "abc", "threshold must be a valid number, got 'abc'"),
        ("factor_vae_score", "batch", 1, "batch must be .* 2, got 1"),
        ("irs", "quantile", float("nan"), "quantile must be a finite number"),
        ("irs", "quantile", 0, "quantile must be greater than 0, got 0"),
        ("beta_vae_score", "train", -5, "train must be .* 1, got -5"),
        ("fairness", "points", 0, "points must be .* 1, got 0"),
        ("local_mig", "rho", "far", "rho must be a valid number"),
        ("local_mig", "rho", [0.1, 2], "rho.1 must be .* 1, got 2"),
        ("downstream", "sizes", [10, "b"], "sizes.1 must be a valid integer, got 'b'"),
        ("explicitness", "test", [1, 2], "test must be"),
    ],
)
def test_values_that_a_metric_does_not_accept_are_refused_before_it_is_computed(
    metric: str, setting: str, value: object, message: str
) -> None:
    with pytest.raises(InputError, match=message) as refused:
        check_settings({metric: {setting: value}}, metric)
    assert refused.value.setting.startswith(f"{metric}.{setting}")


@pytest.mark.parametrize("name", METRICS)
def test_defaults_and_all_choices_are_accepted(name: str) -> None:
    metric = METRICS[name]
    hints, defaults = get_type_hints(metric.signed), metric.signed.__kwdefaults__ or {}
    for setting in metric.takes:
        kinds = [hints[setting], *get_args(hints[setting])]
        choices = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
        for value in (defaults[setting], *choices):
            given = {name: {setting: list(value) if isinstance(value, tuple) else value}}
            assert check_settings(given, name) == given
    assert set(defaults) == metric.takes


def test_numbers_of_numpy_are_numbers() -> None:
    given: dict[str, dict[str, Any]] = {"mig": {"bins": np.int64(5)}, "irs": {"quantile": np.float64(0.5)}}
    assert check_settings(given, ["mig", "irs"]) is given
