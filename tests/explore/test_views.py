"""A study, a comparison and the smaller views of a run in a real browser, against what the models say."""

from __future__ import annotations

import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

import httpx
import numpy as np
import pytest
import torch

import unweave
from tests.explore.browser import DECODED, assert_shows, first_code, frames, in_browser, open_page, start_image
from tests.explore.conftest import served
from tests.training.small import SMALL
from unweave import Run
from unweave.explore import find_selection
from unweave.explore.noise_floor import noise_floor
from unweave.store.folder import read_label
from unweave.store.record import read_record
from unweave.store.state import State, write_state
from unweave.study import Study
from unweave.training import open_run
from unweave.training.configuration import write_configuration

if TYPE_CHECKING:
    from playwright.sync_api import Locator, Page

pytestmark = in_browser
MIGS = {(1.0, 0): 0.1, (1.0, 1): 0.2, (1.0, 2): 0.6, (4.0, 0): 0.5, (4.0, 1): 0.9}  # of trained runs, by beta and seed


@pytest.fixture(scope="module")
def study(tmp_path_factory: pytest.TempPathFactory, bars_file: Path) -> Study:
    """A study of seven runs: five are trained and have given scores, one failed, and one is not begun."""
    folder = tmp_path_factory.mktemp("few")
    spec = folder / "few.toml"
    spec.write_text(
        f'name = "few"\nmetrics = ["mig"]\n[score]\nsamples = 72\ntest_samples = 36\n'
        f'[fixed]\ndata = "{bars_file}"\nsteps = 6\nbatch = 8\n'
        'latents = 3\nnet = "conv16"\n[[grid]]\nrecipe = "beta_vae"\nbeta = [1.0, 4.0]\nseeds = 3\n'
        '[[grid]]\nrecipe = "ae"\nseed = 0\n'
    )
    few = Study(spec, store=folder / "store")
    data = unweave.load(bars_file)
    for planned in few.planned:
        settings = planned.settings
        at = (settings.get("beta"), settings["seed"])
        if at in MIGS:
            given = {"beta": at[0], "seed": at[1], "latents": 3, **SMALL, "steps": 6, "log_steps": 2}
            made = unweave.train("beta_vae", data, store=few.store, **given)
            assert made.name == planned.name
            result = {"score": MIGS[at], "per_factor": [], "mutual_information": []}
            asked = {"samples": 72, "test_samples": 36, "seed": 0, "settings": {}}
            entry = {"metric": "mig", "protocol": asked, "version": "", "result": result}
            (made.folder / "scores.json").write_text(json.dumps([entry]))
        elif settings["recipe"] == "beta_vae":
            (few.store / planned.name).mkdir(parents=True)
            write_configuration(few.store / planned.name, planned.configuration)
            write_state(few.store / planned.name, State("failed", 2, "test", error="out of luck"))
    return few


@pytest.fixture(scope="module")
def study_address(study: Study) -> Iterator[str]:
    with served(find_selection(str(study.store.parent / "few.toml"), store=study.store)) as found:
        yield found


def tips(page: Page, chart: Locator, count: int) -> list[str]:
    """Go through the points of a chart by the arrow keys and return what is said about each."""
    chart.focus()
    said = []
    for _ in range(count):
        page.keyboard.press("ArrowRight")
        said.append(" | ".join(chart.locator("xpath=..").locator(".tip > *").all_inner_texts()))
    return said


def test_a_study_shows_its_progress_and_the_quartiles_of_methods(page: Page, study: Study, study_address: str) -> None:
    page.goto(study_address)
    page.get_by_text("7 runs", exact=True).wait_for()
    progress = page.get_by_role("region", name="Progress of the study")
    progress.get_by_text("The other runs need").or_(progress.get_by_text("How long the other runs")).wait_for()
    counts = progress.locator(".facts > div").all_inner_texts()
    assert ["".join(text.split()) for text in counts] == ["done5", "running0", "failed1", "waiting1"]
    chart = page.locator("canvas.methods")
    page.wait_for_function("() => document.querySelector('canvas.methods').dataset.points === '5'")
    page.get_by_text("Dashed: the noise floor").wait_for()
    said = tips(page, chart, 5)
    for beta in (1.0, 4.0):
        own = [mig for (of, _), mig in MIGS.items() if of == beta]
        low, middle, high = np.quantile(own, [0.25, 0.5, 0.75])
        wanted = f"median {middle:.3f}, quartiles {low:.3f} to {high:.3f} of {len(own)}"
        assert sum(wanted in text for text in said) == len(own)
    trained = [run for run in study.runs() if run.configuration.recipe == "beta_vae"]
    floors = [noise_floor(run, run.data(), read_record(run.folder).scores_on().values())["mig"] for run in trained]
    (floor,) = {float(re.findall(r"noise floor ([\d.]+)", text)[0]) for text in said}  # that of one run
    assert min(abs(floor - each) for each in floors) <= 0.0005


