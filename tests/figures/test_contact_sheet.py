from __future__ import annotations

import io

import numpy as np
import torch
from PIL import Image

import unweave
from unweave.figures import draw_contact_sheet, make_order, make_sheet


def test_a_sheet_has_random_images_and_a_traversal_a_factor(generator: torch.Generator) -> None:
    data = unweave.load("dsprites")
    sheet = make_sheet(data, generator, columns=8)
    assert [label for label, _ in sheet.rows] == ["random", "", *data.space.names]
    assert [len(images) for _, images in sheet.rows] == [8, 8, 3, 6, 8, 8, 8]
    places = sheet.rows[5][1].float().mean((1, 2)).argmax(1)  # brightest column along the x traversal
    assert (places.diff() > 0).all()


def test_the_order_is_that_of_the_grid(generator: torch.Generator) -> None:
    values = torch.cartesian_prod(torch.arange(3), torch.arange(4))
    images = (10 * values[:, 0] + values[:, 1]).to(torch.uint8)[:, None, None].expand(12, 8, 8)
    sheet = make_order(unweave.load(images.clone(), factors=values, names=["a", "b"]), generator, columns=4)
    shown = {label: row[:, 0, 0, 0].tolist() for label, row in sheet.rows}
    assert shown == {"first images": [0, 1, 2, 3], "a 0 to 2": [2, 12, 22], "b 0 to 3": [10, 11, 12, 13]}


def test_the_order_is_shown_through_a_point_at_which_factors_differ(generator: torch.Generator) -> None:
    values = torch.cartesian_prod(*[torch.arange(4)] * 3)
    images = (values @ torch.tensor([16, 4, 1])).to(torch.uint8)[:, None, None].expand(64, 8, 8)
    sheet = make_order(unweave.load(images.clone(), factors=values), generator)
    assert sheet.rows[1][1][:, 0, 0, 0].tolist() == [16 * value + 4 * 2 + 3 for value in range(4)]


def test_a_sparse_table_has_several_images_per_value(generator: torch.Generator) -> None:
    grey = torch.arange(20, dtype=torch.uint8)
    labels = {
        "stage": ["larva" if value < 8 else "egg" for value in range(20)],
        "count": [value // 10 for value in range(20)],
        "age": [None, *(0.5 + value for value in range(1, 20))],
    }
    data = unweave.load(grey[:, None, None].expand(20, 8, 8).clone(), factors=labels, missing="drop")
    sheet = make_sheet(data, generator, columns=8)
    assert [label for label, _ in sheet.rows] == ["random", "", "stage", "count", "age"]
    stages, counts, ages = (images[:, 0, 0, 0].tolist() for _, images in sheet.rows[2:])
    assert len(set(stages)) == len(set(counts)) == 8
    assert min(stages[:4]) >= 8 > max(stages[4:])
    assert max(counts[:4]) < 10 <= min(counts[4:])
    assert sheet.captions[2:4] == (("egg", "", "", "", "larva", "", "", ""), ("0", "", "", "", "1", "", "", ""))
    assert ages == [1, 19]  # one image each
    assert sheet.captions[4] == ("1.5", "19.5")
    assert draw_contact_sheet(sheet) is not None


def test_images_without_factors_get_random_rows_only(generator: torch.Generator) -> None:
    sheet = make_sheet(unweave.load(torch.zeros(3, 8, 8, dtype=torch.uint8)), generator)
    assert [label for label, _ in sheet.rows] == ["random", ""]


def test_the_drawing_shows_the_images(generator: torch.Generator) -> None:
    colours = torch.zeros(4, 3, 16, 16, dtype=torch.uint8)
    colours[0, 0], colours[1, 1], colours[2, 2] = 255, 255, 255
    data = unweave.load(colours, factors=torch.arange(4), names=["colour"])
    stream = io.BytesIO()
    draw_contact_sheet(make_sheet(data, generator)).savefig(stream)
    pixels = np.array(Image.open(stream).convert("RGB")).reshape(-1, 3)
    for colour in ([255, 0, 0], [0, 255, 0], [0, 0, 255], [0, 0, 0], [255, 255, 255]):
        assert (pixels == colour).all(1).sum() > 1000
