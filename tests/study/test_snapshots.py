from __future__ import annotations

import math
from pathlib import Path

import pytest

from tests.study.conftest import tasks
from tests.study.tiny import SPEC
from unweave.errors import InputError
from unweave.store.remote.address import open_remote
from unweave.study import Study
from unweave.study.engines.worker import Worker
from unweave.study.grid import plan
from unweave.study.spec import SnapshotRule, parse_spec
from unweave.study.table import best_step, good_enough

FINAL = SPEC.replace('["mig"]', '["mig", "modularity", "psnr"]').replace(
    "steps = 3", "steps = 6\nsnapshots = 3\nlr = 0.1"
)
RULE = '[score.snapshot]\nby = "mig"\npsnr = { "tests.study.tiny:Dots" = 3 }\n\n[fixed]'
BEST = FINAL.replace("[fixed]", RULE)


def carry_out(study: Study) -> list[str]:
    worker = Worker()
    return [worker.carry_out(task).error for task in tasks(study)]


def test_the_best_of_the_snapshots_that_reconstruct_well_enough_is_chosen() -> None:
    assert good_enough({30: 37.9, 10: 38.0, 20: 40.0}, 38) == [10, 20]
    assert good_enough({20: 1.0, 10: 2.0}, None) == [10, 20]
    rule = SnapshotRule(by="mig")
    scores = {30: 0.5, 10: math.nan, 20: 0.5, 40: 0.1}
    assert best_step(rule, scores) == 20
    assert best_step(rule.model_copy(update={"best": "lowest"}), scores) == 40
    assert best_step(rule, {10: math.nan}) is None


def test_a_study_scores_the_best_snapshot_of_each_run(tmp_path: Path) -> None:
    study = Study(BEST, store=tmp_path)
    assert carry_out(study) == [""] * 6
    assert study.status() == {"finished": 6}
    table = study.table().set_index("run")
    for run in study.runs():
        mig = {step: run.at(step).scores["mig"].score for step in run.snapshots()}
        chosen = int(table.loc[run.name, "snapshot"])
        assert mig[chosen] == max(mig.values()) == table.loc[run.name, "mig"]
        assert run.at(chosen).scores["modularity"].score == table.loc[run.name, "modularity"]
    assert set(table["snapshot"]) - {6}, "some run should be best before its end"


def test_each_of_several_scores_is_that_of_its_own_best_snapshot(tmp_path: Path) -> None:
    study = Study(BEST.replace('by = "mig"', 'by = ["modularity", "mig"]'), store=tmp_path)
    assert carry_out(study) == [""] * 6
    assert study.status() == {"finished": 6}
    table = study.table().set_index("run")
    for run in study.runs():
        for score in ("mig", "modularity"):
            values = {step: run.at(step).scores[score].score for step in run.snapshots()}
            assert table.loc[run.name, score] == max(values.values())
            assert values[int(table.loc[run.name, f"snapshot of {score}"])] == max(values.values())
        first = int(table.loc[run.name, "snapshot of modularity"])
        assert run.at(first).scores["psnr"].score == table.loc[run.name, "psnr"]
    assert (table["snapshot of mig"] != table["snapshot of modularity"]).any()


def test_final_weights_are_the_default_also_of_runs_whose_snapshots_were_scored(tmp_path: Path) -> None:
    carry_out(Study(BEST, store=tmp_path))
    final = Study(FINAL, store=tmp_path)
    carry_out(final)
    assert final.status() == {"finished": 6}
    table = final.table().set_index("run")
    assert "snapshot" not in table
    assert {run.name: run.scores["mig"].score for run in final.runs()} == table["mig"].to_dict()
    assert [run.name for run in plan(parse_spec(BEST))] == [run.name for run in plan(parse_spec(FINAL))]


def test_a_run_is_scored_once_all_of_its_snapshots_are(tmp_path: Path) -> None:
    carry_out(Study(FINAL, store=tmp_path))
    assert Study(BEST, store=tmp_path).status() == {"unscored": 6}


