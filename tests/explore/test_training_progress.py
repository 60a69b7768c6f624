from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

import unweave
from unweave import Run
from unweave.explore.training_progress import POINTS, ProgressReader, curves
from unweave.store.lock import beating
from unweave.store.state import State, write_state


def test_curves_are_thinned_and_begin_with_the_loss() -> None:
    lines = [{"step": step, "kl": step * 2.0, "loss": 1.0 / (1 + step)} for step in range(1000)]
    lines[3]["kl"] = float("nan")
    loss, kl = curves(lines)
    assert (loss["name"], kl["name"], kl["title"]) == ("loss", "kl", "KL")
    assert len(loss["points"]) == len(kl["points"]) == POINTS
    assert (kl["points"][0], kl["points"][-1]) == ([0, 0.0], [999, 1998.0])
    assert all(value == 2 * step for step, value in kl["points"])
    assert curves([]) == []


def test_a_finished_run_has_its_curves_and_no_time_left(smooth: Run) -> None:
    found = ProgressReader().read(smooth.folder)
    assert (found["state"], found["step"], found["steps"], found["secondsLeft"]) == ("finished", 40, 40, None)
    assert found["psnr"] == smooth.state.psnr
    assert dict(found["curves"][0]["points"]) == {line["step"]: line["loss"] for line in smooth.log}
    json.dumps(found, allow_nan=False)


def test_scores_and_reports_are_offered_once_there_are_weights(tmp_path: Path, smooth: Run) -> None:
    offered = [what for what, _ in ProgressReader().read(smooth.folder)["commands"]]
    assert offered == ["repeat or continue it", "score it", "write a report"]
    folder = tmp_path / smooth.name
    shutil.copytree(smooth.folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    assert [what for what, _ in ProgressReader().read(folder)["commands"]] == ["repeat or continue it"]


def test_commands_name_a_model_of_the_zoo_as_the_command_line_does() -> None:
    folder = unweave.open("zoo:qlae-rooms3d").folder
    commands = dict(ProgressReader().read(folder)["commands"])
    assert commands["score it"] == "unweave score zoo:qlae-rooms3d"
    assert commands["repeat or continue it"] == "unweave train --from zoo:qlae-rooms3d"


def test_the_time_left_follows_the_steps(tmp_path: Path, smooth: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    shutil.copy(smooth.folder / "configuration.json", folder)
    now = [100.0]
    monkeypatch.setattr("unweave.explore.training_progress.time.monotonic", lambda: now[0])
    reader = ProgressReader()

    def log(step: int) -> None:
        (folder / "log.jsonl").write_text(json.dumps({"step": step, "loss": 1.0}) + "\n")

    with beating(folder):
        write_state(folder, State("running", 0, "test"))
        log(4)
        found = reader.read(folder)
        assert (found["state"], found["step"], found["secondsLeft"]) == ("running", 4, None)
        write_state(folder, State("running", 4, "test", seconds=8.0))  # two seconds per step
        assert reader.read(folder)["secondsLeft"] == pytest.approx(36 * 2.0)
        now[0] += 1
        log(12)  # eight steps, which began before the first look: a second of them was seen
        assert reader.read(folder)["secondsLeft"] == pytest.approx(28 * 2.0)
        now[0] += 4
        log(20)  # eight steps in four seconds
        assert reader.read(folder)["secondsLeft"] == pytest.approx(20 * 0.5)
        now[0] += 3  # steps stand still, and time passes
        assert reader.read(folder)["secondsLeft"] == pytest.approx(20 * 0.5 - 3)
        now[0] += 60
        assert reader.read(folder)["secondsLeft"] is None  # it takes longer, nobody knows how long
        log(30)
        assert reader.read(folder)["secondsLeft"] == pytest.approx(10 * 67 / 18)
        log(2)  # started again
        assert reader.read(folder)["secondsLeft"] == pytest.approx(36 * 2.0)
    assert reader.read(folder)["state"] == "stopped"


def test_a_damaged_run_says_what_is_damaged(tmp_path: Path, smooth: Run) -> None:
    folder = tmp_path / smooth.name
    shutil.copytree(smooth.folder, folder, ignore=shutil.ignore_patterns("*.safetensors"))
    (folder / "state.json").write_text("{")
    found = ProgressReader().read(folder)
    assert (found["state"], found["title"]) == ("damaged", "")
    assert "state.json is damaged" in found["error"]
