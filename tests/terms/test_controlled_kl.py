from __future__ import annotations

import math

import pytest

from unweave.terms import ControlledKL
from unweave.terms.controlled_kl import Controller


def published(errors: list[float]) -> list[float]:
    """The controller of Shao et al. 2020 for disentanglement: Kp = 0.01, Ki = 0.001, a weight of at least 1."""
    integral, before, weights = 0.0, 1.0, []
    for error in errors:
        moved = integral if before < 1 else integral - 0.001 * error
        before, integral = 0.01 / (1 + math.exp(error)) + 1 + moved, moved
        weights.append(max(before, 1.0))
    return weights


def test_weights_are_those_of_the_published_controller() -> None:
    errors = [0.5, 3.0, -2.0, -40.0, -7.5, 12.0, 0.0, 30.0, -1.0, -25.0]
    controller = Controller(1.0)
    weights = [controller.step(error, proportional=0.01, integral=0.001, least=1.0) for error in errors]
    assert weights == pytest.approx(published(errors), abs=1e-12)
    assert controller.state_dict().keys() == {"integral", "weight"}


def test_the_target_rises_in_steps() -> None:
    """0.5 for the first 4,999 steps, then 0.65, and 18 after 117 rises."""
    term = ControlledKL()
    assert [term.target_at(step) for step in (0, 4998, 4999, 9999)] == pytest.approx([0.5, 0.5, 0.65, 0.8])
    assert term.target_at(117 * 5000) == 18
    assert term.target_at(115 * 5000) == pytest.approx(17.75)
