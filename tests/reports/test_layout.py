from __future__ import annotations

from typing import Any

import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from unweave.reports.html.embedded_figures import MANY, settle


def grid(rows: int, columns: int) -> Figure:
    figure = Figure(figsize=(2 * columns, 1.5 * rows), dpi=100, layout="constrained")
    for number, panel in enumerate(figure.subplots(rows, columns, squeeze=False).flat):
        panel.plot([0, 1], [0, 1000])
        panel.set_title(f"panel {number}")
    figure.suptitle("all of them")
    figure.legend(["line"], loc="outside lower center")
    return figure


def test_large_grids_have_equal_panels_whose_labels_do_not_overlap() -> None:
    figure = grid(5, 6)
    assert len(figure.axes) > MANY
    settle(figure)
    assert figure.get_layout_engine() is None
    renderer = figure.canvas.get_renderer()  # type: ignore[attr-defined]
    boxes = [panel.get_tightbbox(renderer) for panel in figure.axes]
    assert len({(round(panel.bbox.width, 3), round(panel.bbox.height, 3)) for panel in figure.axes}) == 1
    legend, title = figure.legends[0].get_window_extent(renderer), figure._suptitle.get_window_extent(renderer)  # type: ignore[attr-defined]
    every = [*boxes, legend, title]
    for place, box in enumerate(every):
        assert figure.bbox.x0 - 1 <= box.x0
        assert box.x1 <= figure.bbox.x1 + 1
        for other in every[place + 1 :]:
            assert (
                min(box.x1, other.x1) <= max(box.x0, other.x0) + 1 or min(box.y1, other.y1) <= max(box.y0, other.y0) + 1
            )


def test_small_grids_use_constrained_layout_once() -> None:
    figure, other = grid(2, 2), grid(2, 2)
    settle(figure)
    assert figure.get_layout_engine() is None
    canvas: Any = FigureCanvasAgg(other)
    canvas.draw()
    for one, two in zip(figure.axes, other.axes, strict=True):
        assert one.get_position().bounds == pytest.approx(two.get_position().bounds, abs=0.01)
    settle(figure)  # has nothing left to do
