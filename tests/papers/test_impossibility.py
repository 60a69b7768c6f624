"""Theorem 1."""

from __future__ import annotations

from tests.papers.judging import verdicts
from unweave.papers import FINDINGS


def test_the_theorem_is_shown_and_would_not_be_by_a_code_that_keeps_its_factors() -> None:
    finding = FINDINGS["impossibility"]
    table = finding.table(None)
    assert set(verdicts(finding.answer(table)).values()) == {"shown"}
    unmixed = table.assign(**{"mig of the entangled code": 1.0})
    assert "not shown" in verdicts(finding.answer(unmixed)).values()