def test_a_run_without_a_good_snapshot_has_no_scores_and_is_not_chosen(tmp_path: Path) -> None:
    study = Study(BEST.replace("= 3 }", "= 1000 }"), store=tmp_path)
    errors = carry_out(study)
    assert all("no snapshot reaches 1000 dB: the best has " in error for error in errors)
    assert study.status() == {"failed": 6}
    assert study.table()["error"].str.contains("scoring failed: no snapshot reaches 1000 dB").all()
    selecting = BEST.replace("= 3 }", "= 1000 }") + '\n[select]\nby = "mig"\nseeds = [9]\n'
    assert len(Study(selecting, store=tmp_path).all_planned()) == 6


def test_the_second_stage_can_have_another_evaluation_set(tmp_path: Path) -> None:
    select = '\n[select]\nby = "mig"\nper = ["recipe"]\nseeds = [9]\nscore_seed = 5\n'
    study = Study(SPEC + select, store=tmp_path)
    carry_out(study)
    assert study.status() == {"finished": 6, "not started": 2}
    carry_out(study)
    assert study.status() == {"finished": 8}
    seeds = {(run.configuration.seed, entry.protocol["seed"]) for run in study.runs() for entry in run.scores.entries}
    assert seeds == {(0, 0), (1, 0), (9, 5)}
    assert study.table()["mig"].notna().all()


def test_snapshots_are_fetched_from_a_store_at_an_address(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    worker = Worker()
    worker.carry_out(tasks(Study(FINAL, store=bucket))[0])
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path / "another machine"))
    open_remote.cache_clear()
    study = Study(BEST, store=bucket)
    assert study.status() == {"unscored": 1, "not started": 5}
    assert worker.carry_out(tasks(study)[0]).error == ""
    assert study.status() == {"finished": 1, "not started": 5}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (('by = "mig"', 'by = "dci"'), r"line 10: \[score.snapshot\] by: 'dci' needs the metric dci"),
        (('by = "mig"', 'by = "mig.scor"'), r"line 10: unknown score in \[score.snapshot\] by 'mig.scor'"),
        (('by = "mig"', 'by = "mig"\nbest = "hi"'), r"line 11: \[score.snapshot\]: best must be 'highest' or 'lowest'"),
        (('by = "mig"', 'by = "mig"\nbset = "lowest"'), r"line 11: unknown setting of \[score.snapshot\] 'bset'"),
        (('by = "mig"\n', ""), r"line 9: \[score.snapshot\]: by is missing"),
        (("= 3 }", "= true }"), r"line 11: \[score.snapshot\]: psnr.* must be a valid number, got True"),
        (('tiny:Dots" = 3', 'tiny:Dot" = 3'), r"line 11: unknown data set in \[score.snapshot\] psnr"),
        ((', "psnr"]', "]"), r"line 11: \[score.snapshot\] psnr needs the metric psnr"),
        (("\nsnapshots = 3", ""), r"line 9: \[score.snapshot\] needs runs with snapshots, as in snapshots = 20"),
        ((RULE, 'snapshot = { by = "dci" }\n[fixed]'), r"line 9: \[score.snapshot\] by: 'dci' needs the metric dci"),
        ((RULE, 'snapshot = { buy = "dci" }\n[fixed]'), r"line 9: \[score.snapshot\]: by is missing"),
        (('recipe = ["ae"]', 'recipe = ["ae"]\nsnapshots = 0'), "line 9: .* needs runs with snapshots"),
        (
            ('data = "tests.study.tiny:Dots"\nseeds', 'data = "rooms3d"\nseeds'),
            r"line 11: \[score.snapshot\] psnr has no threshold for rooms3d",
        ),
        (
            ("seeds = 2", 'seeds = 2\n[select]\nby = "mig"\nseeds = [9]\nscore_seed = -1'),
            "line 34: .*score_seed must be",
        ),
    ],
)
def test_mistakes_in_the_rule_are_sentences_with_the_line(change: tuple[str, str], message: str) -> None:
    text = BEST.replace(*change)
    with pytest.raises(InputError, match=message):
        plan(parse_spec(text), text)
