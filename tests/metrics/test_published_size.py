"""DCI at the published size, 10,000 and 5,000 samples of dSprites-like factors, by scikit-learn itself."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from tests.metrics.test_golden import SHARED
from unweave.metrics import dci


@pytest.mark.parametrize("name", ["dsprites-noisy", "dsprites-duplicated"])
def test_dci_is_scikit_learns(name: str) -> None:
    if not (SHARED / "published-size.json").exists():
        pytest.skip("the shared folder with golden values is not beside the project")
    expected: Any = json.loads((SHARED / "published-size.json").read_text())[name]["dci_gbt"]
    with np.load(SHARED / f"{name}.npz") as file:
        test = file["codes_test"], file["factors_test"]
        result = dci(file["codes_train"], file["factors_train"], test=test)
    assert result.disentanglement == pytest.approx(expected["disentanglement"], abs=0.005)
    assert result.completeness == pytest.approx(expected["completeness"], abs=0.005)
    assert result.informativeness == pytest.approx(expected["informativeness_test"], abs=0.005)
    theirs = np.array(expected["importance"])
    if name == "dsprites-duplicated":  # which of two equally good latents is chosen is a matter of chance
        result_pairs, their_pairs = (m[:5] + m[5:] for m in (result.importance, theirs))
        np.testing.assert_allclose(result_pairs, their_pairs, atol=0.01)
    else:
        np.testing.assert_allclose(result.importance, theirs, atol=0.01)
