"""Measure the page of ``unweave explore``, served and exported: latency, frames per second, weight, and 12,600 rows.

``python benchmarks/page.py`` trains two short runs, serves and exports them, drives Chromium, and writes ``page.md``.
"""

from __future__ import annotations

import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import torch

import unweave
from unweave.explore import export_page, find_selection
from unweave.explore.app import STATIC
from unweave.explore.run_table import Table

ROWS = 12_600
DRAG = """async (seconds) => {
  const slider = document.querySelector(".latent input[type=range]");
  const canvas = document.querySelector("canvas[data-role=decoded]");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const first = Number(canvas.dataset.frame);
  const began = performance.now();
  let moves = 0;
  while (performance.now() - began < 1000 * seconds) {
    await new Promise(requestAnimationFrame);
    const share = 0.5 + 0.5 * Math.sin((performance.now() - began) / 400);
    slider.value = low + share * (high - low);
    slider.dispatchEvent(new Event("input"));
    moves += 1;
  }
  const passed = (performance.now() - began) / 1000;
  return { frames: (Number(canvas.dataset.frame) - first) / passed, moves: moves / passed };
}"""
LATENCY = """async (moves) => {
  const slider = document.querySelector(".latent input[type=range]");
  const canvas = document.querySelector("canvas[data-role=decoded]");
  const [low, high] = [Number(slider.min), Number(slider.max)];
  const times = [];
  for (let i = 0; i < moves; i += 1) {
    const drawn = new Promise((done) => {
      const observer = new MutationObserver(() => { observer.disconnect(); done(); });
      observer.observe(canvas, { attributes: true, attributeFilter: ["data-frame"] });
    });
    const began = performance.now();
    slider.value = low + ((i + 1) / (moves + 1)) * (high - low);
    slider.dispatchEvent(new Event("input"));
    await drawn;
    times.push(performance.now() - began);
  }
  times.sort((a, b) => a - b);
  return times[Math.floor(moves / 2)];
}"""
SCROLL = """async () => {
  const grid = document.querySelector(".grid");
  const gaps = [];
  let last = performance.now();
  for (let i = 0; i < 120; i += 1) {
    grid.scrollTo(0, (grid.scrollHeight * i) / 120);
    await new Promise(requestAnimationFrame);
    const now = performance.now();
    gaps.push(now - last);
    last = now;
  }
  gaps.sort((a, b) => a - b);
  const began = performance.now();
  document.querySelectorAll(".head button")[9].click();
  await new Promise(requestAnimationFrame);
  const sort = performance.now() - began;
  return { median: gaps[60], worst: gaps.at(-3), sort, rows: document.querySelectorAll(".rows .row").length };
}"""


