from __future__ import annotations

import pytest

from tests.questions.tables import noise_table, study_table
from unweave.figures.answers import DRAWN
from unweave.questions import ANALYSES


def test_every_analysis_has_a_figure() -> None:
    assert list(DRAWN) == list(ANALYSES)


@pytest.mark.parametrize("name", DRAWN)
def test_every_figure_can_be_drawn(name: str) -> None:
    figure = DRAWN[name](ANALYSES[name](study_table(seeds=2)))
    figure.canvas.draw()
    assert figure.axes


def test_undefined_values_can_be_drawn() -> None:
    constant = noise_table("mig").assign(sap=0.5)
    for name in ("metric_agreement", "score_ranges", "variance_explained", "method_differences", "beating_random"):
        DRAWN[name](ANALYSES[name](constant)).canvas.draw()
