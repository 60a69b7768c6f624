from __future__ import annotations

from typing import Any

import pytest
import torch
from matplotlib.figure import Figure as Drawn

import unweave
from tests.study.analyses.tables import study_table
from tests.training.small import pictures
from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures import FIGURES, applicable_figures, figure_named
from unweave.study.analyses import ANALYSES

SMALL: dict[str, dict[str, Any]] = {
    "distances": {"traversals": 1},
    "dci_importance": {"samples": 60, "importance": "svm"},
}


def test_every_analysis_has_its_figure_and_every_figure_a_sentence() -> None:
    assert set(ANALYSES) <= set(FIGURES)
    for name, figure in FIGURES.items():
        assert figure.name == name
        assert figure.about.endswith((".", ")."))
        assert figure.settings is not None  # the signature can be read


def test_all_figures_that_apply_can_be_drawn(gaussian: Run, data: FactorData) -> None:
    figures = applicable_figures(gaussian, data)
    assert {figure.source for figure in figures} == {"run", "runs", "data"}
    assert len(figures) == 15
    for figure in figures:
        result = figure.of_runs([gaussian], [data], torch.Generator().manual_seed(0), **SMALL.get(figure.name, {}))
        assert isinstance(figure.draw(result), Drawn), figure.name


def test_figures_of_factors_do_not_apply_to_bare_images(linear: Run) -> None:
    names = {figure.name for figure in applicable_figures(linear, unweave.load(pictures()))}
    assert names >= {"reconstructions", "samples", "traversals", "jacobian", "latent_pairs"}
    assert not names & {"mutual_information", "dci_importance", "distances", "interventions", "training_curves"}


def test_an_analysis_is_drawn_from_a_table() -> None:
    figure = figure_named("score_ranges")
    assert isinstance(figure.draw(figure.make(study_table(), metrics=["mig"])), Drawn)


def test_an_unknown_figure_has_a_closest_match() -> None:
    with pytest.raises(InputError, match="unknown figure 'traversal': did you mean 'traversals'"):
        figure_named("traversal")
