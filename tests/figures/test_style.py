from __future__ import annotations

from pathlib import Path

import pytest
from PIL import Image

from unweave.errors import InputError
from unweave.figures.drawing.panels import add_scale
from unweave.figures.drawing.style import FORMATS, INACTIVE, heat_map, new_page, save_figure


def test_a_heat_map_names_and_annotates_its_cells() -> None:
    figure = new_page(2, 2)
    axes = figure.subplots()
    image = heat_map(axes, [[0.0, 0.5], [1.0, 0.25]], ["a", "b"], ["z0", "z1"], grey_columns=[False, True])
    add_scale(figure, image, (0.1, 0.1, 0.5, 0.02), "share")
    assert [text.get_text() for text in axes.texts] == [".00", ".50", "1.00", ".25"]
    assert [label.get_color() for label in axes.get_xticklabels()] == ["black", INACTIVE]
    assert [text.get_color() for text in axes.texts] == [INACTIVE, INACTIVE, "white", INACTIVE]
    assert image.get_clim() == (0, 1)
    assert figure.axes[1].get_xlabel() == "share"
    assert [tick.get_text() for tick in figure.axes[1].get_xticklabels()] == ["0", "1"]


@pytest.mark.parametrize("suffix", FORMATS)
def test_the_same_figure_gives_the_same_file(suffix: str, tmp_path: Path) -> None:
    contents = []
    for number in range(2):
        figure = new_page(2, 2)
        figure.subplots().plot([0, 1])
        path = tmp_path / f"{number}{suffix}"
        save_figure(figure, path)
        contents.append(path.read_bytes())
    assert contents[0] == contents[1]
    start = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF"}[suffix]
    assert contents[0].startswith(start)
    if suffix == ".svg":
        assert b"</text>" in contents[0]  # text, not outlines
    if suffix == ".png":
        with Image.open(tmp_path / "0.png") as image:
            assert image.size == (300, 300)


def test_other_suffixes_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"ends in .png, .svg, .pdf"):
        save_figure(new_page(1, 1), tmp_path / "picture.bmp")
