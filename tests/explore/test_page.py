"""The page in a real browser: Debian's Chromium, driven by Playwright."""

from __future__ import annotations

import io
import json
import shutil
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from tests.explore.browser import DECODED, assert_shows, first_code, frames, in_browser, open_page, pixels, start_image
from tests.explore.conftest import served
from tests.training.small import SMALL, bars
from unweave import Run
from unweave.explore import find_selection
from unweave.explore.examples import at_random, start_seeds
from unweave.explore.rgba import to_rgba
from unweave.explore.run_selection import select_given
from unweave.store.state import State, write_state
from unweave.study import Study
from unweave.training.configuration import write_configuration

if TYPE_CHECKING:
    from playwright.sync_api import Page

pytestmark = in_browser


def test_a_slider_changes_the_picture_as_the_decoder_says(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    code = first_code(smooth)
    decoded = page.locator(DECODED)
    assert_shows(page, decoded, smooth.decode(code))
    before = pixels(decoded)
    latent = int(page.locator(".latent").first.get_attribute("data-latent") or -1)
    slider = page.locator(".latent input[type=range]").first
    slider.focus()
    for _ in range(60):
        page.keyboard.press("ArrowRight")
    code[0, latent] = float(slider.evaluate("slider => slider.valueAsNumber"))
    assert_shows(page, decoded, smooth.decode(code))
    assert np.abs(np.array(pixels(decoded)) - np.array(before)).max() > 5
    page.get_by_role("button", name="Back to start").click()
    assert_shows(page, decoded, smooth.decode(first_code(smooth)))


def test_strips_and_jacobian_stand_beside_each_latent(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    page.wait_for_selector(".latent:last-of-type .jacobian[data-frame]")
    row = page.locator(".latent").first
    latent = int(row.get_attribute("data-latent") or -1)
    low, high = (float(row.locator("input[type=range]").get_attribute(end) or 0) for end in ("min", "max"))
    codes = first_code(smooth).repeat(9, 1)
    codes[:, latent] = torch.linspace(low, high, 9)
    strip = row.locator(".strip")
    page.wait_for_selector(".latent .strip[data-frame]")
    wanted = np.frombuffer(to_rgba(smooth.decode(codes)), np.uint8).reshape(9, 16, 16, 4).astype(int)
    assert np.abs(frames(strip) - wanted).max() <= 1
    strip.locator("canvas").last.click()
    assert_shows(page, page.locator(DECODED), smooth.decode(codes[8:]))


def test_the_slider_of_a_quantised_latent_has_steps(page: Page, address: str, stepped: Run) -> None:
    open_page(page, address, stepped)
    values = stepped.model.values
    assert values is not None
    code = first_code(stepped)
    assert_shows(page, page.locator(DECODED), stepped.decode(code))
    latent = int(page.locator(".latent").first.get_attribute("data-latent") or -1)
    slider = page.locator(".latent input[type=range]").first
    assert [slider.get_attribute(name) for name in ("min", "max", "step")] == ["0", "3", "1"]
    slider.focus()
    page.keyboard.press("Home")
    for level in range(4):
        code[0, latent] = values[latent, level]
        assert_shows(page, page.locator(DECODED), stepped.decode(code))
        assert slider.get_attribute("aria-valuetext") == f"level {level + 1} of 4"
        page.keyboard.press("ArrowRight")


def test_a_start_image_is_chosen_by_its_factors(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    for name in ("place", "width", "light"):
        slider = page.get_by_label(name, exact=True)
        slider.focus()
        page.keyboard.press("End")
    image = smooth.data().images([[11, 2, 1]])
    assert_shows(page, page.locator(".origin canvas"), image)
    assert_shows(page, page.locator(DECODED), smooth.reconstruct(image))


def test_a_picture_is_uploaded(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    image = smooth.data().images([[9, 0, 1]])
    out = io.BytesIO()
    Image.fromarray(image[0, 0].numpy()).save(out, "PNG")
    page.get_by_text("Your own").click()
    upload = page.locator("input[type=file]")
    upload.set_input_files({"name": "bar.png", "mimeType": "image/png", "buffer": out.getvalue()})
    assert_shows(page, page.locator(".origin canvas"), image)
    assert_shows(page, page.locator(DECODED), smooth.reconstruct(image))
    upload.set_input_files({"name": "bar.png", "mimeType": "image/png", "buffer": b"broken"})
    page.get_by_text("not a complete PNG").wait_for()
    page.get_by_text("Random code", exact=True).click()
    page.get_by_role("button", name="Sample a code").click()
    page.wait_for_function("() => document.querySelector('.start .notice').hidden")


def test_a_walk_from_one_code_to_another(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    page.wait_for_selector(".way .strip[data-frame]")
    other = smooth.encode(start_image(smooth, 1))
    walk = page.get_by_role("slider", name="From A to B")
    walk.focus()
    page.keyboard.press("End")
    assert_shows(page, page.locator(DECODED), smooth.decode(other))
    for _ in range(50):
        page.keyboard.press("ArrowLeft")
    assert_shows(page, page.locator(DECODED), smooth.decode((first_code(smooth) + other) / 2))


def test_a_cell_of_the_heat_map_moves_a_latent_and_a_factor(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    cell = page.locator(".heatmap tbody tr").first.locator("button").nth(1)  # place
    cell.focus()
    page.keyboard.press("Enter")
    page.wait_for_selector(".pair figure:nth-child(2) canvas[data-frame]")
    assert cell.get_attribute("aria-pressed") == "true"
    captions = page.locator(".pair figcaption").all_inner_texts()
    latent = int(page.locator(".latent").nth(1).get_attribute("data-latent") or -1)
    assert captions == [f"Latent z{latent}", "Factor place"]
    data = smooth.data()
    point = at_random(data, start_seeds(data)[0])[1]
    assert point is not None
    truth = data.images([[place, *point[1:]] for place in range(12)])
    assert np.array_equal(frames(page.locator(".pair .strip").nth(1))[..., 0], truth[:, 0].numpy())
    assert page.locator(".pair .frame").evaluate_all("all => new Set(all.map(f => f.clientWidth)).size") == 1


def test_latent_and_factor_of_the_heat_map_start_from_one_image(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    sliders = page.locator(".latent input[type=range]")
    latent = int(page.locator(".latent").nth(1).get_attribute("data-latent") or -1)
    low, high = (float(sliders.nth(1).get_attribute(end) or 0) for end in ("min", "max"))
    sliders.first.focus()
    page.keyboard.press("End")  # a move of another latent is not part of the start image
    page.locator(".heatmap tbody tr").first.locator("button").nth(1).click()
    page.get_by_text("Both from the start image.").wait_for()
    codes = first_code(smooth).repeat(9, 1)
    codes[:, latent] = torch.linspace(low, high, 9)
    wanted = np.frombuffer(to_rgba(smooth.decode(codes)), np.uint8).reshape(9, 16, 16, 4).astype(int)
    assert np.abs(frames(page.locator(".pair .strip").first) - wanted).max() <= 1
    page.get_by_text("Random code", exact=True).click()
    page.get_by_role("button", name="Sample a code").click()
    page.get_by_text("only the latent is shown").wait_for()
    assert page.locator(".pair figcaption").all_inner_texts() == [f"Latent z{latent}"]


def test_strips_are_large_and_take_their_room_at_once(page: Page, address: str, smooth: Run, stepped: Run) -> None:
    held: list[Any] = []
    free = threading.Event()
    page.route("**/decode", lambda route: route.continue_() if free.is_set() else held.append(route))
    page.goto(f"{address}#/run/{smooth.name}")
    page.wait_for_selector(".latent .frame")
    height = "() => document.querySelector('.latents').getBoundingClientRect().height"
    before = page.evaluate(height)
    free.set()
    for route in held:
        route.continue_()
    page.wait_for_selector(".latent:last-of-type .strip[data-frame]")
    assert page.evaluate(height) == before
    boxes = [page.locator(f"canvas[data-role={role}]").bounding_box() for role in ("input", "decoded")]
    sizes = [box and (box["y"], box["width"], box["height"]) for box in boxes]
    assert sizes[0] == sizes[1]
    width = "() => document.querySelector('.latent .frame').getBoundingClientRect().width"
    small = page.evaluate(width)
    assert small >= 56
    page.locator(".latent .frame").nth(4).hover()
    assert page.locator(".latent .frame").nth(4).evaluate("f => f.getBoundingClientRect().width") > 2 * small
    page.set_viewport_size({"width": 1920, "height": 1080})
    assert page.evaluate(width) > 1.3 * small


def test_a_value_is_typed_reset_locked_and_played(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    row, code = page.locator(".latent").first, first_code(smooth)
    latent = int(row.get_attribute("data-latent") or -1)
    start = float(code[0, latent])
    row.get_by_label(f"Value of z{latent}").fill("1.25")
    page.keyboard.press("Enter")
    code[0, latent] = 1.25
    assert_shows(page, page.locator(DECODED), smooth.decode(code))
    row.get_by_label(f"Lock z{latent}").click()
    page.get_by_role("button", name="Back to start").click()
    assert_shows(page, page.locator(DECODED), smooth.decode(code))
    row.get_by_label(f"Lock z{latent}").click()
    row.locator("input[type=range]").dispatch_event("dblclick")
    assert float(row.get_by_label(f"Value of z{latent}").input_value()) == pytest.approx(start, abs=1e-3)
    row.get_by_label(f"Play z{latent}").click()
    page.wait_for_function("z => Math.abs(document.querySelector('.latent .value').value - z) > 0.2", arg=start)
    row.get_by_label(f"Play z{latent}").click()
    assert row.get_by_label(f"Play z{latent}").get_attribute("aria-pressed") == "false"


def test_cells_of_the_heat_map_stand_in_line(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    rows = page.locator(".heatmap tbody tr")
    for place, text in enumerate((".12", "")):  # small values are not written
        rows.first.locator("button").nth(place).evaluate("(cell, text) => { cell.textContent = text; }", text)
    # all at once: the page grows while its pictures arrive
    tops = rows.evaluate_all(
        "rows => rows.map(row => [...row.querySelectorAll('button')].map(cell => cell.getBoundingClientRect().y))"
    )
    assert all(len(set(row)) == 1 for row in tops)  # with a number or without
    gaps = np.diff([row[0] for row in tops])
    assert np.allclose(gaps, gaps[0], atol=0.6)


def test_runs_side_by_side_start_from_the_same_picture(page: Page, address: str, smooth: Run, stepped: Run) -> None:
    page.goto(address)
    for run in (smooth, stepped):
        page.get_by_label(f"Compare {run.name}").check()
    page.get_by_role("button", name="Compare 2 runs").click()
    page.wait_for_selector(".compared:nth-child(2) canvas[data-role=decoded][data-frame]")
    image = start_image(smooth)
    for run in (smooth, stepped):
        column = page.locator(f".compared[data-run='{run.name}']")
        assert_shows(page, column.locator(".origin canvas"), image)
        assert_shows(page, column.locator(DECODED), run.reconstruct(image))


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, bars_file: Path) -> Path:
    """A study of 300 runs: one is trained, and the others have what a table reads of a run."""
    folder = tmp_path_factory.mktemp("study")
    spec = folder / "many.toml"
    betas = ", ".join(str(float(beta)) for beta in range(1, 31))
    spec.write_text(
        f'name = "many"\nmetrics = ["mig"]\n[fixed]\ndata = "{bars_file}"\nsteps = 2\nbatch = 8\nlatents = 2\n'
        f'net = "conv16"\n[[grid]]\nrecipe = "beta_vae"\nbeta = [{betas}]\nseeds = 10\n'
    )
    many = Study(spec, store=folder / "store")
    for number, planned in enumerate(many.planned):
        run = many.store / planned.name
        run.mkdir(parents=True)
        if number == 0:
            continue
        write_configuration(run, planned.configuration)
        write_state(run, State("finished", 2, "test", psnr=10.0))
        result = {"score": number / 1000, "per_factor": [], "mutual_information": []}
        asked = {"samples": 10_000, "test_samples": 5_000, "seed": 0, "settings": {}}
        entry = {"metric": "mig", "protocol": asked, "version": "", "result": result}
        (run / "scores.json").write_text(json.dumps([entry]))
    first = many.planned[0].settings
    data = unweave.load(bars_file)
    fixed = {"beta": first["beta"], "seed": first["seed"], "steps": 2, "batch": 8, "latents": 2, "net": "conv16"}
    made = unweave.train("beta_vae", data, store=many.store, threads=1, device="cpu", **fixed)
    assert made.name == many.planned[0].name
    return spec


def test_a_study_of_hundreds_of_runs_sorts_filters_and_opens_a_run(page: Page, study: Path) -> None:
    with served(find_selection(str(study), store=study.parent / "store")) as address:
        page.goto(address)
        page.get_by_text("300 runs").wait_for()
        assert page.locator(".rows .row").count() < 60  # only those in the window
        page.get_by_role("columnheader", name="MIG").get_by_role("button").click()
        page.wait_for_function("() => document.querySelector('.rows .row').textContent.includes('0.299')")
        page.locator(".grid").evaluate("grid => grid.scrollTo(0, 1e6)")
        page.get_by_role("row").filter(has_text="0.001").first.wait_for()
        page.get_by_text("Points", exact=True).click()
        page.wait_for_function(
            "() => document.querySelector('canvas.scatter').dataset.points === '299'"
        )  # one has none
        assert [page.locator(".axes select").nth(place).input_value() for place in (0, 1)] == ["mig", "strength"]
        page.get_by_role("cell", name="β-VAE").first.wait_for()
        for spelling in ("beta_vae", "β-VAE"):
            page.get_by_label("Filter").fill(f"mig > 0.25 beta = 30 recipe = {spelling}")
            page.get_by_text("10 of 300 runs").wait_for()
            page.get_by_label("Filter").fill("")
            page.get_by_text("300 runs", exact=True).wait_for()
        page.locator(".axes select").nth(0).select_option("psnr")
        page.wait_for_function("() => document.querySelector('canvas.scatter').dataset.points === '300'")
        page.get_by_label("Filter").fill("mig > 0.25 beta = 30")
        page.get_by_text("10 of 300 runs").wait_for()
        page.get_by_label("Filter").fill("migg > 1")
        page.get_by_text("There is no column “migg”").wait_for()
        name = next(
            folder.name for folder in (study.parent / "store").iterdir() if (folder / "model.safetensors").exists()
        )
        page.get_by_label("Filter").fill(name)
        page.get_by_text("1 of 300 runs").wait_for()
        page.locator("canvas.scatter").focus()
        page.keyboard.press("ArrowRight")
        page.locator(".tip").get_by_text("β-VAE, beta = 1, seed 0").wait_for()
        page.keyboard.press("Enter")
        page.wait_for_selector(f"{DECODED}[data-frame]")
        assert page.url.endswith(f"#/run/{name}")
        page.go_back()
        box = page.locator("canvas.scatter").bounding_box()
        assert box is not None
        page.get_by_text("1 of 300 runs").wait_for()
        left, top = (52 + box["width"] - 14) / 2, (26 + box["height"] - 36) / 2  # the middle between the margins
        page.locator("canvas.scatter").click(position={"x": left, "y": top})
        page.wait_for_selector(f"{DECODED}[data-frame]")


def test_a_training_is_shown_as_it_goes(page: Page, tmp_path: Path, bars_file: Path) -> None:
    data = unweave.load(bars_file)
    reached, go_on = threading.Event(), threading.Event()

    def wait(moment: Any) -> None:
        if moment.step >= 10:
            reached.set()
            go_on.wait(120)

    settings = {**SMALL, "steps": 20, "log_steps": 1, "checkpoint_steps": 5}
    train = threading.Thread(
        target=lambda: unweave.train(
            "beta_vae", data, store=tmp_path, latents=2, callback=wait, callback_steps=10, **settings
        )
    )
    train.start()
    try:
        assert reached.wait(120)
        with served(find_selection(str(tmp_path))) as address:
            page.goto(address)
            page.locator(".rows a").first.click()
            page.wait_for_selector(".live[data-state=running] .reconstructions canvas[data-frame]")
            page.wait_for_selector(f"{DECODED}[data-frame]")
            assert int(page.locator(".live").get_attribute("data-step") or 0) < 20
            assert "of 20" in page.locator(".live .status").inner_text()
            assert page.locator(".curve").count() >= 3
            go_on.set()
            page.wait_for_selector(".live[data-state=finished]")
            page.wait_for_function("() => document.querySelector('.live').dataset.step === '20'")
    finally:
        go_on.set()
        train.join()
    name = next(tmp_path.iterdir()).name
    assert name in page.url


def test_a_store_opens_with_a_strip_of_each_run(page: Page, address: str, smooth: Run, stepped: Run) -> None:
    page.goto(address)
    for run, method in ((smooth, "β-VAE on bars"), (stepped, "QLAE on bars")):
        card = page.locator(f".card[data-run='{run.name}']")
        card.get_by_role("heading", name=method).wait_for()
        card.locator(".strip[data-frame]").first.wait_for()
        values = run.traversal_values(steps=5)
        change = []  # of the picture along each latent
        for latent in range(run.size):
            codes = first_code(run).repeat(values.shape[1], 1)
            codes[:, latent] = values[latent]
            change.append(run.decode(codes).std(0).norm())
        strongest = max(range(run.size), key=change.__getitem__)
        shown = card.locator("figcaption").all_inner_texts()
        assert shown[0] == f"z{strongest}"
        assert len(set(shown)) == 3
        codes = first_code(run).repeat(values.shape[1], 1)
        codes[:, strongest] = values[strongest]
        wanted = np.frombuffer(to_rgba(run.decode(codes)), np.uint8).reshape(-1, 16, 16, 4).astype(int)
        assert np.abs(frames(card.locator(".strip").first) - wanted).max() <= 1
    page.locator(".card").first.get_by_role("link", name="move the latents").click()
    page.wait_for_selector(f"{DECODED}[data-frame]")


def test_a_filter_says_what_is_wrong_until_it_is_mended(page: Page, address: str, smooth: Run) -> None:
    page.goto(address)
    page.wait_for_selector(".rows .row")
    page.get_by_label("Filter").fill("PSNR > 1000")  # columns ignore case
    page.get_by_text("No run matches the filter.").wait_for()
    page.get_by_label("Filter").fill("nonsense > 3")
    page.get_by_text("There is no column “nonsense”").wait_for()
    with page.expect_response("**/api/table*"):
        pass  # a look at the store
    page.wait_for_timeout(100)
    assert page.get_by_text("There is no column “nonsense”").is_visible()
    assert page.locator(".rows .row").count() == page.locator(".card").count() == 0
    page.get_by_label("Filter").fill(f"LABEL = {smooth.label}")
    page.wait_for_function("() => document.querySelectorAll('.rows .row').length === 1")
    page.get_by_role("columnheader", name="PSNR").get_by_role("button").click()
    page.reload()  # the address has the filter and the order
    page.wait_for_function("() => document.querySelectorAll('.rows .row').length === 1")
    assert page.get_by_label("Filter").input_value() == f"LABEL = {smooth.label}"
    assert page.get_by_role("columnheader", name="PSNR").get_attribute("aria-sort") == "descending"
    page.get_by_text("Columns", exact=True).click()
    page.get_by_label("seed", exact=True).uncheck()
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save as CSV").click()
    head, line = saved.value.path().read_text().splitlines()
    assert head.startswith("run,label,")
    assert "seed" not in head.split(",")
    assert line.startswith(f"{smooth.name},{smooth.label},")


def test_strips_are_saved_as_png_and_a_latent_as_gif(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    page.wait_for_selector(".latent:last-of-type .strip[data-frame]")
    latent = int(page.locator(".latent").first.get_attribute("data-latent") or -1)
    low, high = (float(page.locator(".latent input[type=range]").first.get_attribute(e) or 0) for e in ("min", "max"))
    with page.expect_download() as saved:
        page.get_by_label(f"Save z{latent} as GIF").click()
    values = torch.linspace(low, high, 33)
    codes = first_code(smooth).repeat(64, 1)
    codes[:, latent] = torch.cat([values, values[1:-1].flip(0)])
    wanted = smooth.decode(codes)[:, 0].numpy() * 255
    with Image.open(saved.value.path()) as gif:
        assert (gif.n_frames, gif.size, gif.info["loop"]) == (64, (160, 160), 0)  # type: ignore[attr-defined]
        for frame in range(0, 64, 9):
            gif.seek(frame)
            enlarged = wanted[frame].repeat(10, 0).repeat(10, 1)
            assert np.abs(np.array(gif.convert("L")) - enlarged).max() <= 8  # 32 levels of grey, which are 8 apart
    with page.expect_download() as saved:
        page.get_by_role("button", name="Save strips as PNG").click()
    with Image.open(saved.value.path()) as sheet:
        assert sheet.size == (160 + 9 * 100, 4 * 100)
        shown = np.array(sheet.convert("L"))[:96:6, 160:256:6]
    start = first_code(smooth)
    start[0, latent] = low
    assert np.abs(shown - smooth.decode(start)[0, 0].numpy() * 255).max() <= 1


def test_a_picture_is_dropped_anywhere(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    image = smooth.data().images([[4, 2, 1]])
    out = io.BytesIO()
    Image.fromarray(image[0, 0].numpy()).save(out, "PNG")
    page.evaluate(
        """bytes => {
          const data = new DataTransfer();
          data.items.add(new File([Uint8Array.from(bytes)], "a.png", { type: "image/png" }));
          document.querySelector("h1").dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true }));
        }""",
        list(out.getvalue()),
    )
    assert_shows(page, page.locator(".origin canvas"), image)


def test_the_record_of_a_run(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    page.locator(".commands code").first.wait_for()
    assert page.locator(".commands code").first.inner_text().startswith(f"unweave train --from {smooth.name}")
    page.get_by_text("Configuration", exact=True).click()
    assert json.loads(page.locator(".record pre").inner_text())["recipe"] == "beta_vae"


def test_the_address_keeps_image_and_code(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    page.get_by_label("light", exact=True).focus()
    page.keyboard.press("Home")
    latent = int(page.locator(".latent").first.get_attribute("data-latent") or -1)
    page.wait_for_function("() => location.hash.includes('image=')")
    page.get_by_label(f"Value of z{latent}").fill("1.5")
    page.keyboard.press("Enter")
    page.wait_for_function("() => /z=[^&]*1\\.5/.test(decodeURIComponent(location.hash))")
    shown = pixels(page.locator(DECODED))
    page.reload()
    page.wait_for_function("() => document.querySelector('.latent .value')?.value === '1.5'")
    for _ in range(200):  # a busy server takes a while to decode
        if np.abs(np.array(pixels(page.locator(DECODED))) - np.array(shown)).max() <= 1:
            break
        page.wait_for_timeout(50)
    assert np.abs(np.array(pixels(page.locator(DECODED))) - np.array(shown)).max() <= 1
    assert page.get_by_label("light", exact=True).input_value() == "0"


def test_a_comparison_that_loads_does_not_replace_the_page_behind_it(
    page: Page, address: str, smooth: Run, stepped: Run
) -> None:
    page.goto(address)
    page.wait_for_selector(".rows .row")
    held: list[Any] = []
    page.route(f"**/api/runs/{stepped.name}", lambda route: held.append(route))
    page.goto(f"{address}#/compare/{smooth.name},{stepped.name}")
    page.get_by_text("Opening the runs").wait_for()
    page.go_back()
    page.wait_for_selector(".rows .row")
    with page.expect_response(f"**/api/runs/{stepped.name}"):
        held[0].continue_()
    page.wait_for_timeout(200)
    assert page.locator(".comparison").count() == 0
    assert page.locator(".rows .row").count() == 2


@pytest.mark.parametrize("bad", ["#/run/", "#/compare/", "#/run/%", "#/nowhere/x", "#/run"])
def test_a_wrong_address_is_a_sentence(page: Page, address: str, bad: str) -> None:
    page.goto(f"{address}{bad}")
    page.get_by_text("This address leads nowhere").wait_for()


def test_ticks_are_round_and_points_have_shapes(page: Page, address: str) -> None:
    page.goto(address)
    page.wait_for_selector(".rows .row")
    said = page.evaluate(
        """async () => {
          const { makeScatter } = await import("unweave/scatter");
          const texts = [];
          const write = CanvasRenderingContext2D.prototype.fillText;
          CanvasRenderingContext2D.prototype.fillText = function (text) { texts.push(text); };
          const chart = makeScatter(() => {});
          document.querySelector(".table").append(chart.element);
          const x = { name: "x", values: [0.00074123, 0.00077991, 0.0021, 0.0019] };
          const y = { name: "y", values: [1.37, 10, 1000, 5000.5] };
          const colour = { name: "c", values: ["a", "b", "a", "b"] };
          chart.draw({ rows: [0, 1, 2, 3], x, y, colour, name: String });
          const shapes = [...chart.element.querySelectorAll(".legend path")].map((path) => path.getAttribute("d"));
          chart.draw({ rows: [], x, y, colour, name: String });
          CanvasRenderingContext2D.prototype.fillText = write;
          return { texts, shapes };
        }"""
    )
    texts = said["texts"][: said["texts"].index("y (log scale)")]
    assert texts == ["0.001", "0.0015", "0.002", "10", "100", "1,000", "x"]
    assert len(set(said["shapes"])) == 2


def test_facts_are_folded_on_a_phone_and_charts_grow_with_the_window(page: Page, smooth: Run) -> None:
    page.add_init_script(
        """const write = CanvasRenderingContext2D.prototype.fillText;
        window.sizes = [];
        CanvasRenderingContext2D.prototype.fillText = function (...given) {
          window.sizes.push(parseFloat(this.font) * this.getTransform().d / devicePixelRatio);
          return write.apply(this, given);
        };"""
    )
    with served(find_selection(str(smooth.folder))) as address:
        for width, shown, least, most in ((390, False, 11.9, 12.1), (3840, True, 18, 19)):
            page.set_viewport_size({"width": width, "height": 844})
            page.goto("about:blank")
            page.goto(address)
            page.wait_for_selector(f"{DECODED}[data-frame]")
            assert page.locator(".heading .facts").is_visible() == shown
            page.wait_for_function("() => window.sizes.length > 0")
            sizes = page.evaluate("() => window.sizes")
            assert least < min(sizes) <= max(sizes) < most
        page.set_viewport_size({"width": 390, "height": 844})
        page.locator(".heading .facts").wait_for(state="hidden")
        page.get_by_text("About this run").click()
        page.locator(".heading .facts").wait_for()


def test_a_run_without_weights_shows_its_curves(page: Page, tmp_path: Path, smooth: Run) -> None:
    folder = tmp_path / smooth.name
    folder.mkdir()
    for name in ("configuration.json", "log.jsonl", "state.json"):
        shutil.copy(smooth.folder / name, folder)
    with served(find_selection(str(tmp_path))) as address:
        page.goto(f"{address}#/run/{smooth.name}")
        page.get_by_text("has no weights").wait_for()
        page.get_by_role("heading", name="β-VAE on bars").wait_for()
        page.wait_for_selector(".curve")
        assert str(tmp_path) not in page.inner_text(".heading")


def test_markup_in_the_files_of_a_run_stays_text(page: Page, tmp_path: Path, smooth: Run) -> None:
    markup = "<img src=x onerror=alert(1)>"
    folder = tmp_path / "a run, with #signs & %20"
    shutil.copytree(smooth.folder, folder)
    (folder / "label").write_text(markup)
    log = json.loads((folder / "log.jsonl").read_text().splitlines()[0])
    (folder / "log.jsonl").write_text(json.dumps({**log, markup: 1.0}) + "\n")
    with served(find_selection(str(tmp_path))) as address:
        page.goto(address)
        page.get_by_role("cell", name=markup).wait_for()
        page.locator(".rows a").click()
        page.wait_for_selector(f"{DECODED}[data-frame]")
        page.locator("dd").filter(has_text=markup).wait_for()  # the label
        page.locator("figcaption").filter(has_text=markup).wait_for()  # a term of the loss
        assert page.locator("img").count() == 0


def strip_of(page: Page, latent: int) -> np.ndarray[Any, Any]:
    """Return the pictures (n, 16, 16, 4) of the strip of a latent that cannot be moved."""
    page.wait_for_selector(f"[data-latent='{latent}'] .strip[data-frame]")
    return frames(page.locator(f"[data-latent='{latent}'] .strip"))


def test_codes_with_images_show_what_each_latent_follows(page: Page) -> None:
    data = bars()
    place, width, light = data.space.at(torch.arange(data.num_images)).T
    labels = {"place": place, "light": [("dim", "bright")[value] for value in light], "width": width}
    noise = torch.randn(len(place), generator=torch.Generator().manual_seed(0))
    values = torch.stack([noise, place.float()], dim=1)
    with served(select_given([unweave.Codes(values, labels, images=data.rows(range(72)), name="mine")])) as address:
        page.goto(address)
        page.wait_for_selector(".follow-matrix")
        assert page.locator("h1").inner_text().startswith("mine")
        assert "There is no decoder" in page.locator(".codes").inner_text()
        followed = page.locator("[data-latent='1'] .factor").inner_text()
        assert followed.startswith("→ place ")
        assert "above chance (0." in followed
        assert page.locator("[data-latent='0'] .factor").inner_text() == "no factor above chance"
        assert page.locator(".follow-matrix th[scope=col]").all_inner_texts() == ["place", "light", "width"]
        assert page.get_by_text("Factors that no latent follows, or only weakly: light, width.").count() == 1
        columns = strip_of(page, 1)[..., 0].sum(1).argmax(1)  # where each bar begins or is brightest
        assert (np.diff(columns) >= 0).all()
        assert columns[0] == 0
        assert columns[-1] >= 11
        assert page.get_by_role("link", name="All runs").count() == 0


def test_an_encoder_without_a_decoder_shows_the_data_along_its_latents(page: Page) -> None:
    def encode(images: torch.Tensor) -> torch.Tensor:
        return torch.stack([images.amax((1, 2, 3)), images[:, 0].amax(1).argmax(1)], dim=1)

    with served(select_given([unweave.Encoder(encode, bars(), name="mine:encode")])) as address:
        page.goto(address)
        page.wait_for_selector(".follow-matrix")
        assert page.locator("[data-latent='0'] .factor").inner_text().startswith("→ light 0.9")
        peaks = strip_of(page, 0)[..., :3].max((1, 2, 3))
        assert (peaks == [120] * 5 + [peaks[5]] + [255] * 5).all()


def test_an_encoder_with_a_decoder_is_moved(page: Page, smooth: Run) -> None:
    class Own:
        def __call__(self, images: torch.Tensor) -> torch.Tensor:
            return smooth.encode(images)

        def decode(self, codes: torch.Tensor) -> torch.Tensor:
            return smooth._decode(codes)

    with served(select_given([unweave.Encoder(Own(), smooth.data())])) as address:
        page.goto(address)
        page.wait_for_selector(f"{DECODED}[data-frame]")
        assert_shows(page, page.locator(DECODED), smooth.decode(first_code(smooth)))
        page.wait_for_selector(".latent .jacobian[data-frame]")


def test_an_unknown_run_is_a_sentence(page: Page, address: str) -> None:
    page.goto(f"{address}#/run/0123456789abcdef")
    page.get_by_text("unknown run '0123456789abcdef'").wait_for()


@pytest.mark.parametrize("page", [{"viewport": {"width": 360, "height": 700}}], indirect=True)
def test_nothing_sticks_out_of_a_narrow_window(page: Page, address: str, smooth: Run, stepped: Run) -> None:
    for view in (f"#/run/{smooth.name}", "#/", f"#/compare/{smooth.name},{stepped.name}"):
        page.goto(f"{address}{view}")
        page.wait_for_selector(f"{DECODED}[data-frame], .rows .row")
        assert page.evaluate("document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("page", [{"color_scheme": "light"}, {"color_scheme": "dark"}], indirect=True)
def test_the_page_follows_the_colours_of_the_system(page: Page, address: str) -> None:
    page.goto(address)
    paper, ink = page.evaluate(
        "() => { const s = getComputedStyle(document.body); return [s.backgroundColor, s.color]; }"
    )
    light = sum(int(part) for part in paper.strip("rgb()").split(",")) > sum(
        int(p) for p in ink.strip("rgb()").split(",")
    )
    assert light == page.evaluate("() => matchMedia('(prefers-color-scheme: light)').matches")


def test_the_page_is_reached_by_the_keyboard(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    reached = set()
    for _ in range(60):
        page.keyboard.press("Tab")
        reached.add(
            page.evaluate(
                "() => document.activeElement.getAttribute('aria-label') ?? document.activeElement.textContent"
            )
        )
    wanted = {"Back to start", "place", "From A to B", "Set A", "Random image"}
    assert wanted <= reached
    assert sum(name.startswith("Latent z") for name in reached) == 4
    assert sum(" and place: " in name for name in reached) == 1  # the heat map is one stop, and arrow keys go on
    page.locator(".cell").first.focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowDown")
    name = page.evaluate("() => document.activeElement.getAttribute('aria-label')")
    second = page.locator(".latent").nth(1).get_attribute("data-latent")
    assert name.startswith(f"z{second} and width: ")


@pytest.mark.parametrize(
    "page",
    [{"color_scheme": "light"}, {"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}],
    indirect=True,
)
def test_axe_finds_no_violation(page: Page, address: str, smooth: Run, stepped: Run) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for view in (f"#/run/{smooth.name}", "#/", f"#/compare/{smooth.name},{stepped.name}", "#/nowhere"):
        page.goto(f"{address}{view}")
        page.wait_for_selector(f"{DECODED}[data-frame], .card .strip[data-frame], .notice:not([hidden])")
        found = axe.run(page).response["violations"]
        assert [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found] == [], view


def test_tables_sort_and_filter(page: Page, address: str) -> None:
    page.goto(address)
    found = page.evaluate(
        """async () => {
          const { sorted, parseFilter } = await import("unweave/columns");
          const columns = [
            { name: "recipe", values: ["qlae", "vae", "beta_vae", null] },
            { name: "mig", values: [0.1, null, 0.30, -2] },
            { name: "net.width", values: ["10", "9", "1", "2"] },
          ];
          const rows = [0, 1, 2, 3];
          const kept = (text) => rows.filter(parseFilter(text, columns));
          const problem = (text) => { try { kept(text); } catch (error) { return error.message; } };
          return [
            sorted(rows, columns[1], false), sorted(rows, columns[1], true), sorted(rows, columns[0], false),
            sorted(rows, columns[2], false), kept("vae"), kept("recipe=vae"), kept("mig>=0.1"), kept("mig < 0.3 qla"),
            kept("recipe != vae"), kept(""), problem("mig > x"), problem("nothing = 1"),
          ];
        }"""
    )
    assert found == [
        [3, 0, 2, 1],
        [2, 0, 3, 1],
        [2, 0, 1, 3],
        [2, 3, 1, 0],
        [1, 2],
        [1],
        [0, 2],
        [0],
        [0, 2, 3],
        [0, 1, 2, 3],
        "The column “mig” is compared with a number, not with “x”.",
        "There is no column “nothing”.",
    ]
