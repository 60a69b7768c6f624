"""Bad input: each a sentence, or a right answer."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch

from tests.metrics.samples import factors, mixed, noise
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics import METRICS
from unweave.metrics.scoring.inputs import fit_and_test, labelled, standardised

CODES, LABELS = mixed(300)
ON_LABELS = [name for name, metric in METRICS.items() if metric.needs == "labels"]


@pytest.mark.parametrize("name", ON_LABELS)
@pytest.mark.parametrize(
    ("codes", "labels", "message"),
    [
        (CODES[:200], LABELS, "200 codes but 300 rows of factors"),
        (np.where(np.arange(300)[:, None] == 7, np.nan, CODES), LABELS, "1 of 300 codes are NaN or infinite"),
        (np.where(np.arange(300)[:, None] < 2, np.inf, CODES), LABELS, "2 of 300 codes are NaN or infinite"),
        (CODES[:1], LABELS[:1], "at least [23] samples"),
        (CODES[:, :0], LABELS, r"codes must be \(N, D\)"),
        (CODES[None], LABELS, r"codes must be \(N, D\)"),
        (CODES, LABELS[:, :0], r"factors must be \(N, K\)"),
        (CODES, np.zeros_like(LABELS), "needs at least .* factors? that var"),
        (CODES, np.where(LABELS == 0, np.inf, 1.0), "factors have infinite entries"),
        (CODES, np.where(LABELS == 0, np.nan, 1.0), "needs at least .* factors? that var"),
        (CODES.astype(str), LABELS, "codes must be numbers"),
        (CODES * 1e200, LABELS, "too large to be squared"),
        (CODES, np.ma.masked_equal(LABELS, 0), "factors is a masked array"),
        ([[1, 2], [3]], LABELS, "one matrix with rows of one length, got a list of 2"),
    ],
)
def test_what_cannot_be_scored_is_a_sentence(name: str, codes: Any, labels: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        METRICS[name].function(codes, labels)


@pytest.mark.parametrize(
    "convert",
    [
        torch.as_tensor,
        lambda array: torch.as_tensor(array).requires_grad_() if array.dtype.kind == "f" else torch.as_tensor(array),
        lambda array: array.tolist(),
        np.asfortranarray,
    ],
)
def test_any_container_gives_the_same_score(convert: Any) -> None:
    assert metrics.mig(convert(CODES), convert(LABELS)).score == metrics.mig(CODES, LABELS).score


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16, torch.float32])
def test_short_floats_are_scored_in_double_precision(dtype: torch.dtype) -> None:
    rounded = torch.as_tensor(CODES).to(dtype)
    expected = metrics.mig(rounded.double().numpy(), LABELS).score
    assert metrics.mig(rounded, LABELS).score == expected


@pytest.mark.parametrize("name", [name for name in ON_LABELS if name not in ("downstream", "mcc")])
def test_words_and_gaps_are_classes_like_any_other(name: str) -> None:
    words = np.array(["north", "east", "south", "west", "up"])[LABELS]
    gaps = np.array([-7, 0, 12, 13, 900])[LABELS]
    floats = LABELS.astype(np.float32)
    order = np.argsort(np.argsort(["north", "east", "south", "west", "up"]))  # words are counted in their own order
    expected = METRICS[name].function(CODES, order[LABELS]).score
    assert METRICS[name].function(CODES, words).score == expected
    in_order = METRICS[name].function(CODES, LABELS).score
    assert METRICS[name].function(CODES, gaps).score == in_order
    assert METRICS[name].function(CODES, floats, kinds=["ordered"] * LABELS.shape[1]).score == in_order


@pytest.mark.parametrize("offset", [2**60, -(2**60)])
def test_integer_codes_that_floats_cannot_hold_are_refused(offset: int) -> None:
    with pytest.raises(InputError, match=r"codes are integers beyond 2\^53, .*subtract an offset"):
        metrics.mig(LABELS + offset, LABELS)
    assert metrics.mig(LABELS + 2**40, LABELS).score == metrics.mig(LABELS, LABELS).score


def test_words_have_no_correlation() -> None:
    with pytest.raises(InputError, match="got words, which have no order"):
        metrics.mcc(CODES, np.array(["a", "b", "c", "d", "e"])[LABELS])


@pytest.mark.parametrize("name", [name for name in ON_LABELS if name != "downstream"])
def test_one_factor_and_a_constant_one_are_told_apart(name: str) -> None:
    function = METRICS[name].function
    with_constant = np.hstack([LABELS, np.zeros((300, 1), np.int64)])
    assert function(CODES, with_constant).score == pytest.approx(function(CODES, LABELS).score, abs=1e-12)
    if name in ("modularity", "mig_sup"):
        with pytest.raises(InputError, match="needs at least 2 factors that vary, but 1 of 1 do"):
            function(CODES, LABELS[:, 0])
    else:
        assert 0 <= function(CODES, LABELS[:, 0]).score <= 1


@pytest.mark.parametrize("name", ["explicitness", "dci", "sap", "downstream"])
def test_a_class_missing_from_either_sample_is_no_trouble(name: str) -> None:
    train = LABELS[:200, 0] != 3
    test = LABELS[200:, 0] != 1
    settings = {"test": (CODES[200:][test], LABELS[200:][test])}
    if name == "downstream":
        settings["sizes"] = (100,)  # type: ignore[assignment]
    score = METRICS[name].function(CODES[:200][train], LABELS[:200][train], **settings).score
    assert 0 <= score <= 1


@pytest.mark.parametrize("name", ["explicitness", "dci", "sap", "downstream", "infomec"])
def test_classes_too_rare_to_be_fitted_are_a_sentence(name: str) -> None:
    rare = np.zeros(30_000, int)
    rare[17] = 1
    codes = np.random.default_rng(0).normal(size=(30_000, 2))
    for seed in range(4):
        try:
            METRICS[name].function(codes, rare, seed=seed)
        except InputError as error:
            assert "too rare" in str(error)  # noqa: PT017
            break
    else:
        raise AssertionError("one of four draws of a third misses a single sample, but for one in eighty")


def test_objects_are_numbers_or_words() -> None:
    assert metrics.mig(CODES, LABELS.astype(object)).score == metrics.mig(CODES, LABELS).score
    assert metrics.mcc(CODES, LABELS.astype(object)).score == metrics.mcc(CODES, LABELS).score
    continuous = LABELS + CODES[:, :3]
    assert metrics.mig(CODES, continuous.astype(object)).score == metrics.mig(CODES, continuous).score


@pytest.mark.parametrize("scale", [1e-30, 1e-12, 1e12, 1e60])
@pytest.mark.parametrize("name", ["mcc", "explicitness", "dci", "infomec", "mig"])
def test_the_unit_of_the_codes_does_not_matter(name: str, scale: float) -> None:
    expected = METRICS[name].function(CODES, LABELS).score
    assert METRICS[name].function(CODES * scale, LABELS).score == pytest.approx(expected, abs=0.01)


def test_test_samples_must_fit() -> None:
    with pytest.raises(InputError, match="the test codes have 2 latents, but the training codes have 4"):
        metrics.dci(CODES, LABELS, test=(CODES[:, :2], LABELS))
    with pytest.raises(InputError, match=r"different numbers of factors, \[2, 3\]"):
        metrics.dci(CODES, LABELS, test=(CODES, LABELS[:, :2]))


def test_a_sample_is_split_by_the_seed_and_cut_to_the_published_size() -> None:
    many = factors(30_000)
    train, test = fit_and_test("dci", many.astype(float), many, None, 0)
    assert (len(train.codes), len(test.codes)) == (10_000, 5_000)
    again, _ = fit_and_test("dci", many.astype(float), many, None, 0)
    other, _ = fit_and_test("dci", many.astype(float), many, None, 1)
    assert np.array_equal(train.codes, again.codes)
    assert not np.array_equal(train.codes, other.codes)
    small, rest = fit_and_test("dci", CODES, LABELS, None, 0)
    assert (len(small.codes), len(rest.codes)) == (200, 100)
    assert sorted(map(tuple, np.vstack([small.codes, rest.codes]))) == sorted(map(tuple, CODES))


def test_constant_latents_standardise_to_zero() -> None:
    (scaled,) = standardised(np.column_stack([CODES[:, 0], np.full(300, 0.1)]))
    assert scaled[:, 0].mean() == pytest.approx(0)
    assert scaled[:, 0].std() == pytest.approx(1)
    assert (scaled[:, 1] == 0).all()


def test_classes_are_counted_without_gaps() -> None:
    sample = labelled("mig", np.zeros((4, 1)), np.array([[5, 1], [9, 1], [5, 1], [7, 1]]))
    assert sample.factors.tolist() == [[0, 0], [2, 0], [0, 0], [1, 0]]
    assert sample.varying.tolist() == [0]


def test_fractions_beside_words_are_refused_and_huge_integers_are_classes() -> None:
    codes = noise(40, 3)
    mixed_kinds = np.empty((40, 2), object)
    mixed_kinds[:, 0], mixed_kinds[:, 1] = ["a", "b"] * 20, np.random.default_rng(0).random(40)
    with pytest.raises(InputError, match="one factor has fractions and another has words"):
        labelled("mig", codes, mixed_kinds)
    huge = np.array([[2**70 + k % 3] for k in range(40)], dtype=object)
    assert labelled("mig", codes, huge).factors.max() == 2
    with pytest.raises(InputError, match=r"factors reach 1.0e\+160"):
        labelled("mig", codes, np.full((40, 1), 1e160))


def test_tiny_scales_are_standardised_like_others() -> None:
    codes = noise(40, 3)
    np.testing.assert_allclose(standardised(codes * 1e-300)[0], standardised(codes)[0], rtol=1e-6)
