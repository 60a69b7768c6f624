"""Combinations of terms."""

from __future__ import annotations

import numpy as np
import pandas as pd

from unweave.papers import FINDINGS


def test_combinations_are_named_after_their_parts() -> None:
    base = {"state": "finished", "data": "rooms3d", "dci.disentanglement": 0.1, "mig": 0.1, "psnr": 20.0}
    rows = [
        base | {"recipe": "ae", "latent": "fsq", "terms": None, "infomec.modularity": 0.3, "blur": np.nan},
        base
        | {"recipe": "ae", "latent": "fsq", "terms": {"jacobian_l1": 0.01}, "infomec.modularity": 0.5, "blur": 15.0},
    ]
    answer = FINDINGS["combinations"].answer(pd.DataFrame(rows))
    assert list(answer.parts[0].measured["method"]) == ["ae fsq", "ae fsq + jacobian_l1 + blurred reconstruction"]
    assert [claim.verdict for claim in answer.claims] == ["shown"]
