"""What notebooks show: tables with the numbers, and pictures that can be opened."""

from __future__ import annotations

import base64
import io
import re
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image

import unweave
from tests.study.tiny import SPEC
from tests.training.small import bars, trained
from unweave import progress
from unweave.questions._notebook import COLUMNS, IMAGES, WIDTH
from unweave.store.folder import SUMMARY


def picture(html: str) -> Image.Image:
    """The picture in a text."""
    (content,) = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return Image.open(io.BytesIO(base64.b64decode(content)))


def test_a_data_set_has_its_factors_and_images() -> None:
    data = unweave.load("xysquares", size=8)
    html = data._repr_html_()
    assert "<b>XYSquares</b>" in html
    for name, size, kind in zip(data.space.names, data.space.sizes, data.space.kinds, strict=True):
        assert re.search(rf"<td[^>]*>{name}</td><td[^>]*>{size}</td><td[^>]*>{kind}</td>", html)
    scale = WIDTH // COLUMNS // 8
    shown = np.asarray(picture(html))
    assert shown.shape == (IMAGES // COLUMNS * 8 * scale, COLUMNS * 8 * scale, 3)
    first = data.sample(IMAGES, torch.Generator().manual_seed(0)).images[COLUMNS].permute(1, 2, 0).numpy()
    np.testing.assert_array_equal(shown[8 * scale :: scale, : 8 * scale : scale], first)  # of the second row


def test_a_run_has_its_scores_and_traversals(tmp_path: Path) -> None:
    data = unweave.load("xysquares", size=16)
    run = trained(tmp_path, data=data, steps=2)
    run.label = "<b>bold"
    unweave.score(run, metrics=["mig"], samples=60, test_samples=20)
    html = run._repr_html_()
    assert re.search(rf"<td[^>]*>MIG</td><td[^>]*>{run.scores.table['mig']:.3f}</td>", html)
    assert f"&lt;b&gt;bold ({run.name})" in html
    assert "finished at step 2 of 2" in html
    assert picture(html).width > 300
    (run.folder / SUMMARY).unlink()  # as of a run that is still trained
    assert "<img" not in run._repr_html_()


def test_a_run_whose_data_are_not_here_has_no_picture(tmp_path: Path) -> None:
    html = trained(tmp_path, data=bars(), steps=2)._repr_html_()  # an array in memory
    assert "β-VAE" in html
    assert "<img" not in html


def test_a_study_has_its_results_after_a_bar(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    study = unweave.Study(SPEC, store=tmp_path)
    html = study._repr_html_()
    assert re.search(r"<td[^>]*>not started</td><td[^>]*>6</td>", html)
    assert "<img" not in html
    monkeypatch.setitem(progress.SECONDS, "normal", 0.0)
    study.run(workers=1)
    shown = capsys.readouterr().err.splitlines()
    assert re.fullmatch(r"study tiny: 0 of 6 runs; \d under way", shown[0])
    assert any(re.match(r"study tiny: 6 of 6 runs, ([\d.]+/s, )?0 s left", line) for line in shown)
    html = study._repr_html_()
    assert re.search(r"<td[^>]*>finished</td><td[^>]*>6</td>", html)
    mig = study.table({"recipe": "ae"})["mig"]
    assert f"{mig.mean():.3f} ± {mig.std():.3f}" in html
    assert picture(html).width > 300


def test_scores_and_images_without_factors() -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 6, 6), dtype=np.uint8)
    html = unweave.load(images)._repr_html_()
    assert "40 of 1 × 6 × 6" in html
    assert picture(html).mode == "L"


def test_a_bar_is_shown_below_a_cell_and_taken_away(monkeypatch: pytest.MonkeyPatch) -> None:
    shell = pytest.importorskip("IPython.core.interactiveshell").InteractiveShell.instance()
    published = pytest.importorskip("IPython.core.displaypub").CapturingDisplayPublisher()
    monkeypatch.setattr(shell, "display_pub", published)
    monkeypatch.setattr("rich.console._is_jupyter", lambda: True)
    monkeypatch.setattr(progress._NotebookBar, "seconds", 0.0)
    with progress.progress("training <vae>", 4, unit="steps") as advance:
        advance(1, "loss 3")
        advance(1)
    texts = [output["data"]["text/html"] for output in published.outputs]
    assert len(texts) == 3
    assert '<progress value="1" max="4"></progress> training &lt;vae&gt;: 1 of 4 steps' in texts[0]
    assert "; loss 3" in texts[0]
    assert '<progress value="2" max="4"></progress> training &lt;vae&gt;: 2 of 4 steps' in texts[1]
    assert texts[2] == ""
    assert len({output["transient"]["display_id"] for output in published.outputs}) == 1  # one place
    assert [output["update"] for output in published.outputs] == [False, True, True]
    with progress.progress("scoring dci", None):
        assert published.outputs[-1]["data"]["text/html"] == "<div>scoring dci</div>"
    monkeypatch.setattr(progress._NotebookBar, "seconds", 60.0)
    with progress.progress("short", 4) as advance:
        advance(4)
    assert len(published.outputs) == 5  # nothing of what takes a moment
