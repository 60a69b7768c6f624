from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from unweave.data.files.picture_files import picture_files, read_picture
from unweave.errors import InputError


def test_numbers_in_names_count_by_value(tmp_path: Path) -> None:
    for name in ("b2.png", "b10.png", "a.png", "b1.JPG", "notes.txt"):
        (tmp_path / name).touch()
    (tmp_path / "folder.png").mkdir()
    assert [path.name for path in picture_files(tmp_path)] == ["a.png", "b1.JPG", "b2.png", "b10.png"]


def test_sixteen_bits_become_eight(tmp_path: Path) -> None:
    deep = np.array([[0, 257, 32896, 65535]], np.uint16)
    Image.fromarray(deep).save(tmp_path / "deep.png")
    assert read_picture(tmp_path / "deep.png")[..., 0].tolist() == [[0, 1, 128, 255]]
    assert read_picture(tmp_path / "deep.png", "grey")[..., 0].tolist() == [[0, 1, 128, 255]]


def test_colours_stay_unless_grey_is_asked_for(tmp_path: Path) -> None:
    Image.new("RGBA", (2, 2), (255, 0, 0, 255)).save(tmp_path / "red.png")
    assert read_picture(tmp_path / "red.png")[0, 0].tolist() == [255, 0, 0]
    assert read_picture(tmp_path / "red.png", "grey")[0, 0].tolist() == [76]
    Image.new("1", (2, 2), 1).save(tmp_path / "bit.png")
    assert read_picture(tmp_path / "bit.png").max() == 255


def test_what_is_no_picture_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "text.png").write_text("hello")
    Image.new("L", (50, 50)).save(tmp_path / "whole.png")
    (tmp_path / "cut.png").write_bytes((tmp_path / "whole.png").read_bytes()[:60])
    for name in ("text.png", "cut.png"):
        with pytest.raises(InputError, match=f"{name} cannot be read as a picture"):
            read_picture(tmp_path / name)
    Image.fromarray(np.zeros((2, 2), np.float32)).save(tmp_path / "float.tiff")
    with pytest.raises(InputError, match="32-bit float pixels of unknown range: save it with 8 or 16 bits"):
        read_picture(tmp_path / "float.tiff")
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 100)
    with pytest.raises(InputError, match="too large"):
        read_picture(tmp_path / "whole.png")
    with pytest.raises(InputError, match="must be a path, got 3"):
        picture_files(3)  # type: ignore[arg-type]
