from __future__ import annotations

import pytest
import torch
from matplotlib.text import Text

import unweave
from unweave import FactorData, Run
from unweave.data.distances import distance_matrices
from unweave.errors import InputError
from unweave.figures import draw_distance_matrices
from unweave.figures.drawing.panels import PAGE, PAGE_HEIGHT
from unweave.figures.run_distances import SPACES, RunDistances, draw_run_distances, make_run_distances


def test_distances_are_those_of_loops_over_a_traversal(gaussian: Run, data: FactorData) -> None:
    result = make_run_distances([gaussian], [data], torch.Generator().manual_seed(0), traversals=1, factors=["width"])
    ((_, factors),) = result.runs
    assert list(factors) == ["width"]
    found = factors["width"]
    start = data.space.sample(1, torch.Generator().manual_seed(0))
    images = data.images(data.space.traverse(start[0], "width")).float() / 255
    mean, logvar = (side.double() for side in gaussian.posterior(images))
    again = gaussian.reconstruct(images)
    for a in range(3):
        for b in range(3):
            assert found["ground truth"][a, b] == abs(a - b)
            assert float(found["perceived"][a, b]) == pytest.approx(float((images[a] - images[b]).square().mean()))
            assert float(found["latent"][a, b]) == pytest.approx(float((mean[a] - mean[b]).norm()), abs=1e-6)
            posteriors = [torch.distributions.Normal(mean[place], (logvar[place] / 2).exp()) for place in (a, b)]
            kl = torch.distributions.kl_divergence(*posteriors).sum()
            assert float(found["KL"][a, b]) == pytest.approx(float(kl), abs=1e-8)
            expected = float((again[a] - again[b]).square().mean())
            assert float(found["reconstruction"][a, b]) == pytest.approx(expected, abs=1e-8)


def test_perceived_distances_are_those_of_the_data(quantised: Run, data: FactorData) -> None:
    result = make_run_distances([quantised], [data], torch.Generator().manual_seed(4), traversals=3)
    alone = distance_matrices(data, torch.Generator().manual_seed(4), traversals=3)
    for (name, found), matrices in zip(result.runs[0][1].items(), alone, strict=True):
        assert name == matrices.factor
        torch.testing.assert_close(found["perceived"], matrices.perceived)
        assert "KL" not in found  # there is no Gaussian posterior


def test_each_run_can_have_the_loss_that_it_was_trained_with(gaussian: Run, quantised: Run, data: FactorData) -> None:
    runs, sets = [gaussian, quantised], [data, data]
    both = make_run_distances(
        runs, sets, torch.Generator().manual_seed(1), traversals=1, loss=["mse", "blurred_mse:2"]
    ).runs
    for place, loss in enumerate(("mse", "blurred_mse:2")):
        (_, alone), _ = make_run_distances(
            [runs[place]] * 2, sets, torch.Generator().manual_seed(1), traversals=1, loss=loss
        ).runs
        for factor, found in both[place][1].items():
            assert torch.equal(found["perceived"], alone[factor]["perceived"])
        assert both[place][0].endswith(loss)
    with pytest.raises(InputError, match="one for each of the 2 runs, got 3"):
        make_run_distances(runs, sets, torch.Generator(), loss=["mse"] * 3)


def test_runs_on_the_same_data_have_the_same_traversals(gaussian: Run, quantised: Run, data: FactorData) -> None:
    result = make_run_distances([gaussian, quantised], [data, data], torch.Generator().manual_seed(1), traversals=1)
    (_, first), (_, second) = result.runs
    for factor, found in first.items():
        assert torch.equal(found["perceived"], second[factor]["perceived"])


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


def test_each_factor_has_a_column_and_says_whether_its_order_shows(generator: torch.Generator) -> None:
    matrices = distance_matrices(unweave.load("xysquares"), generator, traversals=1)
    figure = draw_distance_matrices(matrices, title="far apart")
    assert len(figure.axes) == 12
    assert [axes.get_title() for axes in figure.axes[:6]] == ["x0", "y0", "x1", "y1", "x2", "y2"]
    assert {axes.get_xlabel() for axes in figure.axes[6:]} == {"constant"}
    shown = figure.axes[6].images[0].get_array()
    assert shown is not None
    assert torch.equal(torch.tensor(shown), matrices[0].perceived)
    near = distance_matrices(unweave.load("xysquares", spacing=1), generator, traversals=1)
    assert draw_distance_matrices(near, title="").axes[6].get_xlabel().startswith("r = 1.00")
