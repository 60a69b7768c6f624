from __future__ import annotations

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tests.study.tiny import SPEC
from unweave.cli.study_display import SHOWN, StudyProgress, shown
from unweave.progress import set_level
from unweave.study import Study
from unweave.study.engines.worker import Report
from unweave.study.estimate import Progress


@pytest.fixture
def study(tmp_path: Path) -> Study:
    return Study(SPEC.replace("steps = 3", "steps = 300"), store=tmp_path)


def _drawn(progress: StudyProgress) -> list[str]:
    console = Console(file=io.StringIO(), width=120)
    console.print(progress.table())
    return [" ".join(line.split()) for line in console.file.getvalue().splitlines()]  # type: ignore[attr-defined]


def test_the_table_counts_runs_and_shows_those_under_way(study: Study) -> None:
    names = [planned.name for planned in study.planned]
    progress = StudyProgress(study)
    log = study.store / names[1] / "log.jsonl"
    log.parent.mkdir()
    log.write_text("".join(json.dumps({"step": step, "loss": 0.1}) + "\n" for step in (100, 200)))
    progress.watch(set(names[1:]), [names[1], names[2]])  # one was done before
    numbers, blank, head, first, second = _drawn(progress)[1:]
    assert numbers == "tiny 1 of 6 2 0 0.0 runs/min not known yet"
    assert (blank, head) == ("", "run recipe beta seed step time")
    assert first == f"{names[1]} beta_vae 1 1 200 of 300 0 s"
    assert second == f"{names[2]} beta_vae 4 0 starting 0 s"
    progress.report(Report(names[1], "finished", 120.0))
    progress.report(Report(names[2], "failed", 1.0, "it broke"))
    assert _drawn(progress)[1].startswith("tiny 2 of 6 0 1 ")
    progress.watch(set(names[3:]), [names[3]])
    assert _drawn(progress)[1].startswith("tiny 2 of 6 1 1 ")
    assert _drawn(progress)[1].endswith("6 min")  # three runs of 120 seconds, one at a time


def test_the_metric_that_is_measured_is_shown(study: Study) -> None:
    name = study.planned[0].name
    progress = StudyProgress(study)
    folder = study.store / name
    folder.mkdir()
    (folder / "log.jsonl").write_text(json.dumps({"step": 300, "loss": 0.1}) + "\n")
    progress.watch({name}, [name])
    assert _drawn(progress)[-1] == f"{name} beta_vae 1 0 scoring 0 s"  # which metric is not known
    assert "scoring" not in progress.line()
    (folder / "doing.txt").write_text("scoring factor_vae_score")
    assert _drawn(progress)[-1] == f"{name} beta_vae 1 0 scoring factor_vae_score 0 s"
    assert progress.line().endswith("; scoring factor_vae_score")


def test_a_failure_says_which_run_and_why(study: Study) -> None:
    progress = StudyProgress(study)
    name = study.planned[2].name
    progress.watch({name}, [name])
    said = progress.failure(Report(name, "failed", 1.0, "Diverged: at step 3"))
    assert said == f"failed: {name} (recipe=beta_vae, beta=4, seed=0): Diverged: at step 3"


def test_many_runs_under_way_are_not_all_shown(tmp_path: Path) -> None:
    study = Study(SPEC.replace("seeds = 2", "seeds = 40"), store=tmp_path)
    names = [planned.name for planned in study.planned]
    progress = StudyProgress(study)
    progress.watch(set(names), names[:30])
    drawn = _drawn(progress)
    assert drawn[-1] == f"and {30 - SHOWN} more"
    assert len(drawn) == 4 + SHOWN + 1


def test_without_a_terminal_lines_are_printed(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    names = [planned.name for planned in study.planned]
    with pytest.MonkeyPatch.context() as patch, shown(study) as (report, watch):
        watch(set(names), names[:2])
        assert capsys.readouterr().err == ""  # it is too early
        patch.setitem(__import__("unweave.progress").progress.SECONDS, "normal", 0.0)
        report(Report(names[0], "failed", 1.0, "it broke"))
        assert capsys.readouterr().err == f"failed: {names[0]} (recipe=beta_vae, beta=1, seed=0): it broke\n"
        report(Report(names[1], "finished", 60.0))
        watch(set(names[2:]), names[2:4])
    line = capsys.readouterr().err
    assert line.startswith("tiny: 1 of 6 done, 2 running, 1 failed, ")
    assert line.endswith("runs/min, time left: 2 min\n")  # four runs of a minute, two at a time


@pytest.mark.usefixtures("empty_data_root")  # where the cost of scoring would be, if it had been measured
def test_the_time_of_training_is_shown_before_that_of_scoring_is_known(
    study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [planned.name for planned in study.planned]
    progress = StudyProgress(study)
    progress.watch(set(names), names[:1])
    assert progress.line().endswith("time left: not known yet")
    monkeypatch.setattr(progress, "_progress", lambda name: Progress(200, 100, 60.0))
    assert progress.line().endswith("time left: 16 min and scoring")  # 1,600 of 1,800 steps, 0.6 s each


@pytest.mark.usefixtures("empty_data_root")
def test_a_run_that_takes_longer_than_the_others_ends_soon(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    *names, last = [planned.name for planned in study.planned]
    progress = StudyProgress(study)
    progress.watch({*names, last}, [*names, last])
    for name in names:
        progress.report(Report(name, "finished", 60.0))
    monkeypatch.setattr(progress, "_progress", lambda name: Progress(300, 300, 99.0))  # it is being scored
    assert progress.line().endswith("time left: soon")
    progress.report(Report(last, "finished", 120.0))
    assert progress.line().endswith("time left: 0 s")


def test_quiet_shows_nothing(study: Study, capsys: pytest.CaptureFixture[str]) -> None:
    set_level("quiet")
    try:
        with shown(study) as (report, watch):
            watch(set(), [])
            report(Report(study.planned[0].name, "failed", 1.0, "it broke"))
    finally:
        set_level("normal")
    assert capsys.readouterr().err == ""
