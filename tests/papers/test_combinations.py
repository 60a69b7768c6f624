"""Combinations of terms."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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
    assert [claim.verdict for claim in answer.claims] == ["not tested", "shown"]  # one seed has no spread


@pytest.mark.parametrize(("added", "expected"), [(0.2, ["shown", "shown"]), (0.01, ["not shown", "shown"])])
def test_a_combination_must_exceed_its_base_with_every_seed(added: float, expected: list[str]) -> None:
    rows = []
    for seed, value in enumerate((0.3, 0.35, 0.4)):
        base = {"state": "finished", "data": "rooms3d", "dci.disentanglement": 0.1, "mig": 0.1, "psnr": 20.0}
        base |= {"recipe": "qlae", "seed": seed}
        rows.append(base | {"grouping": None, "infomec.modularity": value})
        rows.append(base | {"grouping": "exchange", "infomec.modularity": value + added})
    claims = FINDINGS["combinations"].answer(pd.DataFrame(rows)).claims
    assert [claim.verdict for claim in claims] == expected
    assert claims[0].sentence == "qlae + pairs (exchange) has a higher InfoM than qlae on rooms3d."
    assert "qlae 0.350 ± 0.050" in claims[1].evidence
