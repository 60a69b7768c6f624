from __future__ import annotations

import numpy as np
import pytest

from tests.metrics.samples import factors, mixed, noise
from unweave.errors import InputError
from unweave.metrics import infomec

LABELS = factors(600)


def test_variants_differ_in_what_is_active() -> None:
    rare = np.where(np.arange(600) % 20 == 0, LABELS[:, 1], 0)  # mostly 0: no interquartile range, but a range
    faint = LABELS[:, 2] * 0.06
    codes = np.column_stack([LABELS[:, 0], rare, faint]).astype(float)
    assert infomec(codes, LABELS).active.tolist() == [True, False, False]
    assert infomec(codes, LABELS, variant="qlae").active.tolist() == [True, True, True]
    assert infomec(codes, LABELS, variant="qlae-training").active.tolist() == [True, True, False]
    assert infomec(codes, LABELS, discrete=True, variant="qlae").active.tolist() == [True, True, True]


def test_discrete_codes_are_classes() -> None:
    perfect = infomec(LABELS / 10, LABELS, discrete=True)
    np.testing.assert_allclose(np.diag(perfect.nmi), 1)
    assert perfect.explicitness > 0.99
    shuffled = np.array([2, 0, 4, 1, 3])[LABELS]  # order does not matter to classes
    np.testing.assert_allclose(infomec(shuffled, LABELS, discrete=True).nmi, perfect.nmi)


def test_where_the_published_forms_divide_by_zero() -> None:
    none = infomec(np.zeros((600, 3)), LABELS)
    assert (none.modularity, none.compactness, none.explicitness) == (0, 0, 0)
    one = infomec(np.column_stack([LABELS[:, 0], np.zeros(600)]), LABELS)
    assert one.active.tolist() == [True, False]
    known = np.mean(one.nmi[0] > 0)
    assert one.compactness == known
    knows_nothing = infomec(np.column_stack([np.arange(600) % 2] * 2), np.repeat([0, 1], 300), discrete=True)
    assert knows_nothing.compactness == 0.0


def test_even_and_single_shares() -> None:
    twice = infomec(np.hstack([LABELS, LABELS]).astype(float), LABELS, discrete=True, variant="qlae")
    assert twice.modularity > 0.97
    assert twice.compactness == pytest.approx((0.5 - 1 / 6) / (1 - 1 / 6), abs=0.02)  # two of six latents share


def test_large_samples_are_cut_and_names_checked() -> None:
    codes, labels = mixed(12_000)
    assert infomec(codes, labels, seed=1).modularity == pytest.approx(infomec(codes, labels).modularity, abs=0.02)
    with pytest.raises(InputError, match="unknown variant 'trpod': did you mean 'tripod'"):
        infomec(noise(10, 2), factors(10), variant="trpod")  # type: ignore[arg-type]
