from __future__ import annotations

import numpy as np
import pytest

from unweave.errors import InputError
from unweave.metrics import mig_sup

GRID = np.array(np.meshgrid(range(4), range(4), indexing="ij")).reshape(2, -1).T


def test_a_latent_for_everything_has_no_gap() -> None:
    both = (GRID[:, :1] * 4 + GRID[:, 1:]).astype(float)
    assert mig_sup(both, GRID).score == pytest.approx(0)
    assert mig_sup(GRID.astype(float), GRID).score == pytest.approx(1)
    assert mig_sup(np.hstack([GRID, np.zeros((16, 2))]), GRID).score == pytest.approx(0.5)  # dead latents count


def test_normalisers_differ_where_code_and_factor_do() -> None:
    """A latent that tells half of a factor: by the factor's entropy 1/2, by its own 1."""
    half = (GRID[:, :1] // 2).astype(float)
    assert mig_sup(half, GRID).score == pytest.approx(0.5)
    assert mig_sup(half, GRID, normaliser="code").score == pytest.approx(1)
    with pytest.raises(InputError, match="'factor' or 'code'"):
        mig_sup(half, GRID, normaliser="both")  # type: ignore[arg-type]
