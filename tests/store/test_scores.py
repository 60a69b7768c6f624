from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from unweave.errors import InputError, Unavailable
from unweave.metrics import Scores, mig, total_correlation
from unweave.store.folder import SCORES
from unweave.store.scores import add_scores, read_scores

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, (3, 4), (200, 2))
RESULT = mig(FACTORS + RNG.normal(size=FACTORS.shape), FACTORS)
PROTOCOL: dict[str, Any] = {"samples": 100, "seed": 0, "settings": {}}


def test_results_come_back_with_their_matrices(tmp_path: Path) -> None:
    assert dict(read_scores(tmp_path)) == {}
    add_scores(tmp_path, {"mig": PROTOCOL}, Scores({"mig": RESULT}))
    stored = read_scores(tmp_path)
    assert stored["mig"].score == RESULT.score
    np.testing.assert_array_equal(stored["mig"].mutual_information, RESULT.mutual_information)
    assert stored.table == {"mig": RESULT.score}
    assert stored.entries[0].version.startswith("unweave ")


def test_infinity_and_nan_are_kept_apart(tmp_path: Path) -> None:
    codes = np.stack([FACTORS[:, 0], FACTORS[:, 0]], axis=1).astype(float)
    result = total_correlation(codes, ridge=0.0)
    assert result.score == math.inf
    add_scores(tmp_path, {"total_correlation": PROTOCOL}, Scores({"total_correlation": result}))
    json.loads((tmp_path / SCORES).read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert read_scores(tmp_path)["total_correlation"].score == math.inf


def test_settings_are_never_mixed(tmp_path: Path) -> None:
    add_scores(tmp_path, {"mig": PROTOCOL}, Scores({"mig": RESULT}))
    add_scores(tmp_path, {"mig": PROTOCOL}, Scores({"mig": RESULT}))
    assert len(read_scores(tmp_path).entries) == 1  # the same protocol replaces
    other = {**PROTOCOL, "samples": 50}
    add_scores(tmp_path, {"mig": other}, Scores({"mig": RESULT}))
    stored = read_scores(tmp_path)
    with pytest.raises(InputError, match=r"mig was measured 2 times, with samples=100; samples=50: use scores.select"):
        stored["mig"]
    assert stored.select(samples=50)["mig"].score == RESULT.score
    assert list(stored.select(samples=3)) == []
    with pytest.raises(KeyError):
        stored["dci"]


@pytest.mark.parametrize("text", ["{", '{"a": 1}', '[{"metric": 3}]', '[{"metric": "mig", "protocol": 1}]'])
def test_damage_is_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / SCORES).write_text(text)
    with pytest.raises(Unavailable, match=r"scores.json is damaged .* remove it"):
        read_scores(tmp_path)