def test_parallel_coordinates_and_curves_of_a_study_open_their_runs(
    page: Page, study: Study, study_address: str
) -> None:
    page.goto(study_address)
    page.get_by_text("7 runs", exact=True).wait_for()
    page.get_by_text("Parallel coordinates", exact=True).click()
    chart = page.locator("canvas.parallel")
    page.wait_for_function("() => document.querySelector('canvas.parallel').dataset.points === '5'")
    label = chart.get_attribute("aria-label") or ""
    assert "of the 5 runs with scores" in label
    assert "MIG" in label
    assert "beta" in label
    assert sorted(re.findall(r"MIG ([\d.]+)", " ".join(tips(page, chart, 5)))) == [
        f"{mig:.3f}" for mig in sorted(MIGS.values())
    ]
    page.get_by_text("Curves", exact=True).click()
    page.wait_for_function("() => document.querySelector('.panel:not([hidden]) canvas.curve').dataset.points === '5'")
    assert "chart=curves" in page.url
    curves = page.locator(".panel:not([hidden])")
    curves.get_by_label("Plot").select_option("kl")
    said = tips(page, curves.locator("canvas.curve"), 5)
    last = [run.log[-1]["kl"] for run in study.runs() if run.configuration.recipe == "beta_vae"]
    found = [float(re.findall(r"KL ([\d.]+)", text)[0]) for text in said]
    assert sorted(found) == pytest.approx(sorted(last), rel=2e-3)
    assert curves.locator(".legend > *").count() == 5
    curves.get_by_label("log scale").check()
    assert "term=kl" in page.url
    assert "log=1" in page.url
    page.keyboard.press("Escape")
    curves.locator("canvas.curve").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    page.wait_for_selector(f"{DECODED}[data-frame]")
    assert page.url.rpartition("/")[2].partition("?")[0] in {run.name for run in study.runs()}


@pytest.mark.parametrize("page", [{"color_scheme": "dark"}, {"viewport": {"width": 390, "height": 800}}], indirect=True)
def test_axe_finds_no_violation_on_the_page_of_a_study(page: Page, study_address: str) -> None:
    axe = pytest.importorskip("axe_playwright_python.sync_playwright").Axe()
    for chart in ("methods", "points", "parallel", "curves"):
        page.goto(f"{study_address}#/?chart={chart}")
        page.reload()
        page.wait_for_selector(".panel:not([hidden]) canvas[data-points]")
        found = axe.run(page).response["violations"]
        assert [(rule["id"], [node["html"][:160] for node in rule["nodes"][:3]]) for rule in found] == [], chart


def test_the_latents_of_a_run_are_ordered_by_factor(
    page: Page, address: str, client: httpx.Client, smooth: Run
) -> None:
    open_page(page, address, smooth)
    about = described(client, smooth)
    places = {factor["name"]: place for place, factor in enumerate(about["factors"])}
    order = {each["index"]: places.get(each["factor"], len(places)) for each in about["latents"]}
    rows = page.locator(".latents [data-latent]")
    shown = rows.evaluate_all("all => all.map((row) => Number(row.dataset.latent))")
    assert [order[latent] for latent in shown] == sorted(order.values())
    heads = page.locator(".heatmap thead th").all_text_contents()
    assert heads == [f"z{latent}" for latent in shown]
    page.get_by_label("Latents by").select_option("importance")
    important = [each["index"] for each in about["latents"]]
    assert important != shown
    assert rows.evaluate_all("all => all.map((row) => Number(row.dataset.latent))") == important
    assert "latents=importance" in page.url
    page.reload()
    page.wait_for_selector(f"{DECODED}[data-frame]")
    assert rows.evaluate_all("all => all.map((row) => Number(row.dataset.latent))") == important


def test_a_store_opens_with_the_runs_that_score_highest(page: Page, study: Study) -> None:
    with served(find_selection(None, store=study.store)) as address:
        page.goto(address)
        page.wait_for_selector(".card:nth-child(4)")
        page.wait_for_function("() => document.querySelector('.card .facts')?.textContent.includes('MIG')")
        scores = [float(text) for text in re.findall(r"MIG\s*([\d.]+)", page.locator(".cards").inner_text())]
        assert scores == sorted(MIGS.values(), reverse=True)[:4]


