from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.training.small import trained
from unweave.training import loop


def test_a_collapse_is_told_during_training_and_after_it_with_a_beta_that_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "COLLAPSE_STEPS", 20)
    run = trained(tmp_path, beta=1000.0, steps=60, lr=1e-2, log_steps=10)
    advice = "too strong for 1 × 16 × 16 pixels: try --set beta=0.25"
    said = capsys.readouterr().err
    assert said.count("The posterior has collapsed at step") == 1  # once, not at every line of the log
    assert advice in said
    assert run.has_collapsed
    assert run.hint.startswith("This run has collapsed: KL ")
    assert advice in run.hint


def test_a_run_that_learns_is_not_told_to_have_collapsed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "COLLAPSE_STEPS", 20)
    run = trained(tmp_path, beta="auto", steps=60, lr=1e-2, log_steps=10)
    assert run.configuration.terms[1].weight == 0.25  # 4 · 16² / 64²
    assert "collapsed" not in capsys.readouterr().err
    assert not run.has_collapsed


def test_a_kl_that_is_strong_only_at_first_is_no_collapse(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(loop, "COLLAPSE_STEPS", 20)
    fading: dict[str, Any] = {"kl.schedule": "linear", "kl.start": 1000.0, "kl.over": 100.0}
    trained(tmp_path, beta=0.25, steps=60, lr=1e-2, log_steps=10, **fading)
    assert "collapsed" not in capsys.readouterr().err


def test_a_recipe_without_beta_and_a_small_weight_have_other_advice(tmp_path: Path) -> None:
    strong: dict[str, Any] = {"kl.weight": 500.0}
    run = trained(tmp_path, "factor_vae", steps=40, lr=1e-2, gamma=1.0, **strong)
    assert "--set kl.weight=0.25" in run.hint
    mean = trained(tmp_path, beta=100.0, reduction="mean", steps=40, lr=1e-2)
    assert "--set beta=25" in mean.hint  # the number of pixels has no part in it
