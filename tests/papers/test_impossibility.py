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


def test_derivatives_that_are_small_are_not_shown_as_zero() -> None:
    finding = FINDINGS["impossibility"]
    (part,) = finding.answer(finding.table(None)).parts
    assert (part.measured["smallest entry of the Jacobian"] > 0).all()


def test_a_distance_above_the_critical_value_is_another_distribution() -> None:
    finding = FINDINGS["impossibility"]
    table = finding.table(None).assign(
        **{"distance of the marginals": 0.019}
    )  # √(ln(2 · 20 / 0.05) / 2 / 10,000) is 0.0183
    assert finding.answer(table).claims[0].verdict == "not shown"
