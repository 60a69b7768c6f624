from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr
from sklearn.linear_model import Lasso

from tests.metrics.samples import noise
from unweave.errors import InputError
from unweave.metrics import udr

CODES = noise(300, 3)
TURNED = CODES @ np.linalg.qr(noise(3, 3, seed=9))[0]


@pytest.mark.parametrize("method", ["lasso", "spearman"])
def test_models_that_agree_up_to_order_sign_and_size_score_high(method: str) -> None:
    wider = np.hstack([-CODES[:, ::-1] * 5, np.zeros((300, 2))])
    result = udr([CODES, wider, TURNED], method=method)  # type: ignore[arg-type]
    assert result.pairwise[0, 1] == pytest.approx(result.pairwise[1, 0])
    assert result.pairwise[0, 1] > 0.75
    assert result.per_model[2] < 0.6
    assert np.isnan(np.diag(result.pairwise)).all()


def test_one_pair_by_hand() -> None:
    x, y = ((c - c.mean(0)) / c.std(0) for c in (CODES, TURNED))
    for method, matrix in (
        ("lasso", np.abs(Lasso(alpha=0.1).fit(x, y).coef_).T),
        ("spearman", np.abs(spearmanr(x, y).statistic[:3, 3:])),
    ):
        expected = np.mean([(matrix.max(a) ** 2 / matrix.sum(a)).mean() for a in (0, 1)])
        assert udr([CODES, TURNED], method=method).pairwise[0, 1] == pytest.approx(expected)  # type: ignore[arg-type]


def test_uninformative_latents_take_no_part() -> None:
    noisy = np.hstack([CODES, noise(300, 2, seed=4)])
    kl = [np.ones(3), np.array([1, 1, 1, 0.005, 0.001])]
    assert udr([CODES, noisy], kl=kl).score == pytest.approx(udr([CODES, CODES]).score)
    assert udr([CODES, np.zeros((300, 2))]).score == 0


@pytest.mark.parametrize(
    ("codes", "settings", "message"),
    [
        ([CODES], {}, "at least 2 models"),
        (CODES, {}, "a list of matrices, one per model, got ndarray"),
        ([CODES, CODES], {"kl": [np.ones(3), np.full(3, np.nan)]}, "KL divergences of model 1 contain NaN"),
        ([CODES, CODES[:10]], {}, "codes of the same images"),
        ([CODES, CODES], {"kl": [np.ones(3)]}, "2 models but 1 vectors"),
        ([CODES, CODES], {"kl": [np.ones(3), np.ones(2)]}, "model 1 has 3 latents but 2 KL divergences"),
        ([CODES, CODES], {"method": "ridge"}, "'lasso' or 'spearman'"),
    ],
)
def test_what_cannot_be_ranked_is_a_sentence(codes: object, settings: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        udr(codes, **settings)  # type: ignore[arg-type]
