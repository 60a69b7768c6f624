from __future__ import annotations

import base64
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from PIL import Image
from torch import Tensor

from tests.cli.running import run as command
from tests.explore.browser import in_browser
from unweave import Run
from unweave.errors import InputError
from unweave.explore import offline_page
from unweave.explore.examples import at_random, choose_examples, start_seeds
from unweave.explore.offline_page import ExportedPage, export_page, marginals

Until = Callable[[Callable[[], object]], None]


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory, smooth: Run, stepped: Run) -> dict[str, ExportedPage]:
    folder = tmp_path_factory.mktemp("pages")
    return {
        "smooth": export_page(smooth, folder / "smooth.html", data=smooth.data()),
        "stepped": export_page(stepped, folder / "stepped.html", data=stepped.data()),
        "no data": small_page(stepped, folder / "none.html"),
    }


def small_page(run: Run, path: Path) -> ExportedPage:
    """A page without data, with an encoder that is too large."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(offline_page, "MOST_WEIGHTS", 1)
        return export_page(run, path, no_data="it was deleted")


class Opened:
    """A page from disk, with the network off; every request and every error is noted."""

    def __init__(self, browser: Any, path: Path, until: Until) -> None:
        self.page = browser.new_context(offline=True).new_page()
        self.until = until
        self.asked: list[str] = []
        self.errors: list[str] = []
        self.page.on("request", lambda request: self.asked.append(request.url.partition(":")[0]))
        self.page.on("pageerror", lambda error: self.errors.append(str(error)))
        self.page.goto(path.as_uri())
        self.page.wait_for_selector("[data-role=decoded][data-frame]", timeout=60_000)

    def pixels(self, selector: str) -> Tensor:
        """The picture (H, W, 4) on the first canvas that matches."""
        url = self.page.locator(selector).first.evaluate("canvas => canvas.toDataURL()")
        return torch.from_numpy(np.array(Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2])))))

    def code(self, latents: int) -> Tensor:
        """The positions of the sliders, in the order of the latents."""
        rows = [self.page.locator(f"[data-latent='{i}'] input[type=range]") for i in range(latents)]
        return torch.tensor([float(row.input_value()) for row in rows])

    def move(self, latent: int, value: float) -> None:
        """Move a slider as a reader does."""
        slider = self.page.locator(f"[data-latent='{latent}'] input[type=range]")
        slider.evaluate("(s, value) => { s.value = value; s.dispatchEvent(new Event('input')); }", str(value))

    def shows(self, images: Tensor, selector: str = "[data-role=decoded]") -> bool:
        """Whether a canvas shows a grey image (1, 1, H, W), within a grey level."""
        expected = (images[0, 0] * 255).round()
        seen = self.pixels(selector)[..., 0].float()
        return seen.shape == expected.shape and float((seen - expected).abs().max()) <= 1


@pytest.fixture
def opened(browser: Any, pages: dict[str, ExportedPage], until: Until) -> Iterator[Callable[[str], Opened]]:
    shown: list[Opened] = []

    def show(name: str) -> Opened:
        shown.append(Opened(browser, pages[name].path, until))
        return shown[-1]

    yield show
    for one in shown:
        assert set(one.asked) <= {"file", "data", "blob"}, "the page asked for something else"
        assert one.errors == []
        one.page.context.close()


@in_browser
def test_the_picture_follows_the_slider_as_the_decoder_says(opened: Callable[[str], Opened], smooth: Run) -> None:
    view = opened("smooth")
    for latent, value in ((2, 2.0), (0, -2.25), (1, 1.0)):
        before = view.pixels("[data-role=decoded]")
        view.move(latent, value)
        view.until(lambda: view.shows(smooth.decode(view.code(4)[None])))
        assert not torch.equal(before, view.pixels("[data-role=decoded]"))


@in_browser
def test_a_quantised_latent_moves_in_steps(opened: Callable[[str], Opened], stepped: Run) -> None:
    view, values = opened("stepped"), stepped.model.values
    assert values is not None
    for latent, level in ((0, 3), (1, 0), (2, 2)):
        view.move(latent, level)
    code = values.gather(1, view.code(3).long()[:, None])[:, 0]
    assert view.code(3).tolist() == [3, 0, 2]
    view.until(lambda: view.shows(stepped.decode(code[None])))


@in_browser
def test_start_images_of_the_data_are_chosen_by_their_factors(opened: Callable[[str], Opened], smooth: Run) -> None:
    view, data = opened("smooth"), smooth.data()
    sliders = view.page.locator(".factor input")
    point = [int(sliders.nth(k).input_value()) for k in range(3)]
    examples = choose_examples(data).factors
    assert examples is not None
    inside = examples.unique(dim=0).tolist()
    old = point[0]
    for axis, value in ((0, 11), (0, 3), (0, old), (1, (point[1] + 1) % 3)):
        sliders.nth(axis).evaluate(
            "(s, value) => { s.value = value; s.dispatchEvent(new Event('input')); }", str(value)
        )
        found = [*point[:axis], value, *point[axis + 1 :]]
        image = data.images(torch.tensor([found]), torch.Generator()).float() / 255
        view.until(lambda image=image: view.shows(image, ".origin canvas"))  # type: ignore[misc]
        view.until(lambda image=image: view.shows(smooth.decode(smooth.encode(image))))  # type: ignore[misc]
        assert [int(sliders.nth(k).input_value()) for k in range(3)] == found  # no other factor has moved
        stays = sum(row[:2] == found[:2] for row in inside) == 1  # no other image in which only the last factor differs
        view.until(lambda stays=stays: stays == sliders.nth(2).is_disabled())  # type: ignore[misc]


@in_browser
def test_a_picture_of_ones_own_is_encoded(opened: Callable[[str], Opened], smooth: Run, tmp_path: Path) -> None:
    view = opened("smooth")
    image = smooth.data().images(torch.tensor([[5, 2, 1]]), torch.Generator())
    Image.fromarray(image[0, 0].numpy()).save(tmp_path / "own.png")
    view.page.get_by_text("Your own").click()
    view.page.locator("input[type=file]").set_input_files(tmp_path / "own.png")
    view.until(lambda: view.shows(image.float() / 255, ".origin canvas"))
    view.until(lambda: view.shows(smooth.reconstruct(image)))
    (tmp_path / "broken.png").write_bytes(b"no picture")
    view.page.locator("input[type=file]").set_input_files(tmp_path / "broken.png")
    view.page.get_by_text("not a picture that the browser can read").wait_for()


@in_browser
def test_random_codes_heat_map_and_derivatives(opened: Callable[[str], Opened], smooth: Run) -> None:
    view = opened("smooth")
    view.until(lambda: view.page.locator("canvas.jacobian[data-frame]").count() == 4)
    data = smooth.data()
    image, _ = at_random(data, start_seeds(data)[0])
    columns = smooth.jacobian(smooth.encode(image[None]))[0, :, 0]  # (D, H, W)
    scale = columns.abs().max()
    for latent in range(4):
        painted = view.pixels(f"[data-latent='{latent}'] canvas.jacobian").float()
        share = (columns[latent].abs() / scale) ** 0.7
        expected = torch.where(columns[latent] < 0, -139 * share, 204 * share)  # blue and orange, as in canvas.js
        # a wrong sign gives 50; a step of 0.0005 of the range, which spans kinks of ReLUs, gives 4
        assert float((painted[..., 0] - painted[..., 2] - expected).abs().mean()) < 3
    start = view.code(4)
    view.page.get_by_text("Random code", exact=True).click()
    view.page.get_by_text("Sample a code").click()
    view.until(lambda: not torch.equal(view.code(4), start))
    view.until(lambda: torch.equal(view.pixels("[data-role=decoded]"), view.pixels(".origin canvas")))
    view.page.locator("button.cell").first.click()
    view.until(lambda: view.page.locator(".pair .strip[data-frame]").count() == 1)  # a random code has no factors
    view.page.get_by_text("From the data", exact=True).click()
    view.page.get_by_text("Random image").click()
    view.until(lambda: view.page.locator(".pair .strip[data-frame]").count() == 2)
    assert view.pixels(".pair figure:nth-child(2) canvas").shape[0] == 16


@in_browser
def test_without_data_the_page_starts_at_the_mean_code(opened: Callable[[str], Opened]) -> None:
    view = opened("no data")
    assert "it was deleted" in view.page.inner_text("body")
    assert view.page.locator(".factor input").count() == 0
    assert view.page.get_by_text("Your own").count() == 0  # this page has no encoder


@in_browser
def test_nothing_can_be_fetched(opened: Callable[[str], Opened]) -> None:
    view = opened("no data")
    assert view.page.evaluate("fetch('http://127.0.0.1:9/').then(() => 'sent', error => 'refused')") == "refused"
    assert (
        view.page.evaluate("""new Promise(resolve => {
        addEventListener('securitypolicyviolation', event => resolve(event.effectiveDirective));
        fetch('data:text/plain,x').catch(() => {});
    })""")
        == "connect-src"
    )
    view.asked.clear()


def test_the_file_is_small_beside_the_weights(pages: dict[str, ExportedPage]) -> None:
    for page in pages.values():
        assert page.size == page.path.stat().st_size
        assert page.size - page.weights < 8e6
        assert page.difference < 1e-4


def test_a_large_encoder_is_left_out(pages: dict[str, ExportedPage]) -> None:
    for name, page in pages.items():
        assert page.encoder == ('id="encoder"' in page.path.read_text(encoding="utf-8")) == (name != "no data")


def test_marginals_are_those_that_samples_are_drawn_from(smooth: Run, stepped: Run) -> None:
    assert marginals(smooth, smooth.summary) == [{"mean": 0.0, "std": 1.0}] * 4
    values = stepped.model.values
    assert values is not None
    assert stepped.summary.usage is not None
    pairs = zip(values.tolist(), stepped.summary.usage, strict=True)
    assert marginals(stepped, stepped.summary) == [{"values": levels, "usage": usage} for levels, usage in pairs]
    assert marginals(smooth, None) == marginals(smooth, smooth.summary)
    assert marginals(stepped, None) is None


def test_wrong_files_are_refused_before_anything_is_computed(stepped: Run, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"such as page\.html"):
        export_page(stepped, tmp_path / "page.pdf")
    (tmp_path / "folder.html").mkdir()
    with pytest.raises(InputError, match="it is a folder"):
        export_page(stepped, tmp_path / "folder.html")


def test_the_command(
    store: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert command(monkeypatch, "explore", "stepped", "--store", str(store), "--export", "page.html") == 0
    assert "are weights; largest difference from PyTorch" in capsys.readouterr().out
    assert (tmp_path / "page.html").stat().st_size > 4e6
    assert command(monkeypatch, "explore", "--store", str(store), "--export", "page.html") == 2
    assert "--export takes one run" in capsys.readouterr().err