def compare(page: Page, address: str, runs: list[Run]) -> None:
    page.goto(f"{address}#/compare/{','.join(run.name for run in runs)}")
    page.wait_for_selector(".compared:nth-child(2) canvas[data-role=decoded][data-frame]")


def test_one_slider_moves_the_latents_of_all_runs_that_follow_a_factor(
    page: Page, address: str, client: httpx.Client, smooth: Run, stepped: Run
) -> None:
    compare(page, address, [smooth, stepped])
    row = page.locator(".shared-row").first
    row.locator(".strip[data-frame]").nth(1).wait_for()
    slider = row.get_by_role("slider")
    latents = [int(found) for found in re.findall(r"z(\d+)", slider.get_attribute("aria-label") or "")]
    assert len(latents) == 2
    page.wait_for_function("() => document.querySelectorAll('.shared-strip .strip[data-frame]').length >= 4")
    for share in (1.0, 0.0):
        slider.evaluate("(s, v) => { s.value = v; s.dispatchEvent(new Event('input')); }", str(200 * share))
        for place, (run, latent) in enumerate(zip((smooth, stepped), latents, strict=True)):
            turned = row.locator(".shared-strip").nth(place).get_attribute("data-turned") is not None
            about = next(each for each in described(client, run)["latents"] if each["index"] == latent)
            values = about["levels"] or [about["low"], about["high"]]
            code = run.encode(start_image(run))
            code[0, latent] = values[-1] if (share == 1.0) != turned else values[0]
            assert_shows(page, page.locator(f".compared[data-run='{run.name}'] {DECODED}"), run.decode(code))


def test_a_shared_slider_has_the_name_of_a_factor_only_if_some_run_follows_it(page: Page, address: str) -> None:
    def description(latents: list[str | None], information: list[list[float]]) -> dict[str, Any]:
        found = [{"index": i, "factor": factor, "active": True} for i, factor in enumerate(latents)]
        return {"factors": [{"name": "hue"}, {"name": "size"}], "latents": found, "mutualInformation": information}

    page.goto(address)
    weak, mixed = [[0.9, 0.0], [0.2, 0.1]], [[0.8, 0.0], [0.5, 0.4]]
    script = """async (runs) => (await import("unweave/shared-sliders")).matched(runs)
        .map(({ factor, latents }) => [factor, latents.map((latent) => latent?.index ?? null)])"""
    alone = [description(["hue", "hue"], weak), description(["hue", None], weak)]
    assert page.evaluate(script, alone) == [["hue", [0, 0]], [None, [1, 1]]]
    told = [description(["size", "hue"], [[0.0, 0.7], [0.9, 0.0]]), description(["hue", "hue"], mixed)]
    assert page.evaluate(script, told) == [["hue", [1, 0]], ["size", [0, 1]]]


def described(client: httpx.Client, run: Run) -> dict[str, Any]:
    answer: dict[str, Any] = client.get(f"api/runs/{run.name}").json()
    return answer


def test_a_comparison_has_a_table_of_what_differs_and_the_curves_of_its_runs(
    page: Page, address: str, smooth: Run, stepped: Run
) -> None:
    compare(page, address, [smooth, stepped])
    table = page.locator("table.differences")
    table.get_by_text("recipe", exact=True).wait_for()
    rows = {cells[0]: cells[1:] for cells in (text.split("\t") for text in table.locator("tr").all_inner_texts())}
    assert rows["recipe"] == ["β-VAE", "QLAE"]
    assert ["4", "3"] in rows.values()  # latents
    assert "data" not in rows  # they are trained on the same data
    assert "steps" not in rows
    chart = page.locator("canvas.curve")
    page.wait_for_function("() => document.querySelector('canvas.curve').dataset.points === '2'")
    said = tips(page, chart, 2)
    losses = [float(re.findall(r"loss ([\d.]+)", text.replace(",", ""))[0]) for text in said]
    assert losses == pytest.approx([run.log[-1]["loss"] for run in (smooth, stepped)], rel=2e-3)


def test_runs_on_different_data_are_compared_with_a_word(page: Page, store: Path, tmp_path: Path, smooth: Run) -> None:
    shutil.copytree(store, tmp_path / "store")
    images = np.random.default_rng(0).integers(0, 256, (40, 16, 16), dtype=np.uint8)
    np.savez(tmp_path / "noise.npz", images=images)
    other = unweave.train("vae", unweave.load(tmp_path / "noise.npz"), store=tmp_path / "store", latents=2, **SMALL)
    with served(find_selection(None, store=tmp_path / "store")) as address:
        compare(page, address, [smooth, other])
        page.get_by_text("These runs were trained on data that differ").wait_for()
        assert page.locator(".shared-row").count() == 0
        assert page.locator(".compared").nth(1).get_by_role("slider").count() == 2
        widths = [box["width"] for column in page.locator(".compared").all() if (box := column.bounding_box())]
        assert sum(widths) > 0.9 * 1200  # both columns share the window


