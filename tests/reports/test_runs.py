from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.reading import check_self_contained
from unweave import Run
from unweave.errors import InputError
from unweave.reports import report
from unweave.reports.runs import MOST


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
    command = "unweave train beta_vae tests.study.tiny:Dots --steps 3 --batch 4 --net tests.study.tiny:linear"
    assert f"{command} --set beta=2 --set latents=2" in shown.text
    assert "barely better than the mean image" in shown.text
    assert "kl.weight" in shown.text


def test_the_comparison_of_several_runs(runs: list[Run], store: Path, tmp_path: Path) -> None:
    path = report([run.name for run in runs[::2]], tmp_path / "report.html", store=store)
    page = check_self_contained(path.read_text())
    assert path.stat().st_size < MOST
    assert "Comparison of 2 runs" in page.text
    assert "Settings that differ" in page.text
    assert page.text.count("unweave train ") == 2
    rows = " ".join(page.text.split("Settings that differ")[2].split())  # after the contents and the heading
    assert "recipe beta_vae ae" in rows
    assert "kl.weight 2 –" in rows


def test_no_run_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="at least one run"):
        report([], tmp_path / "report.html")
