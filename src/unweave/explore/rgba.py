"""Pictures sent to and from the page: RGBA bytes, and uploaded files, which are not trusted."""

from __future__ import annotations

import io

import numpy as np
import torch
from PIL import Image, ImageOps
from torch import Tensor

from unweave.data.files.pictures import opaque
from unweave.errors import InputError

MOST_BYTES = 16 << 20  # of an uploaded file
MOST_PIXELS = 40_000_000  # of an uploaded picture, before it is scaled down
FORMATS = ("PNG", "JPEG", "WEBP", "GIF", "BMP")


def to_rgba(images: Tensor) -> bytes:
    """Return images (n, C, H, W), uint8 or floats in [0, 1], as RGBA bytes; of many channels the first three."""
    if images.dtype != torch.uint8:
        images = (images * 255).round().clamp(0, 255).to(torch.uint8)
    n, channels, height, width = images.shape
    rgba = np.full((n, height, width, 4), 255, np.uint8)
    pixels = images.permute(0, 2, 3, 1).numpy()  # (n, H, W, C)
    if channels == 2:
        rgba[..., :2], rgba[..., 2] = pixels, 0
    else:
        rgba[..., :3] = pixels[..., :3]  # one channel is repeated
    return rgba.tobytes()


def from_rgba(body: bytes, width: int, height: int, shape: tuple[int, int, int]) -> Tensor:
    """Return a picture in RGBA bytes as an image (C, H, W) uint8 of the given shape.

    Args:
        body: The pixels row by row, four bytes each.
        width: The width of the picture in pixels, at most 4096.
        height: The height of the picture in pixels, at most 4096.
        shape: The shape of the image (C, H, W), to whose proportions the picture is cropped before it is scaled.

    Returns:
        The image (C, H, W).
    """
    if not (0 < width <= 4096 and 0 < height <= 4096) or len(body) != width * height * 4:
        raise InputError(f"a picture of {width} × {height} pixels needs {width * height * 4} bytes, got {len(body)}.")
    return fitted(Image.frombytes("RGBA", (width, height), body), shape)


def from_file(body: bytes, shape: tuple[int, int, int]) -> Tensor:
    """Return an uploaded picture as an image (C, H, W) uint8: its centre, scaled to the given shape."""
    try:
        with Image.open(io.BytesIO(body), formats=FORMATS) as picture:
            width, height = picture.size
            if width * height > MOST_PIXELS:
                raise InputError(f"the picture has {width} × {height} pixels; at most {MOST_PIXELS:,} are accepted.")
            picture.draft("RGB", (4 * shape[2], 4 * shape[1]))  # a large JPEG is decoded at a fraction of its size
            return fitted(ImageOps.exif_transpose(picture), shape)
    except InputError:
        raise
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as error:
        raise InputError(f"the picture is too large; at most {MOST_PIXELS:,} pixels are accepted.") from error
    except Exception as error:  # Pillow's decoders raise many kinds of errors for broken files
        raise InputError(f"this is not a complete {', '.join(FORMATS[:-1])} or {FORMATS[-1]} picture.") from error


def fitted(picture: Image.Image, shape: tuple[int, int, int]) -> Tensor:
    """Return a picture as an image (C, H, W) uint8, cropped to the proportions of the shape, and scaled.

    Transparent pixels are blended with black, as in training data.
    """
    channels, height, width = shape
    if picture.has_transparency_data:
        picture = opaque(picture)
    picture = picture.convert("L" if channels == 1 else "RGB")
    if picture.size != (width, height):
        picture = ImageOps.fit(picture, (width, height), Image.Resampling.LANCZOS)
    pixels = torch.from_numpy(np.array(picture)).reshape(height, width, -1).permute(2, 0, 1)  # (1 or 3, H, W)
    if pixels.shape[0] == channels:
        return pixels.contiguous()
    padded = torch.zeros(channels, height, width, dtype=torch.uint8)
    padded[: min(3, channels)] = pixels[:channels]
    return padded
