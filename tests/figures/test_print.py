"""Every figure is as wide as a page, and no text of it is cut or covers another, however long labels are."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from matplotlib.figure import Figure as Drawn
from matplotlib.text import Text

from unweave.data.distances import Matrices
from unweave.errors import InputError
from unweave.figures.cumulative_distances import CumulativeDistances
from unweave.figures.curvature import Curvatures, LayerCurvature
from unweave.figures.data_distances import DataDistances
from unweave.figures.drawing.panels import PAGE, SMALL
from unweave.figures.interventions import Interventions
from unweave.figures.jacobians import Columns, Jacobians
from unweave.figures.kernel_densities import KernelDensities
from unweave.figures.latent_marginals import LatentSample
from unweave.figures.mutual_information import Information, InformationMaps
from unweave.figures.reconstructions import ImageRows, Reconstructions
from unweave.figures.run_distances import RunDistances
from unweave.figures.samples import Samples
from unweave.figures.training_curves import Curves
from unweave.figures.traversals import Traversals
from unweave.figures.two_latents import LatentGrid, TwoLatents
from unweave.questions import QUESTIONS, all_figures

LONG = "a label that somebody gave to a run, with-parts_that_have_no_space_at_all_0123456789, seed"
FACTORS = ("x", "the hue of the floor in the room on the left", "an_unbroken_name_of_a_factor_that_is_long")
METRICS = ("mig", "dci.disentanglement", "dci.informativeness", "modularity", "sap")
TITLE = f"{LONG} 0 on {LONG}: a title that is longer than a line"


def names(count: int) -> list[str]:
    return [f"{LONG} {number}" for number in range(count)]


def images(*shape: int) -> Any:
    return torch.zeros(*shape, 3, 8, 8, dtype=torch.uint8)


def noise(*shape: int) -> Any:
    return np.random.default_rng(0).uniform(size=shape)


def traversals(count: int, starts: int = 1) -> Traversals:
    rows = tuple((f"z{row}, 12.34 nats\ninactive", images(11)) for row in range(count * starts))
    values = ((-0.0064, *(float(x) for x in np.linspace(-2.25, 2.25, 10))),) * len(rows)
    return Traversals(TITLE, rows, values, "a note " * 30, tuple(range(count)), (False, True) * count, starts)


def information(name: str, latents: int = 12) -> Information:
    return Information(name, noise(len(FACTORS), latents), FACTORS, tuple(range(latents)), (False,) * latents)


def distances(factor: str) -> Matrices:
    matrix = torch.from_numpy(noise(5, 5))
    return Matrices(factor, matrix, matrix.square())


def table(count: int, **columns: float) -> pandas.DataFrame:
    generator = np.random.default_rng(0)
    places, scores = (f"{LONG} 0", "dsprites"), (*METRICS, "total_correlation", "total_correlation_sampled", "elbo")
    others = ("udr", "downstream.score", "downstream.efficiency_logistic", "downstream.efficiency_boosted")
    rows = [
        {"data": place, "recipe": f"my_parts:{recipe}", "strength": strength, "seed": seed}
        | {score: 0.003 + 0.001 * generator.uniform() for score in (*scores, *others)}
        | columns
        for place, recipe, strength, seed in itertools.product(places, names(count), (1.0, 4.0), (0, 1))
    ]
    return pandas.DataFrame(rows)


def local(count: int) -> pandas.DataFrame:
    rows = [
        {"data": LONG, "recipe": recipe, "seed": seed, "metric": metric, "rho": rho, "score": seed * rho}
        for recipe, seed, metric, rho in itertools.product(names(count), (0, 1), ("local_mig", "m"), (0.1, 0.35, 1.0))
    ]
    return pandas.DataFrame(rows)


def jacobians(count: int) -> Jacobians:
    numbers = ((9.25, 0.000123, 123456.0) * 4)[:10]
    block: list[Any] = [torch.from_numpy(noise(10, 3, 8, 8)), tuple(range(10)), numbers, (0.44,) * 10]
    return Jacobians(TITLE, tuple(Columns(name, images()[...], True, *block) for name in names(count)))


def curvatures(count: int) -> Curvatures:
    layers = tuple(f"layer {number}" for number in range(8))
    return Curvatures(TITLE, tuple(LayerCurvature(name, layers, (0, 1), noise(8, 2)) for name in names(count)))


def run_distances(count: int) -> RunDistances:
    spaces = {space: torch.from_numpy(noise(5, 5)) for space in ("ground truth", "perceived", "latent")}
    return RunDistances(TITLE, "mse", tuple((name, dict.fromkeys(FACTORS, spaces)) for name in names(count)))


def curves(count: int) -> Curves:
    lines = {name: ([0, 50_000, 123_456], [1.0, 1234.0, 0.002]) for name in names(count)}
    return Curves(TITLE, dict.fromkeys(("loss", LONG, "kl", "reconstruction"), lines), f"Without a log: {LONG}.")


def codes(count: int) -> LatentSample:
    return LatentSample(TITLE, noise(50, count) * 1e-3, tuple(range(count)), (True,) * count, None, True, 99)


def densities(count: int) -> KernelDensities:
    grid = np.sort(noise(count, 61))
    lines = noise(count, 61)
    joints = noise(count, count, 61, 61)
    return KernelDensities(
        TITLE, tuple(range(count)), noise(9, count), noise(count), grid, lines, lines, joints, 123.456
    )


RESULTS: dict[str, Callable[[int], Any]] = {
    "reconstructions": lambda n: (
        Reconstructions(TITLE, images(16), images(16), LONG)
        if n == 1
        else ImageRows(TITLE, tuple((name, images(16)) for name in names(n)))
    ),
    "samples": lambda n: Samples(TITLE, tuple((name, images(16)) for name in names(n)), LONG * 3),
    "traversals": traversals,
    "two_latents": lambda n: TwoLatents(
        TITLE, tuple(LatentGrid(name, 10, 11, images(9, 9), (-0.0064,) * 9, (-0.0064,) * 9) for name in names(n))
    ),
    "interventions": lambda n: Interventions(traversals(n, 2), information("", n)),
    "mutual_information": lambda n: InformationMaps(TITLE, tuple(information(name) for name in names(n))),
    "dci_importance": lambda n: InformationMaps(TITLE, tuple(information(name, 40) for name in names(n))),
    "jacobian": jacobians,
    "curvature": curvatures,
    "latent_marginals": codes,
    "latent_pairs": lambda n: codes(max(2, min(n, 6))),
    "kernel_densities": lambda n: densities(max(2, min(n, 6))),
    "distances": run_distances,
    "training_curves": curves,
    "perceived_distances": lambda n: DataDistances(
        "mse", tuple((f"{name}\nspacing 8", tuple(distances(factor) for factor in FACTORS)) for name in names(n))
    ),
    "cumulative_distances": lambda n: CumulativeDistances(
        "mse", tuple((name, {factor: np.sort(noise(50)) for factor in (*FACTORS, "random")}) for name in names(n))
    ),
}
TABLES: dict[str, Callable[[int], pandas.DataFrame]] = {
    "local_scores": local,
    "score_by_spacing": lambda n: table(n).assign(**{"data.spacing": lambda t: t["strength"]}),
    "paired_densities": lambda n: table(2).assign(data=lambda t: [f"{name} {i % n}" for i, name in enumerate(t.data)]),
    "method_differences": lambda n: table(min(max(2, n), 5)),  # ten pairs
}


def drawn_texts(figure: Drawn) -> list[tuple[Text, Any]]:
    """Draw a figure, and return each text that is drawn with its box in pixels."""
    found: list[tuple[Text, Any]] = []
    draw = Text.draw

    def note(text: Text, renderer: Any, *rest: Any, **more: Any) -> None:
        if text.get_visible() and text.get_text().strip():
            found.append((text, text.get_window_extent(renderer)))
        draw(text, renderer, *rest, **more)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Text, "draw", note)
        figure.draw_without_rendering()
    return found


def faults(figure: Drawn) -> list[str]:
    """Return what is wrong with the texts of a figure: too small, cut at an edge, or drawn over another."""
    texts = drawn_texts(figure)
    wrong = [f"small: {text.get_text()!r}" for text, _ in texts if float(text.get_fontsize()) < SMALL]
    if figure.get_figwidth() != PAGE:
        wrong.append(f"width: {figure.get_figwidth()}")
    boxes = np.array([[box.x0, box.y0, box.x1, box.y1] for _, box in texts])
    edge = np.array([-1, -1, figure.bbox.width + 1, figure.bbox.height + 1])
    cut = ((boxes < edge) & [True, True, False, False]) | ((boxes > edge) & [False, False, True, True])
    wrong += [f"cut: {texts[place][0].get_text()!r}" for place in np.flatnonzero(cut.any(1))]
    spare = np.minimum(0.12 * (boxes[:, 3] - boxes[:, 1]), 2.5)  # boxes have room for letters such as Å and g
    low, high = (
        boxes[:, :2] + np.stack([0 * spare + 0.5, spare], 1),
        boxes[:, 2:] - np.stack([0 * spare + 0.5, spare], 1),
    )
    over = ((low[:, None] < high) & (low < high[:, None])).all(2)
    for one, other in zip(*np.nonzero(np.triu(over, 1)), strict=True):
        wrong.append(f"overlap: {texts[one][0].get_text()!r} and {texts[other][0].get_text()!r}")
    return wrong


def test_faults_are_found() -> None:
    figure = Drawn(figsize=(PAGE, 2))
    figure.text(0.1, 0.5, "one")
    figure.text(0.11, 0.5, "other")
    figure.text(0.99, 0.5, "beyond the edge")
    figure.text(0.1, 0.1, "tiny", fontsize=5)
    found = faults(figure)
    assert [fault.split(":")[0] for fault in found] == ["small", "cut", "overlap"]


@pytest.mark.parametrize("count", [1, 3, 12])
@pytest.mark.parametrize("name", list(all_figures()))
def test_no_text_is_cut_or_covers_another(name: str, count: int) -> None:
    figure = all_figures()[name]
    if name in RESULTS:
        result = RESULTS[name](count)
    else:
        try:
            result = figure.make(TABLES.get(name, table)(count))
        except InputError:
            assert count == 1, name  # a comparison needs two
            assert name in QUESTIONS
            return
    assert faults(figure.draw(result)) == []
