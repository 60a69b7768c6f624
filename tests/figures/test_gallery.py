from __future__ import annotations

import re
from pathlib import Path

from PIL import Image

from unweave.questions import all_figures

DOCS = Path(__file__).parents[2] / "docs"


def test_every_figure_is_in_the_gallery_with_its_command_and_a_small_picture() -> None:
    page = (DOCS / "gallery.md").read_text()
    commands = re.findall(r"^unweave figure (\S+) .+$", page, re.MULTILINE)
    shown = re.findall(r"\(pictures/gallery/(\w+)\.png\)", page)
    assert sorted(commands) == sorted(shown) == sorted(all_figures())
    sizes = []
    for name in shown:
        picture = DOCS / "pictures" / "gallery" / f"{name}.png"
        sizes.append(picture.stat().st_size)
        with Image.open(picture) as image:
            assert 840 <= image.width <= 1050, name
    assert max(sizes) <= 150_000
    assert sum(sizes) <= 3_000_000
    assert {file.stem for file in (DOCS / "pictures" / "gallery").glob("*.png")} == set(shown)
