from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from unweave.cli.run_rows import row_of, scores_of

FIELDS: dict[str, Any] = {
    "recipe": "ae",
    "terms": [{"term": {"name": "kl"}, "weight": 1.0, "schedule": {"kind": "constant"}}],
    "data": {"name": "own", "options": {}, "source": None},
    "seed": 0,
    "steps": 10,
}
STATE = {"status": "finished", "step": 10, "version": "v", "seconds": 2.0}


def written(folder: Path, fields: object, state: object = STATE) -> Path:
    (folder / "configuration.json").write_text(json.dumps(fields))
    (folder / "state.json").write_text(json.dumps(state))
    return folder


def test_a_run_is_one_row(tmp_path: Path) -> None:
    row = row_of(written(tmp_path, FIELDS))
    shown = ("recipe", "data", "seed", "step", "steps", "state", "steps_per_second", "psnr", "problem")
    assert [row[key] for key in shown] == ["ae", "own images", 0, 10, 10, "finished", 5.0, None, ""]


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"recipe": 5}, "its field recipe is not text"),
        ({"recipe": {}}, "its field recipe is not text"),
        ({"terms": [5]}, "its field terms has an entry that is not a weighted term"),
        ({"terms": [{"term": "x"}]}, "its field terms has an entry that is not a weighted term"),
        ({"terms": None}, "its field terms is not a list"),
        ({"data": []}, "its field data is not an object with a name"),
        ({"data": {"name": 3}}, "its field data is not an object with a name"),
        ({"seed": "0"}, "its field seed is not a whole number"),
        ({"steps": None}, "its field steps is not a whole number"),
        ({"optimiser": 3}, "its field optimiser is not a JSON object"),
        ({"optimiser": {"schedule": 3}}, "written by another version"),
        ({"sources": []}, "its field sources is not a JSON object"),
        ({"data": {"name": "own", "source": 5}}, "written by another version"),
    ],
)
def test_damage_to_a_configuration_is_a_row_that_says_so(change: Any, reason: str, tmp_path: Path) -> None:
    row = row_of(written(tmp_path, FIELDS | change))
    assert row["state"] == "damaged"
    assert f"{tmp_path.name}/configuration.json is damaged" in row["problem"]
    assert reason in row["problem"]


def test_damage_to_a_state_is_a_row_that_says_so(tmp_path: Path) -> None:
    row = row_of(written(tmp_path, FIELDS, STATE | {"psnr": 10**400}))
    assert row["state"] == "damaged"
    assert "state.json is damaged (its field psnr is not a finite number)" in row["problem"]


def test_scores_are_read_without_torch(tmp_path: Path) -> None:
    assert scores_of(tmp_path) == ([], "")
    protocol = {"data": "d", "samples": 200, "test_samples": 100, "seed": 3, "step": 10, "settings": {"bins": 5}}
    entries = [
        {"metric": "mig", "protocol": protocol, "version": "v", "result": {"score": 0.25, "per_factor": [0.25]}},
        {"metric": "my:metric", "protocol": protocol, "version": "v", "result": {"score": "NaN"}},
    ]
    (tmp_path / "scores.json").write_text(json.dumps(entries))
    rows, damage = scores_of(tmp_path)
    shown = {key: value for key, value in protocol.items() if key != "data"}
    assert rows[0] == {"score": "mig", "value": 0.25, **shown}
    assert (rows[1]["score"], str(rows[1]["value"]), damage) == ("my:metric", "nan", "")


@pytest.mark.parametrize(
    "text", ["{", "3", "[3]", '[{"metric": "mig"}]', '[{"metric": [], "protocol": {}, "result": {}}]']
)
def test_damaged_scores_are_described(text: str, tmp_path: Path) -> None:
    (tmp_path / "scores.json").write_text(text)
    rows, damage = scores_of(tmp_path)
    assert rows == []
    assert "scores.json is damaged (" in damage
