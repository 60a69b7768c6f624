from __future__ import annotations

import torch
from matplotlib.text import Text

from unweave import FactorData, Run
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT
from unweave.figures.run_distances import SPACES, RunDistances, correlation, draw_run_distances, make_run_distances


def table(runs: int, factors: int, without_kl: int = 0) -> RunDistances:
    """Distances of runs with the same factors, the last of which have no KL."""
    matrix = (torch.arange(5.0)[:, None] - torch.arange(5.0)).abs()
    names = [f"factor number {number}" for number in range(factors)]
    made = []
    for run in range(runs):
        spaces = [space for space in SPACES if space != "KL" or run < runs - without_kl]
        made.append((f"run {run}", {name: dict.fromkeys(spaces, matrix) for name in names}))
    return RunDistances("Distances", "mse", tuple(made))


def test_four_runs_fit_on_a_printed_page() -> None:
    for runs in (1, 2, 3, 4):
        figure = draw_run_distances(table(runs, factors=7, without_kl=1))
        width, height = figure.get_size_inches()
        assert width <= PAGE
        assert height <= PAGE_HEIGHT + 1e-6
        texts = [text for text in figure.findobj(Text) if isinstance(text, Text) and text.get_text()]
        assert min(float(text.get_fontsize()) for text in texts) >= 7


def test_nothing_lies_outside_the_figure_or_on_a_neighbour() -> None:
    figure = draw_run_distances(table(4, factors=7))
    figure.draw_without_rendering()
    boxes = [panel.get_window_extent() for panel in figure.axes]
    for number, box in enumerate(boxes):
        assert 0 <= box.x0 < box.x1 <= figure.bbox.x1
        assert 0 <= box.y0 < box.y1 <= figure.bbox.y1
        assert not any(box.overlaps(other) for other in boxes[number + 1 :])
    for text in figure.findobj(Text):
        if isinstance(text, Text) and text.get_text():
            box = text.get_window_extent()
            assert 0 <= box.x0 < box.x1 <= figure.bbox.x1, text
            assert not any(box.overlaps(other) for other in boxes), text


def test_each_space_is_a_column(gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator) -> None:
    runs = [gaussian, quantised]
    result = make_run_distances(runs, [data, data], generator, traversals=1, factors=["place"])
    figure = draw_run_distances(result)
    titles = [panel.get_title().replace("-\n", "").replace("\n", " ") for panel in figure.axes]
    assert titles == [*SPACES, *SPACES]
    assert figure.axes[5].get_ylabel() == "place"
    assert [len(panel.images) for panel in figure.axes[5:]] == [1, 1, 1, 0, 1]
    assert len(result.records()) == 12 * 12 * 9


def test_a_missing_kl_is_explained() -> None:
    figure = draw_run_distances(table(3, factors=1, without_kl=2))
    assert [panel.texts[0].get_text() for panel in figure.axes if panel.texts] == ["none", "none"]
    assert any("no KL for run 1 and run 2" in text.get_text().replace("\n", " ") for text in figure.texts)
    alone = draw_run_distances(table(1, factors=1, without_kl=1))
    assert len(alone.axes) == 4
    assert any("There is no KL: the latents" in text.get_text().replace("\n", " ") for text in alone.texts)
    assert not any("no KL" in text.get_text() for text in draw_run_distances(table(2, factors=1)).texts)


def test_correlations_are_those_off_the_diagonal() -> None:
    truth = (torch.arange(4.0)[:, None] - torch.arange(4.0)).abs().double()
    assert correlation(truth, 3 * truth + 1) == "1.00"
    assert correlation(truth, 4 - truth) == "−1.00"
    assert correlation(truth, torch.ones(4, 4)) == "constant"
    assert correlation(truth[:2, :2], truth[:2, :2]) == "2 values"
