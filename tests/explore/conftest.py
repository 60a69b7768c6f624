from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import numpy as np
import pytest
import torch
import uvicorn

import unweave
from tests.explore.browser import CHROMIUM
from tests.training.small import SMALL, pictures
from unweave import Run
from unweave.explore import Selection, find_selection
from unweave.explore.app import make_app
from unweave.explore.server import listen
from unweave.training import open_run

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page


@pytest.fixture(scope="session")
def bars_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bars of ``tests.training.small`` as a file, so that a run can open them again."""
    path = tmp_path_factory.mktemp("bars") / "bars.npz"
    points = torch.cartesian_prod(torch.arange(12), torch.arange(3), torch.arange(2))
    np.savez(path, images=pictures().numpy(), factors=points.numpy())
    return path


@pytest.fixture(scope="session")
def store(tmp_path_factory: pytest.TempPathFactory, bars_file: Path) -> Path:
    """A store with a run of Gaussian latents and one of quantised latents."""
    folder = tmp_path_factory.mktemp("explore") / "store"
    data = unweave.load(bars_file, names=["place", "width", "light"])
    settings = {**SMALL, "steps": 40, "log_steps": 10, "lr": 3e-3}
    unweave.train("beta_vae", data, store=folder, label="smooth", latents=4, **settings)
    unweave.train("qlae", data, store=folder, label="stepped", latents=3, levels=4, **settings)
    return folder


@pytest.fixture(scope="session")
def smooth(store: Path) -> Run:
    return open_run("smooth", store=store)


@pytest.fixture(scope="session")
def stepped(store: Path) -> Run:
    return open_run("stepped", store=store)


@contextmanager
def served(selection: Selection) -> Iterator[str]:
    """Serve a selection from a thread, and yield the address of the page."""
    listening = listen("127.0.0.1", 0)
    server = uvicorn.Server(uvicorn.Config(make_app(selection), log_level="error", ws="none"))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{listening.getsockname()[1]}/"
    finally:
        server.should_exit = True
        thread.join(10)
        listening.close()


@pytest.fixture(scope="session")
def address(store: Path) -> Iterator[str]:
    """The address of a page of the whole store."""
    with served(find_selection(None, store=store)) as found:
        yield found


@pytest.fixture(scope="session")
def client(address: str) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=address, timeout=60) as made:
        yield made


@pytest.fixture(scope="session")
def until() -> Callable[[Callable[[], object]], None]:
    """Wait until a function returns something true."""

    def wait(holds: Callable[[], object]) -> None:
        for _ in range(1200):
            if holds():
                return
            time.sleep(0.05)
        raise AssertionError("this did not happen within a minute")

    return wait


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    sync_api = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    with sync_api.sync_playwright() as playwright:
        launched = playwright.chromium.launch(executable_path=CHROMIUM)
        yield launched
        launched.close()


@pytest.fixture
def page(browser: Browser, request: pytest.FixtureRequest) -> Iterator[Page]:
    """A page that must log no error and ask no other host."""
    options = getattr(request, "param", {})
    context = browser.new_context(**{"viewport": {"width": 1280, "height": 900}, **options})
    opened = context.new_page()
    opened.set_default_timeout(60_000)
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda said: problems.append(said.text) if "Content Security" in said.text else None)
    opened.on("request", lambda asked: problems.append(asked.url) if "//127.0.0.1" not in asked.url else None)
    yield opened
    context.close()
    assert problems == []
