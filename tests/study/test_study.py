from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pandas
import pytest
import torch

from tests.study.tiny import SPEC
from unweave.errors import InputError
from unweave.store.folder import runs_in
from unweave.store.store import Store
from unweave.study import Study
from unweave.study.columns import disentanglement_metrics
from unweave.study.engines.engine import Engine


def test_a_study_is_trained_scored_and_read_as_a_table(tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path / "store")
    assert study.status() == {"not started": 6}
    assert study.run(workers=2) == {"finished": 6}
    table = study.table()
    assert len(table) == 6
    assert set(table["state"]) == {"finished"}
    assert table["mig"].between(0, 1).all()
    assert set(table["recipe"]) == {"beta_vae", "ae"}
    assert (table["configuration.steps"] == 3).all()
    (run,) = study.runs(where={"recipe": "beta_vae", "beta": 4, "seed": 1})
    assert run.configuration.seed == 1
    assert len(study.runs(where=lambda row: row.scores["mig"] >= 0)) == 6
    assert len(study.runs(where={"beta": [1, 4], "seed": 1})) == 2
    assert list(study.table({"recipe": "ae"})["recipe"]) == ["ae", "ae"]
    assert len(study.table({"steps": 3})) == 6
    with pytest.raises(InputError, match="unknown setting in where 'bet': did you mean 'beta'"):
        study.runs(where={"bet": 4})


def test_the_table_names_the_disentanglement_metrics_of_the_study(tmp_path: Path) -> None:
    named = SPEC.replace('["mig"]', '["mig", "dci"]\ndisentanglement = ["dci.disentanglement", "mig"]')
    table = Study(named, store=tmp_path).table()
    assert disentanglement_metrics(table) == ["dci.disentanglement", "mig"]
    assert disentanglement_metrics(table[table["state"] == "not started"]) == ["dci.disentanglement", "mig"]
    table.to_parquet(tmp_path / "table.parquet")
    assert disentanglement_metrics(pandas.read_parquet(tmp_path / "table.parquet")) == ["dci.disentanglement", "mig"]
    assert "dci.completeness" in disentanglement_metrics(Study(SPEC, store=tmp_path).table())


def test_a_wrong_device_fails_no_run(tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path)
    with pytest.raises(InputError, match="device"):
        study.run(workers=1, device="tpu")
    assert study.status() == {"not started": 6}


def test_failures_that_cannot_be_recorded_are_not_tried_forever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    handed_out: list[int] = []
    monkeypatch.setattr(Engine, "run_tasks", lambda _, tasks, report, watch: handed_out.append(len(tasks)))
    study = Study(SPEC + '\n[select]\nby = "mig"\nper = ["recipe"]\nseeds = [100]\n', store=tmp_path)
    assert study.run(workers=1) == {"not started": 6}
    assert handed_out == [6]


