"""Pictures: list those in a folder, read their pixels as bytes, and resize them with the same bytes as Pillow."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from functools import reduce
from pathlib import Path
from types import MappingProxyType
from typing import IO, Any, Literal, NamedTuple, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError
from torch import Tensor

from unweave.errors import InputError, unknown

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}
GREY = {"1", "L", "LA", "La"}
ALPHA_NOTES = {
    "opaque": "the alpha channel was dropped, because all pixels are opaque",
    "transparent": "the alpha channel was dropped and transparent pixels blended with black",
}
DEEP = {"I", "I;16", "I;16B", "I;16L"}  # 16 bits per pixel; PNG readers widen some to 32
Filter = Literal["bilinear", "lanczos", "bicubic", "box"]
BEFORE_FILTERS: Mapping[str, Any] = MappingProxyType({"filter": None})  # the option of runs named before it existed


class Pictures(NamedTuple):
    """Pixels (N, H, W, C) of all pictures, and notes about them for the user."""

    pixels: NDArray[np.uint8]
    notes: tuple[str, ...]


def picture_files(folder: str | Path) -> list[Path]:
    """List the pictures in a folder by name, with numbers by value: 2.png before 10.png. Raises if there is none."""
    if not isinstance(folder, str | Path):
        raise InputError(f"a folder of pictures must be a path, got {folder!r}.")
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise InputError(f"there is no folder {folder}.")
    pictures = [path for path in place.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()]
    if not pictures:
        raise InputError(f"the folder {folder} has no pictures ({', '.join(sorted(SUFFIXES))}).")
    return sorted(pictures, key=lambda path: [_by_value(part) for part in re.split(r"(\d+)", path.name)])


def read_pictures(paths: Sequence[Path], size: int | None, filter: Filter | None = "bilinear") -> Pictures:
    """Read pictures of one size, or resize each to ``size``; grey ones become RGB if any has colour."""
    rows: list[NDArray[np.uint8]] = []
    with_alpha: dict[str, list[str]] = {kind: [] for kind in ALPHA_NOTES}
    for path in paths:
        pixels, alpha = _decode(path, "as it is")
        if alpha is not None:
            with_alpha[alpha].append(path.name)
        if size is not None:
            channels_first = torch.from_numpy(pixels.copy()).permute(2, 0, 1)[None].contiguous()
            pixels = resize(channels_first, size, filter)[0].permute(1, 2, 0).numpy()
        rows.append(pixels)
        if pixels.shape[:2] != rows[0].shape[:2]:
            (h0, w0), (h1, w1) = rows[0].shape[:2], pixels.shape[:2]
            raise InputError(
                f"the pictures differ in size: {paths[0].name} is {w0}×{h0} and {path.name} is {w1}×{h1}. "
                "Pass size=64, for example, to resize them."
            )
    channels = max(row.shape[2] for row in rows)
    notes = tuple(f"{ALPHA_NOTES[kind]}: {listed(names)}" for kind, names in with_alpha.items() if names)
    return Pictures(np.stack([np.broadcast_to(row, (*row.shape[:2], channels)) for row in rows]), notes)


def read_picture(path: Path | IO[bytes], mode: Literal["as it is", "grey"] = "as it is") -> NDArray[np.uint8]:
    """Read the pixels (H, W, C) of a picture, with one channel or three.

    16 bits per pixel become 8. Transparent pixels are blended with black, so that an opaque alpha channel is dropped.
    """
    return _decode(path, mode)[0]


def _decode(path: Path | IO[bytes], mode: Literal["as it is", "grey"]) -> tuple[NDArray[np.uint8], str | None]:
    """Return the pixels (H, W, C), and whether its alpha channel, if any, was opaque or transparent."""
    alpha = None
    try:
        with Image.open(path) as picture:
            if picture.mode in DEEP:
                deep = np.asarray(picture).astype(np.int64)
                pixels = np.round(deep / 257).astype(np.uint8) if deep.max() > 255 else deep.astype(np.uint8)
            elif picture.mode == "F":
                raise InputError(
                    f"{path} has 32-bit float pixels of unknown range: save it with 8 or 16 bits per pixel."
                )
            else:
                colours = "L" if mode == "grey" or picture.mode in GREY else "RGB"
                if picture.has_transparency_data:
                    layers = picture.convert("RGBA")
                    alpha = "transparent" if layers.getchannel("A").getextrema() != (255, 255) else "opaque"
                    pixels = np.array(opaque(layers).convert(colours))
                else:
                    pixels = np.array(picture.convert(colours))
    except (UnidentifiedImageError, OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        if isinstance(error, InputError):
            raise
        raise InputError(
            f"{path} cannot be read as a picture: it is damaged, too large or in another format."
        ) from error
    return pixels.reshape(*pixels.shape[:2], -1), alpha


def opaque(picture: Image.Image) -> Image.Image:
    """Blend the transparent pixels of a picture with black, with the same bytes as :func:`over_black`."""
    layers = picture.convert("RGBA")
    blended = Image.new("RGB", layers.size)
    blended.paste(layers, mask=layers.getchannel("A"))
    return blended


def over_black(images: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Blend RGBA images (…, H, W, 4) with black: (…, H, W, 3), unchanged where they are opaque."""
    colours, alpha = images[..., :3].astype(np.uint16), images[..., 3:].astype(np.uint16)
    return ((colours * alpha + 127) // 255).astype(np.uint8)


def listed(names: Sequence[str]) -> str:
    """List a few names, and the number of the others."""
    return ", ".join(names[:5]) + (f" and {len(names) - 5:,} more" if len(names) > 5 else "")


def _by_value(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdecimal() else (1, 0, part)


def resize(images: Tensor, size: int, filter: Filter | None = "bilinear") -> Tensor:
    """Resize uint8 images (B, C, H, W) to (B, C, size, size).

    The filter is as wide as the reduction, to avoid aliasing. Bytes equal those of ``PIL.Image.resize``, which filters
    rows, rounds, and filters columns. ``torch.nn.functional.interpolate`` with ``antialias=True`` gives the same bytes
    for bilinear; for bicubic it differs by up to 2 of 255.

    ``None`` is what earlier versions did, kept for sets whose runs were named then: means of blocks, rounded once, for
    a reduction by a whole factor, and bilinear otherwise. Means of blocks differ from the filter "box" by rounding, at
    most 1 of 255, but much from "bilinear", whose filter is twice as wide.
    """
    height, width = images.shape[-2:]
    if (height, width) == (size, size):
        return images
    if filter is None and height % size == 0 and width % size == 0:
        return _block_means(images, height // size, width // size)
    rows = _filter_rows(images, size, filter or "bilinear")
    return _filter_rows(rows.transpose(-1, -2), size, filter or "bilinear").transpose(-1, -2).contiguous()


def check_filter(name: str, filter: object) -> Filter | None:
    """Check the filter of data set ``name``, and return it."""
    if filter is not None and filter not in get_args(Filter):
        raise unknown(f"filter of {name}", str(filter), get_args(Filter), setting="filter")
    return filter  # type: ignore[return-value]


def named_filter(filter: Filter | None, pixels: int, size: int) -> Filter | None:
    """Return the filter for the identity of square images reduced from ``pixels`` to ``size``.

    It is None if the images are those of earlier versions, whose identities had no filter: if nothing is reduced, or by
    the filter that was used then.
    """
    as_before = pixels == size or (filter == "bilinear" and pixels % size != 0)
    return None if as_before else filter


def _filter_rows(images: Tensor, size: int, filter: Filter) -> Tensor:
    """Resize the last axis; all rows of all images are the rows of one grey picture."""
    rows = np.ascontiguousarray(images.numpy()).reshape(-1, images.shape[-1])
    resized = Image.fromarray(rows).resize((size, len(rows)), Image.Resampling[filter.upper()])
    return torch.from_numpy(np.array(resized)).view(*images.shape[:-1], size)


def _block_means(images: Tensor, tall: int, wide: int) -> Tensor:
    rows = reduce(torch.add, [images[..., i::tall, :].float() for i in range(tall)])  # faster than avg_pool2d
    sums = reduce(torch.add, [rows[..., i::wide] for i in range(wide)])
    return (sums / (tall * wide) + 0.5).byte()
