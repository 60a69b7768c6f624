from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.training.small import bars, trained
from unweave.store.measurements import name_of_data
from unweave.store.record import read_record
from unweave.training import configure

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


def test_a_record_has_the_facts_of_a_run(tmp_path: Path) -> None:
    record = read_record(written(tmp_path, FIELDS))
    assert (record.name, record.state, record.step, record.seconds) == (tmp_path.name, "finished", 10, 2.0)
    assert (record.data, record.fields["seed"], record.psnr, record.error) == ("own images", 0, None, "")
    assert record.settings == {"kl.weight": 1.0, "kl.schedule": "constant"}
    assert record.configuration["recipe"] == "ae"
    nothing = read_record(tmp_path / "nothing")
    assert (nothing.state, nothing.settings, nothing.scores) == ("not started", {}, {})


def test_reading_a_record_needs_no_torch(tmp_path: Path) -> None:
    entry = {"metric": "dci", "protocol": {}, "version": "v"}
    result = {"disentanglement": 0.25, "completeness": 0.5, "informativeness": 0.75, "informativeness_train": 1.0}
    (written(tmp_path, FIELDS) / "scores.json").write_text(json.dumps([entry | {"result": result}]))
    script = (
        "import sys, pathlib; from unweave.store import read_record; import unweave.store.store\n"
        f"print(read_record(pathlib.Path({str(tmp_path)!r})).scores['dci.completeness'], 'torch' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], capture_output=True, text=True).stdout == "0.5 False\n"


def test_settings_have_the_names_that_set_takes(tmp_path: Path) -> None:
    given: dict[str, Any] = {"lr": 1e-3, "net.width": 0.5}
    made = trained(tmp_path, "qlae", **given)
    settings = read_record(made.folder).settings
    assert (settings["lr"], settings["net"], settings["net.width"], settings["latent"]) == (
        1e-3,
        "conv16",
        0.5,
        "codebook",
    )
    chosen = {name: settings[name] for name in ("lr", "net", "net.width", "batch")}
    again, _ = configure("qlae", bars(), {**chosen, "steps": 12})
    assert again.name == made.name


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
def test_damage_to_a_configuration_is_described(change: Any, reason: str, tmp_path: Path) -> None:
    record = read_record(written(tmp_path, FIELDS | change))
    assert record.state == "damaged"
    assert f"{tmp_path.name}/configuration.json is damaged" in record.error
    assert reason in record.error


def test_damage_to_a_state_is_described(tmp_path: Path) -> None:
    record = read_record(written(tmp_path, FIELDS, STATE | {"psnr": 10**400}))
    assert record.state == "damaged"
    assert "state.json is damaged (its field psnr is not a finite number)" in record.error


def entry(score: float | str, metric: str = "mig", **protocol: Any) -> dict[str, Any]:
    return {"metric": metric, "protocol": protocol, "version": "v", "result": {"score": score, "per_factor": [0.25]}}


def test_the_score_of_a_run_is_of_its_final_weights_on_its_own_data(tmp_path: Path) -> None:
    own = name_of_data(FIELDS["data"])
    entries = [
        entry(0.1, data=own, step=10, samples=200, settings={}),
        entry(0.2, data=own, step=10, samples=100, settings={}),  # fewer samples
        entry(0.3, data=own, step=10, samples=200, settings={"bins": 5}),  # not the default
        entry(0.4, data=own, step=5, samples=999, settings={}),  # a snapshot
        entry(0.5, data="other", step=10, samples=999, settings={}),
        entry("NaN", "my:metric", data=own, step=10, samples=200, settings={}),
    ]
    (written(tmp_path, FIELDS) / "scores.json").write_text(json.dumps(entries))
    record = read_record(tmp_path)
    assert str(record.scores) == "{'mig': 0.1, 'my:metric': nan}"
    assert record.scores_on("other")["mig"].scores == {"mig": 0.5}
    assert len(record.measured) == 6


@pytest.mark.parametrize(
    "text", ["{", "3", "[3]", '[{"metric": "mig"}]', '[{"metric": [], "protocol": {}, "result": {}}]']
)
def test_damaged_scores_are_described(text: str, tmp_path: Path) -> None:
    (written(tmp_path, FIELDS) / "scores.json").write_text(text)
    record = read_record(tmp_path)
    assert record.measured == ()
    assert "scores.json is damaged (" in record.error
    assert read_record(tmp_path, scores=False).state == "finished"