def test_a_part_retries_its_own_failures_only(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    forgotten: list[str] = []
    monkeypatch.setattr(Engine, "run_tasks", lambda *_: None)
    monkeypatch.setattr(Store, "forget_failure", lambda _, run: forgotten.append(run))
    study = Study(SPEC, store=tmp_path)
    study.run(part=(1, 2), retry=True)
    assert forgotten == [run.name for run in study.planned if int(run.name, 16) % 2 == 0]


def test_what_is_done_is_not_done_again_and_what_is_new_is(tmp_path: Path) -> None:
    Study(SPEC, store=tmp_path).run(workers=1)
    before = {run.name: (run / "model.safetensors").stat().st_mtime_ns for run in runs_in(tmp_path)}
    more = Study(SPEC.replace("seeds = 2", "seeds = 3").replace('["mig"]', '["mig", "modularity"]'), store=tmp_path)
    assert more.status() == {"unscored": 6, "not started": 1}
    assert more.run(workers=1) == {"finished": 7}
    after = {run.name: (run / "model.safetensors").stat().st_mtime_ns for run in runs_in(tmp_path)}
    assert {name: after[name] for name in before} == before
    assert more.table()["modularity"].notna().all()


def test_failures_are_kept_with_their_traceback_and_retried(tmp_path: Path) -> None:
    broken = SPEC.replace("beta = [1, 4]", "lr = 1e30").replace("steps = 3", "steps = 60")
    study = Study(broken, store=tmp_path)
    states = study.run(workers=2, part=None)
    assert states == {"failed": 2, "finished": 2}
    failed = study.table().query("state == 'failed'")
    assert failed["error"].str.contains("diverged").all()
    assert study.run(workers=1) == states  # not tried again
    assert study.run(workers=1, retry=True) == states  # tried again, in vain


def test_parts_divide_the_runs(tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path)
    first = study.run(workers=1, part=(1, 2))
    assert study.unfinished == {}  # the other part is not this one's
    assert first.keys() == {"finished"}
    assert study.run(workers=1, part=(2, 2)) == {"finished": 6 - first["finished"]}
    assert 0 < first["finished"] < 6
    assert study.status() == {"finished": 6}
    with pytest.raises(InputError, match="part 3/2"):
        study.run(part=(3, 2))


def test_a_second_stage_trains_fresh_seeds_of_what_was_chosen(tmp_path: Path) -> None:
    chosen = '\n[select]\nby = "mig"\nper = ["recipe"]\nseeds = [100, 101]\n'
    study = Study(SPEC + chosen, store=tmp_path)
    assert len(study.all_planned()) == 6
    assert study.run(workers=2) == {"finished": 10}
    table = study.table()
    means = table[table["seed"] < 100].groupby(["recipe", "beta"], dropna=False)["mig"].mean()
    best = means["beta_vae"].idxmax()
    fresh = table[table["seed"] >= 100]
    assert sorted(fresh["seed"]) == [100, 100, 101, 101]
    assert set(fresh.loc[fresh["recipe"] == "beta_vae", "beta"]) == {best}


def test_a_metric_that_does_not_apply_to_a_run_does_not_keep_a_study_from_ending(tmp_path: Path) -> None:
    chosen = '\n[select]\nby = "mig"\nper = ["recipe"]\nseeds = [100]\n'
    study = Study(SPEC.replace('["mig"]', '["mig", "elbo"]') + chosen, store=tmp_path)
    assert study.run(workers=2) == {"finished": 8}
    table = study.table()
    assert table.loc[table["recipe"] == "ae", "elbo"].isna().all()
    assert table.loc[table["recipe"] == "beta_vae", "elbo"].notna().all()


LAUNCH = """
import sys
from tests.study.tiny import SPEC
from unweave.store.store import Store
from unweave.study import Study

if __name__ == "__main__":
    text = SPEC.replace("steps = 3", "steps = 2000").replace("seeds = 2", "seeds = 3")
    print(Study(text, store=sys.argv[1]).run(workers=2, checkpoint_steps=20), flush=True)
"""


def test_launcher_and_workers_killed_at_random_lose_and_double_nothing(tmp_path: Path) -> None:
    """SIGKILL to the launcher, to a worker, and a second launcher on the same store."""
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    store = tmp_path / "store"
    for _ in range(3):
        launcher = subprocess.Popen(
            [sys.executable, str(script), str(store)], env=environment, stdout=subprocess.DEVNULL
        )
        _wait_for_work(store, launcher)
        for worker in _children(launcher.pid)[:1]:
            os.kill(worker, signal.SIGKILL)
        time.sleep(1.0)
        launcher.kill()
        launcher.wait()
    last = [
        subprocess.Popen([sys.executable, str(script), str(store)], env=environment, stdout=subprocess.PIPE, text=True)
        for _ in range(2)
    ]
    for one in last:
        shown, _ = one.communicate(timeout=600)
        assert one.returncode == 0
        assert shown.splitlines()[-1] == "{'finished': 7}"
    assert len(runs_in(store)) == 7
    for run in runs_in(store):
        steps = [line.split('"step": ')[1].split(",")[0] for line in (run / "log.jsonl").read_text().splitlines()]
        assert steps == [str(step) for step in range(100, 2001, 100)]  # each step once


def _wait_for_work(store: Path, launcher: subprocess.Popen[bytes]) -> None:
    count = len(list(store.glob("*/checkpoint.safetensors")))
    end = time.monotonic() + 120
    while time.monotonic() < end and launcher.poll() is None:
        if len(list(store.glob("*/checkpoint.safetensors"))) > count:
            return
        time.sleep(0.1)


def _children(pid: int) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        if int(fields[1]) == pid:
            found.append(int(path.parent.name))
    return found


def test_runs_are_chosen_by_settings_or_a_function(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"where must be settings, .* got 'ae'"):
        Study(SPEC, store=tmp_path).runs(where="ae")  # type: ignore[arg-type]


def test_a_device_that_is_not_there_is_refused_before_workers_start(tmp_path: Path) -> None:
    if torch.cuda.is_available():
        pytest.skip("this machine has a GPU")
    with pytest.raises(InputError, match="this machine has no device 'cuda'"):
        Study(SPEC, store=tmp_path / "store").run(device="cuda")
    assert not (tmp_path / "store").exists()


def test_a_number_of_steps_without_end_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="steps"):
        Study(SPEC.replace("steps = 3", f"steps = {10**20}"), store=tmp_path).planned  # noqa: B018
