from __future__ import annotations

import io
import struct
import zlib
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from unweave.errors import InputError
from unweave.explore.rgba import from_file, from_rgba, to_rgba

COLOURS = torch.tensor([[255, 0], [0, 51], [0, 102]], dtype=torch.uint8).reshape(1, 3, 1, 2)  # red, and a blue


def encoded(picture: Image.Image, kind: str = "PNG") -> bytes:
    out = io.BytesIO()
    picture.save(out, kind)
    return out.getvalue()


def test_images_become_rgba_bytes() -> None:
    assert list(to_rgba(COLOURS)) == [255, 0, 0, 255, 0, 51, 102, 255]
    assert to_rgba(COLOURS.float() / 255) == to_rgba(COLOURS)
    assert list(to_rgba(torch.tensor([[[[0.5]]]]))) == [128, 128, 128, 255]  # one channel is grey
    assert list(to_rgba(torch.full((1, 2, 1, 1), 7, dtype=torch.uint8))) == [7, 7, 0, 255]
    assert len(to_rgba(torch.zeros(3, 5, 4, 6))) == 3 * 4 * 6 * 4


def test_rgba_bytes_become_an_image_again() -> None:
    assert torch.equal(from_rgba(to_rgba(COLOURS), 2, 1, (3, 1, 2)), COLOURS[0])
    with pytest.raises(InputError, match="needs 8 bytes, got 7"):
        from_rgba(to_rgba(COLOURS)[:7], 2, 1, (3, 1, 2))
    with pytest.raises(InputError, match="needs"):
        from_rgba(b"", 0, 0, (3, 1, 2))


@pytest.mark.parametrize("kind", ["PNG", "BMP", "WEBP", "GIF", "JPEG"])
def test_a_file_is_cropped_to_its_centre_and_scaled(kind: str) -> None:
    pixels = np.zeros((40, 80, 3), np.uint8)
    pixels[:, 20:60] = [250, 0, 0]  # the middle square, between black sides
    image = from_file(encoded(Image.fromarray(pixels), kind), (3, 8, 8))
    assert image.shape == (3, 8, 8)
    assert (image[0, 1:7, 1:7].float() - 250).abs().max() < 12
    assert image[1:, 1:7, 1:7].max() < 12


def test_transparent_pixels_are_those_of_training_data(tmp_path: Path) -> None:
    colours, alphas = np.meshgrid(np.arange(256, dtype=np.uint8), np.arange(256, dtype=np.uint8))
    picture = Image.fromarray(np.stack([colours, 255 - colours, alphas, alphas], axis=-1))  # RGBA
    picture.save(tmp_path / "glass.png")
    uploaded = from_file((tmp_path / "glass.png").read_bytes(), (3, 256, 256))
    assert torch.equal(uploaded, unweave.load(tmp_path).rows(torch.tensor([0]))[0])
    assert uploaded[:, 0].max() == 0  # transparent
    assert uploaded[1, 128, 0] == 128  # half of 255


def test_colours_become_grey_where_the_model_has_one_channel() -> None:
    grey = from_file(encoded(Image.new("RGB", (8, 8), (255, 0, 0))), (1, 8, 8))
    assert grey.unique().tolist() == [76]  # the luma of red, ITU-R 601


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", zlib.crc32(kind + content))


def bomb(side: int) -> bytes:
    """Return a PNG of a few kB that claims to have side × side pixels."""
    head = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    rows = zlib.compress(b"\0" * 1_000_000)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", rows) + chunk(b"IEND", b"")


@pytest.mark.parametrize("side", [7_000, 10_000, 100_000])
def test_a_decompression_bomb_is_refused_before_it_is_decoded(side: int) -> None:
    with pytest.raises(InputError, match="are accepted"):
        from_file(bomb(side), (3, 8, 8))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"hello",
        b"<svg xmlns='http://www.w3.org/2000/svg'/>",
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 9 9\n",  # Pillow would start Ghostscript for it
        encoded(Image.new("RGB", (64, 64)))[:60],
        encoded(Image.effect_noise((64, 64), 90), "JPEG")[:300],
        bomb(1000),
    ],
)
def test_a_broken_file_is_refused_with_a_sentence(body: bytes) -> None:
    with pytest.raises(InputError, match="not a complete PNG, JPEG, WEBP, GIF or BMP picture"):
        from_file(body, (3, 8, 8))
