"""Tables A1 and A2: the judgement of measured distances."""

from __future__ import annotations

import pandas as pd
import pytest

from tests.papers.judging import verdicts
from unweave.papers import FINDINGS
from unweave.papers.perceived_distance import CONSTANTS, PUBLISHED


def table(off: float = 0.0, far: float = float("nan")) -> pd.DataFrame:
    """Return the published numbers as if they had been measured, one of them ``off``."""
    rows: list[tuple[str, str, float, float, float | None]] = []
    for data, factors in PUBLISHED.items():
        rows += [(data, factor, mean + off, std, 0.5) for factor, (mean, std) in factors.items()]
        for channel, (mean, std) in enumerate(zip(*CONSTANTS[data], strict=True)):
            rows.append((data, f"channel {channel}", mean, std, None))
    rows += [("xysquares, spacing 8", "x0", 0.01, 0.0, far), ("xysquares, spacing 1", "x0", 0.01, 0.0, 0.95)]
    return pd.DataFrame(rows, columns=["data", "factor", "mean", "std", "correlation"])


def test_small_norb_and_all_published_digits_are_there() -> None:
    assert PUBLISHED["smallnorb"]["lighting"] == (0.0531, 0.0563)
    assert CONSTANTS["smallnorb"] == ((0.752091840108860,), (0.095638790168273,))
    (part,) = (part for part in FINDINGS["perceived-distance"].answer(table()).parts if "Table A2" in part.title)
    assert part.published is not None
    assert "0.752091840" in " ".join(part.published["mean"])


def test_the_published_numbers_are_reproduced_by_themselves() -> None:
    assert set(verdicts(FINDINGS["perceived-distance"].answer(table())).values()) == {"shown"}


@pytest.mark.parametrize(("changed", "claim"), [(table(off=0.01), 0), (table(far=0.9), 2)])
def test_other_numbers_are_not(changed: pd.DataFrame, claim: int) -> None:
    claims = FINDINGS["perceived-distance"].answer(changed).claims
    assert [each.verdict for each in claims].count("not shown") == 1
    assert claims[claim].verdict == "not shown"


def test_the_distance_at_each_spacing_is_called_the_largest() -> None:
    shown = FINDINGS["perceived-distance"].answer(table()).parts[2].measured
    assert list(shown.columns) == ["spacing", "largest distance", "correlation"]
