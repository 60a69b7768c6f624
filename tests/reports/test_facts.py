from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

import unweave
from unweave import Run
from unweave.errors import InputError
from unweave.reports.facts import read_facts, sources_of
from unweave.store.record import read_record


def test_what_was_trained_on_what_in_a_sentence(runs: list[Run]) -> None:
    facts = read_facts(runs[1].folder)
    text = facts.sentence
    assert text.startswith("β-VAE was trained on tests.study.tiny:Dots (64 images of 8 × 8 pixels) for 3 steps")
    assert f"PSNR of {runs[1].state.psnr:.1f} dB" in text
    assert facts.about.startswith("β-VAE (Higgins et al. 2017)")
    assert [(score.name, score.value) for score in facts.scores] == [("mig", runs[1].scores["mig"].score)]


def test_a_run_without_weights_is_told_and_has_no_figures(runs: list[Run], tmp_path: Path) -> None:
    folder = tmp_path / runs[1].name
    shutil.copytree(runs[1].folder, folder)
    (folder / "model.safetensors").unlink()
    (folder / "checkpoint.safetensors").unlink(missing_ok=True)
    state = json.loads((folder / "state.json").read_text())
    (folder / "state.json").write_text(json.dumps({**state, "status": "failed", "error": "it <diverged>", "step": 2}))
    facts = read_facts(folder)
    assert facts.run is None
    assert "has no weights yet" in facts.notes[0]
    assert "for 2 of 3 steps" in facts.sentence
    assert "The run is failed: it <diverged>" in facts.sentence
    assert facts.scores == ()  # they were measured at another step


def test_other_data_must_have_the_shape_of_the_images(runs: list[Run]) -> None:
    brighter = unweave.load("tests.study.tiny:Dots", brightness=9)
    assert "not the data that the run was trained on" in read_facts(runs[0].folder, brighter).notes[0]
    with pytest.raises(InputError, match="have the shape"):
        read_facts(runs[0].folder, unweave.load("xysquares", size=16))


def test_a_recipe_of_ones_own_is_not_the_one_that_its_label_begins_with(runs: list[Run]) -> None:
    record = read_record(runs[1].folder)
    own = replace(record, fields={**record.fields, "recipe": "beta_vae-mine"})
    assert len(sources_of(own)) == len(sources_of(record)) - 1