@contextmanager
def served(store: Path) -> Iterator[str]:
    """Start the command, as a user would, and yield the address of the page."""
    program = str(Path(sys.executable).with_name("unweave"))
    command = [program, "explore", "--store", str(store), "--port", "0", "--no-browser"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        address = next(word for word in server.stdout.readline().split() if word.startswith("http"))
        for _ in range(600):
            try:
                httpx.get(f"{address}api/page")
                break
            except httpx.TransportError:
                time.sleep(0.1)
        try:
            yield address
        finally:
            server.terminate()


def train(store: Path) -> list[tuple[str, unweave.Run]]:
    """Train a run at 32 and one at 64 pixels; how long does not matter here."""
    small, large = (unweave.load("rooms3d", size=size) for size in (32, 64))
    return [
        ("32 × 32, 10 latents", unweave.train("beta_vae", small, store=store, steps=2, batch=2)),
        ("64 × 64, 10 latents", unweave.train("beta_vae", large, store=store, steps=2, batch=2)),
    ]


def measure_requests(client: httpx.Client, run: unweave.Run) -> dict[str, float]:
    """Return the median milliseconds of each request, after a first one that is not counted."""
    latents = run.configuration.latent.size
    base = f"/api/runs/{run.name}"
    began = time.perf_counter()
    client.get(base)
    found = {"open": 1000 * (time.perf_counter() - began)}
    one, strips = (np.zeros((n, latents), np.float32).tobytes() for n in (1, 9 * latents))
    for name, path, body, repeats in (
        ("one picture", "decode", one, 200),
        ("all strips", "decode", strips, 10),
        ("Jacobian", "jacobian", one, 10),
    ):
        times = []
        for _ in range(repeats + 1):
            began = time.perf_counter()
            client.post(f"{base}/{path}", content=body).raise_for_status()
            times.append(1000 * (time.perf_counter() - began))
        found[name] = statistics.median(times[1:])
    code = torch.zeros(1, latents)
    began = time.perf_counter()
    for _ in range(200):
        run.decode(code)
    found["decoder alone"] = 5 * (time.perf_counter() - began)
    return found


def measure_picture(page: Any) -> dict[str, float]:
    """Return how long the picture of an open page takes after a move of a slider, and how often it is drawn."""
    page.wait_for_timeout(2000)  # until the strips and the Jacobian are drawn
    latency = page.evaluate(LATENCY, 50)
    page.wait_for_timeout(2000)
    return {"slider": latency, **page.evaluate(DRAG, 4)}


def measure_exported(browser: Any, run: unweave.Run, path: Path) -> dict[str, float]:
    """Export the page of a run, open it from disk without a network, and measure it."""
    exported = export_page(run, path, data=run.data())
    context = browser.new_context(offline=True)
    page = context.new_page()
    began = time.perf_counter()
    page.goto(path.as_uri())
    page.wait_for_selector("canvas[data-role=decoded][data-frame]", timeout=120_000)
    opened = 1000 * (time.perf_counter() - began)
    found = {"size": exported.size, "rest": exported.size - exported.weights, "open": opened, **measure_picture(page)}
    context.close()
    return found


def many_runs(run: unweave.Run, store: Path) -> None:
    """Copy what a table reads of a run to 12,600 folders, with other settings and scores."""
    fields = json.loads((run.folder / "configuration.json").read_text())
    state = (run.folder / "state.json").read_text()
    generator = np.random.default_rng(0)
    for number in range(ROWS):
        folder = store / f"{number:016x}"
        folder.mkdir(parents=True)
        fields |= {"seed": number % 50, "recipe": ("beta_vae", "factor_vae", "dip_vae_i")[number % 3]}
        fields["terms"][-1]["weight"] = float(2 ** (number % 7))
        (folder / "configuration.json").write_text(json.dumps(fields))
        (folder / "state.json").write_text(state)
        entries = [
            {"metric": name, "protocol": {}, "version": "", "result": {"score": float(generator.random())}}
            for name in ("mig", "sap", "modularity")
        ]
        (folder / "scores.json").write_text(json.dumps(entries))


def measure_table(store: Path) -> dict[str, float]:
    """Return the seconds to read the table, to look at it again, and to send it."""
    table = Table(find_selection(str(store)))
    found = {}
    for name, work in (("first", table.read), ("again", table.read), ("answer", table.look)):
        began = time.perf_counter()
        work()
        found[name] = time.perf_counter() - began
    return found


def weight() -> tuple[int, int]:
    """Return the number and the bytes of the files of the page."""
    files = [path for path in STATIC.rglob("*") if path.is_file() and "offline" not in path.parts]
    return len(files), sum(path.stat().st_size for path in files)


def main() -> None:
    """Measure everything and write the page."""
    from playwright.sync_api import sync_playwright

    with tempfile.TemporaryDirectory() as place, sync_playwright() as playwright:
        store, large = Path(place) / "store", Path(place) / "large"
        torch.set_num_threads(1)  # as the server does
        runs = train(store)
        many_runs(runs[0][1], large)
        browser = playwright.chromium.launch(executable_path=shutil.which("chromium"))
        rows, exported = [], []
        with served(store) as address, httpx.Client(base_url=address, timeout=120) as client:
            for title, run in runs:
                found: dict[str, Any] = dict(measure_requests(client, run))
                page = browser.new_page()
                page.goto(f"{address}#/run/{run.name}")
                page.wait_for_selector("canvas[data-role=decoded][data-frame]")
                found |= measure_picture(page)
                rows.append((title, found))
                page.close()
        for title, run in runs:
            exported.append((title, measure_exported(browser, run, Path(place) / f"{run.name}.html")))
        table = measure_table(large)
        with served(large) as address:
            page = browser.new_page()
            page.goto(address)
            page.get_by_text(f"{ROWS:,} runs").wait_for(timeout=120_000)
            page.wait_for_timeout(1000)
            scrolled = page.evaluate(SCROLL)
        browser.close()
    write(rows, exported, table, scrolled)


def write(
    rows: list[tuple[str, dict[str, Any]]],
    exported: list[tuple[str, dict[str, float]]],
    table: dict[str, float],
    scrolled: dict[str, float],
) -> None:
    """Write ``page.md``."""
    load = Path("/proc/loadavg").read_text().split()[0] if Path("/proc/loadavg").exists() else "unknown"
    lines = [
        "# The page of `unweave explore`",
        "",
        f"Made by `python benchmarks/page.py` on a CPU of {os.cpu_count()} cores ({platform.machine()}, "
        f"load average {load}), torch {torch.__version__}. Server, browser (headless Chromium, drawing in software) "
        "and model share these cores. Milliseconds are medians, from the request to the last byte of the answer.",
        "",
        "| run | decoder alone | one picture | all strips | Jacobian | first opening | slider to picture | "
        "frames per second |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for title, found in rows:
        numbers = [
            f"{found[name]:.1f} ms"
            for name in ("decoder alone", "one picture", "all strips", "Jacobian", "open", "slider")
        ]
        lines.append(f"| {title} | {' | '.join(numbers)} | {found['frames']:.0f} |")
    lines += [
        "",
        "`unweave explore RUN --export page.html`, opened from disk without a network; the decoder is computed by "
        "onnxruntime-web in one thread of the browser:",
        "",
        "| run | file | beside the weights | first picture | slider to picture | frames per second |",
        "|---|---|---|---|---|---|",
    ]
    for title, found in exported:
        sizes = " | ".join(f"{found[name] / 1e6:.1f} MB" for name in ("size", "rest"))
        times = " | ".join(f"{found[name]:.1f} ms" for name in ("open", "slider"))
        lines.append(f"| {title} | {sizes} | {times} | {found['frames']:.0f} |")
    files, size = weight()
    lines += ["", "| what | measured | target |", "|---|---|---|"]
    lines += [f"| frames per second, {title} | {found['frames']:.0f} | ≥ 20 |" for title, found in rows]
    lines += [f"| frames per second, exported, {title} | {found['frames']:.0f} | ≥ 20 |" for title, found in exported]
    lines += [
        f"| MB beside the weights, exported, {title} | {found['rest'] / 1e6:.1f} | ≤ 8 |" for title, found in exported
    ]
    lines += [
        "",
        "*Frames per second* counts pictures on the canvas while a slider is moved on every frame of the browser "
        "for four seconds. *Slider to picture* is the median time from a single move of a slider until the picture is "
        "drawn. *First picture* is the time from opening the file, which unpacks the module of onnxruntime-web. *All "
        "strips* is nine pictures for each latent in one request. *First opening* encodes 4,000 "
        "images of the data for the ranges and the mutual information.",
        "",
        f"The page itself is {files} files, {size / 1000:.0f} kB, without compression and without a build.",
        "",
        f"A store of {ROWS:,} runs is read in {table['first']:.1f} s, in the background while the page fills; looking "
        f"for changes takes {table['again']:.2f} s, and the answer {table['answer']:.2f} s. In the browser, a frame of "
        f"scrolling through all rows takes {scrolled['median']:.0f} ms (median) and {scrolled['worst']:.0f} ms (98th "
        f"percentile), sorting and drawing the chart {scrolled['sort']:.0f} ms; {scrolled['rows']:.0f} rows are in the "
        "document at a time.",
        "",
    ]
    Path(__file__).with_suffix(".md").write_text("\n".join(lines), encoding="utf-8")


if __name__ == "__main__":
    main()
