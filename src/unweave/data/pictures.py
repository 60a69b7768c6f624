"""Pictures on disk: which there are in a folder, and their pixels as bytes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

from unweave.errors import InputError

SUFFIXES = {".png", ".jpg", ".jpeg", ".bmp", ".gif", ".tif", ".tiff", ".webp", ".ppm", ".pgm"}
GREY = {"1", "L", "LA"}
DEEP = {"I", "I;16", "I;16B", "I;16L"}  # 16 bits a pixel; PNG readers widen some to 32


def picture_files(folder: str | Path) -> list[Path]:
    """The pictures in a folder by name, numbers in them by value: 2.png before 10.png. None at all is an error."""
    if not isinstance(folder, str | Path):
        raise InputError(f"a folder of pictures must be a path, got {folder!r}.")
    place = Path(folder).expanduser()
    if not place.is_dir():
        raise InputError(f"there is no folder {folder}.")
    pictures = [path for path in place.iterdir() if path.suffix.lower() in SUFFIXES and path.is_file()]
    if not pictures:
        raise InputError(f"the folder {folder} has no pictures ({', '.join(sorted(SUFFIXES))}).")
    return sorted(pictures, key=lambda path: [_by_value(part) for part in re.split(r"(\d+)", path.name)])


def read_picture(path: Path, mode: Literal["as it is", "grey"] = "as it is") -> NDArray[np.uint8]:
    """The pixels (H, W, C) of a picture, one channel or three; 16 bits a pixel become 8."""
    try:
        with Image.open(path) as picture:
            if picture.mode in DEEP:
                deep = np.asarray(picture).astype(np.int64)
                pixels = np.round(deep / 257).astype(np.uint8) if deep.max() > 255 else deep.astype(np.uint8)
            elif picture.mode == "F":
                raise InputError(
                    f"{path} has pixels of unknown range, 32-bit floats: save it with 8 or 16 bits a pixel."
                )
            else:
                grey = mode == "grey" or picture.mode in GREY
                pixels = np.array(picture.convert("L" if grey else "RGB"))
    except (UnidentifiedImageError, OSError, SyntaxError, Image.DecompressionBombError) as error:
        raise InputError(
            f"{path} cannot be read as a picture: it is damaged, too large or of another format."
        ) from error
    return pixels.reshape(*pixels.shape[:2], -1)


def _by_value(part: str) -> tuple[int, int, str]:
    return (0, int(part), "") if part.isdecimal() else (1, 0, part)