def test_two_latents_move_on_the_pad(page: Page, address: str, client: httpx.Client, smooth: Run) -> None:
    open_page(page, address, smooth)
    pad = page.locator(".pad")
    page.wait_for_selector(".pad-grid[data-frame]")
    first, second = (
        int(page.get_by_label(f"Latent from {way}").input_value()) for way in ("left to right", "bottom to top")
    )
    ends = {each["index"]: (each["low"], each["high"]) for each in described(client, smooth)["latents"]}
    code = first_code(smooth)
    corners = page.locator(".pad-grid canvas")
    assert corners.count() == 49
    for at, (across, up) in {0: (0, 1), 6: (1, 1), 42: (0, 0), 48: (1, 0)}.items():
        there = code.clone()
        there[0, first], there[0, second] = ends[first][across], ends[second][up]
        assert_shows(page, corners.nth(at), smooth.decode(there))
    box = pad.bounding_box()
    assert box is not None
    pad.click(position={"x": box["width"] - 2, "y": 2})  # above and to the right
    code[0, first], code[0, second] = ends[first][1], ends[second][1]
    assert_shows(page, page.locator(DECODED), smooth.decode(code))
    page.keyboard.press("ArrowLeft")
    code[0, first] -= (ends[first][1] - ends[first][0]) / 20
    assert_shows(page, page.locator(DECODED), smooth.decode(code))
    page.wait_for_timeout(1000)  # the address is written when the code rests
    kept = [float(value) for value in unquote(page.url).partition("z=")[2].partition("&")[0].split(",")]
    assert kept == pytest.approx(code[0].tolist(), abs=1e-3)


def test_the_nearest_images_are_those_with_the_closest_codes(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    strip = page.locator(".nearest .strip")
    strip.wait_for()
    data = smooth.data()
    images = data.rows(torch.arange(data.num_images), torch.Generator())
    distances = (smooth.encode(images) - first_code(smooth)).norm(dim=1)
    titles = strip.locator("canvas").evaluate_all("all => all.map((canvas) => canvas.title)")
    found = [float(re.findall(r"distance of (\S+)", title)[0]) for title in titles]
    assert found == pytest.approx(distances.sort().values[: len(found)].tolist(), abs=0.01)
    shown = frames(strip)[0, ..., 0]  # grey
    np.testing.assert_array_equal(shown, images[distances.argmin(), 0].numpy())


def test_a_latent_is_shown_for_each_value_of_a_factor(page: Page, address: str, smooth: Run) -> None:
    open_page(page, address, smooth)
    page.get_by_role("button", name=re.compile("place")).first.click()
    page.wait_for_function("() => document.querySelector('canvas.values')?.dataset.points === '12'")
    latent = int(re.findall(r"z(\d+)", page.locator(".against figcaption").inner_text())[0])
    data = smooth.data()
    images = data.rows(torch.arange(data.num_images), torch.Generator())
    codes = smooth.encode(images)[:, latent].view(12, 6)  # the first factor has 12 values
    middles = codes.quantile(0.5, dim=1)
    said = tips(page, page.locator("canvas.values"), 12)
    for value, text in enumerate(said):
        assert text.startswith(f"place {value} | median ")
        assert text.endswith("| 6 images")
        found = float(re.findall(r"median (−?[\d.]+)", text)[0].replace("−", "-"))
        assert found == pytest.approx(float(middles[value]), abs=0.006)


def test_a_run_is_labelled_on_its_page(page: Page, store: Path, tmp_path: Path, smooth: Run) -> None:
    shutil.copytree(store, tmp_path / "store")
    folder = tmp_path / "store" / smooth.name
    with served(find_selection(None, store=tmp_path / "store")) as address:
        open_page(page, address, smooth)
        field = page.get_by_label("Label of this run")
        assert field.input_value() == "smooth"
        field.fill("the one to show")
        page.get_by_role("button", name="Save", exact=True).click()
        page.get_by_text("This run is now called the one to show.").wait_for()
        assert read_label(folder) == "the one to show"
        assert open_run("the one to show", store=tmp_path / "store").name == smooth.name
        page.goto(f"{address}#/")
        page.get_by_text("the one to show").first.wait_for()
