from __future__ import annotations

from pathlib import Path
from typing import Any

import torch
from matplotlib.figure import Figure as Drawn
from matplotlib.text import Text

import unweave
from tests.training.small import pictures, trained
from unweave import FactorData, Run
from unweave.figures import FIGURES, applicable_figures
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT

SMALL: dict[str, dict[str, Any]] = {
    "distances": {"traversals": 1},
    "dci_importance": {"samples": 60, "importance": "svm"},
}


def test_every_figure_has_a_sentence() -> None:
    for name, figure in FIGURES.items():
        assert figure.name == name
        assert figure.about.endswith((".", ")."))
        assert figure.settings is not None  # the signature can be read


def test_all_figures_that_apply_can_be_drawn(gaussian: Run, data: FactorData) -> None:
    figures = applicable_figures(gaussian, data)
    assert {figure.source for figure in figures} == {"run", "runs", "data"}
    assert len(figures) == 16
    for figure in figures:
        result = figure.of_runs([gaussian], [data], torch.Generator().manual_seed(0), **SMALL.get(figure.name, {}))
        drawn = figure.draw(result)
        assert isinstance(drawn, Drawn), figure.name
        if figure.source != "data":
            check_print(drawn, figure.name)


def check_print(drawn: Drawn, name: str) -> None:
    """Check that a figure fits on a printed page, and that its texts are readable there."""
    drawn.canvas.draw()
    width, height = drawn.get_size_inches()
    scale = min(1.0, PAGE / width, PAGE_HEIGHT / height)
    texts = [text for text in drawn.findobj(Text) if isinstance(text, Text) and text.get_text() and text.get_visible()]
    assert width <= PAGE + 1e-6, name
    assert scale * min(text.get_fontsize() for text in texts) >= 6.99, name


def test_figures_of_many_latents_are_readable_in_print(tmp_path: Path, data: FactorData) -> None:
    run = trained(tmp_path, steps=2, latents=12)
    for name in ("traversals", "mutual_information", "interventions", "jacobian", "latent_marginals"):
        figure = FIGURES[name]
        check_print(figure.draw(figure.of_runs([run], [data], torch.Generator().manual_seed(0))), name)


def test_figures_of_four_runs_are_readable_in_print(
    gaussian: Run, quantised: Run, plain: Run, linear: Run, data: FactorData
) -> None:
    runs = [gaussian, quantised, plain, linear]
    for figure in (figure for figure in FIGURES.values() if figure.source == "runs"):
        settings = SMALL.get(figure.name, {})
        result = figure.of_runs(runs, [data] * 4, torch.Generator().manual_seed(0), **settings)
        check_print(figure.draw(result), figure.name)


def test_one_run_has_the_same_title_in_every_figure(quantised: Run, data: FactorData) -> None:
    for figure in applicable_figures(quantised, data):
        if figure.source != "data":
            settings = SMALL.get(figure.name, {})
            result = figure.of_runs([quantised], [data], torch.Generator().manual_seed(0), **settings)
            title = getattr(result, "title", "")
            assert title.startswith("QLAE (latents 3) on own images, seed 0") or not title.startswith("QLAE"), (
                figure.name
            )


def test_figures_of_factors_do_not_apply_to_bare_images(linear: Run) -> None:
    names = {figure.name for figure in applicable_figures(linear, unweave.load(pictures()))}
    assert names >= {"reconstructions", "samples", "traversals", "jacobian", "latent_pairs"}
    assert not names & {"mutual_information", "dci_importance", "distances", "interventions", "training_curves"}
