"""What tests of the page share: a browser, Chromium driven by Playwright, and how its pictures are read."""

from __future__ import annotations

import shutil
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch

from unweave import Run
from unweave.explore.examples import at_random, start_seeds
from unweave.explore.rgba import to_rgba

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
in_browser = pytest.mark.skipif(
    CHROMIUM is None, reason="no Chromium is installed: the page is not tested in a browser"
)
DECODED = "canvas[data-role=decoded]"
PIXELS = """canvas => [...canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data]"""


def pixels(canvas: Locator) -> list[int]:
    return list(canvas.evaluate(PIXELS))


def assert_shows(page: Page, canvas: Locator, images: torch.Tensor) -> None:
    """Wait until a canvas shows an image, up to a grey level."""
    wanted = np.frombuffer(to_rgba(images), np.uint8).astype(int)
    for _ in range(200):
        found = np.array(pixels(canvas))
        if found.shape == wanted.shape and np.abs(found - wanted).max() <= 1:
            return
        page.wait_for_timeout(50)
    assert found.shape == wanted.shape
    assert np.abs(found - wanted).max() <= 1


def open_page(page: Page, address: str, run: Run) -> None:
    page.goto(f"{address}#/run/{run.name}")
    page.wait_for_selector(f"{DECODED}[data-frame]")


def start_image(run: Run, place: int = 0) -> torch.Tensor:
    """Return the image (1, C, H, W) that a page begins with, or the one at the far end of its first walk."""
    data = run.data()
    return at_random(data, start_seeds(data)[place])[0][None]


def frames(strip: Locator) -> np.ndarray[Any, Any]:
    """Return the pictures (n, H, W, 4) of a strip."""
    shown = strip.locator("canvas")
    size = shown.first.evaluate("canvas => [canvas.height, canvas.width]")
    return np.array([pixels(shown.nth(i)) for i in range(shown.count())]).reshape(-1, *size, 4)


def first_code(run: Run) -> torch.Tensor:
    """Return the code (1, D) of the image that a page begins with."""
    return run.encode(start_image(run))
