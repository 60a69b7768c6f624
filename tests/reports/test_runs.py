from __future__ import annotations

from pathlib import Path

import pytest

import unweave
from tests.reports.reading import check_self_contained
from unweave import Run
from unweave.errors import InputError
from unweave.reports import report
from unweave.reports.facts import read_facts
from unweave.reports.run_report import MOST, separated_section


def test_the_report_of_a_run(runs: list[Run], page: Path) -> None:
    assert page.stat().st_size < MOST
    shown = check_self_contained(page.read_text())
    assert runs[0].label in shown.text  # as text, not as an element
    for heading in (
        "Scores",
        "Reconstruction",
        "What the latents do",
        "Training",
        "Configuration",
        "How to repeat this",
    ):
        assert heading in shown.text
    assert f"unweave train --trust --from {runs[0].name}" in shown.text
    assert "This run has collapsed: KL" in shown.text
    assert "kl.weight" in shown.text


def test_the_comparison_of_several_runs(runs: list[Run], store: Path, tmp_path: Path) -> None:
    path = report([run.name for run in runs[::2]], tmp_path / "report.html", store=store)
    page = check_self_contained(path.read_text())
    assert path.stat().st_size < MOST
    assert "Comparison of 2 runs" in page.text
    assert "Settings that differ" in page.text
    assert page.text.count(f"unweave train --trust --from {runs[0].name[:4]}") == 1
    rows = " ".join(page.text.split("Settings that differ")[2].split())  # after the contents and the heading
    assert "recipe beta_vae ae" in rows
    assert "kl.weight 2" in rows
    assert "kl.reduction" not in rows.split("Scores")[0]  # which the other run does not have


def test_methods_show_no_settings_that_they_do_not_have(runs: list[Run], tmp_path: Path) -> None:
    data = "tests.study.tiny:Dots"
    linear = unweave.train("pca", data, store=tmp_path, latents=2, samples=50, threads=1, device="cpu")
    page = check_self_contained(report([runs[2], linear], tmp_path / "report.html").read_text())
    rows = " ".join(page.text.split("Settings that differ")[2].split("Scores")[0].split())
    assert "recipe ae pca" in rows
    assert "samples 50" in rows  # of PCA; the other method is not fitted to a sample
    assert "steps 3 " in rows
    assert "lr 0.0001 " in rows
    assert "net tests.study.tiny:linear " in rows
    assert "optimiser.beta1" not in rows
    settings = page.text.split(f"Settings of {linear.label or 'PCA'}")[1].split("as JSON")[0]
    assert "latent.size" in settings
    assert not any(name in settings for name in ("lr", "batch", "net", "start", "devices"))


def test_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one run"):
        report([], tmp_path / "report.html")


def test_factors_have_the_names_that_figures_print() -> None:
    run = unweave.open("zoo:factor-vae-rooms3d")
    assert isinstance(run, Run)
    (section,) = separated_section([read_facts(run.folder)])
    assert "→ floor hue 0." in section.body
    assert "floor_hue" not in section.body
