"""Trained models that come with the package: small, complete, and as good as their stored scores say."""

from __future__ import annotations

from pathlib import Path

import pytest

import unweave
from tests.cli.running import run as typed
from unweave.errors import InputError
from unweave.metrics import score
from unweave.store.damage import broken_promise
from unweave.store.folder import LABEL, WEIGHTS
from unweave.store.record import read_record
from unweave.store.state import read_state
from unweave.zoo import MODELS, zoo_store

LABELS = sorted(path.read_text(encoding="utf-8").strip() for path in MODELS.glob(f"*/{LABEL}"))


def test_the_size_of_the_zoo() -> None:
    assert all(path.stat().st_size <= 1_500_000 for path in MODELS.glob(f"*/{WEIGHTS}"))
    assert sum(path.stat().st_size for path in MODELS.rglob("*") if path.is_file()) <= 12_000_000


@pytest.mark.parametrize("label", LABELS)
def test_scores_follow_from_the_weights(label: str) -> None:
    run = unweave.open(f"zoo:{label}")
    stored = read_record(run.folder).scores
    again = score(run, run.data(), metrics=["mig", "modularity", "infomec", "psnr"]).table
    assert {name: stored[name] for name in again} == pytest.approx(again, abs=0.01)


def test_the_list_has_every_model(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(monkeypatch, "zoo", "list") == 0
    shown = capsys.readouterr().out
    assert all(f"zoo:{label} " in shown for label in LABELS)


def test_a_model_is_shown_with_its_command(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert typed(monkeypatch, "zoo", "show", LABELS[0]) == 0
    assert f"unweave train --from zoo:{LABELS[0]}" in capsys.readouterr().out
    assert typed(monkeypatch, "zoo", "show", "nothing-like-it") == 2
    assert LABELS[0] in capsys.readouterr().err


def test_the_package_is_not_written_to() -> None:
    before = {path: path.stat().st_mtime for path in MODELS.rglob("*")}
    run = unweave.open(f"zoo:{LABELS[0]}")
    unweave.score(run, metrics=["modularity"], samples=200, seed=7)
    assert zoo_store() in run.folder.parents
    assert len(read_record(run.folder).measured) > len(read_record(MODELS / run.name).measured)
    assert {path: path.stat().st_mtime for path in MODELS.rglob("*")} == before


def test_an_unknown_model_suggests_the_nearest() -> None:
    with pytest.raises(InputError, match=f"did you mean .*{LABELS[0]}"):
        unweave.open(f"zoo:{LABELS[0]}x")


@pytest.mark.parametrize("folder", sorted(MODELS.glob("*/")), ids=lambda folder: folder.name)
def test_states_promise_the_files_that_are_there(folder: Path) -> None:
    state = read_state(folder)
    assert state is not None
    assert not broken_promise(folder, state.files, folder.name)
