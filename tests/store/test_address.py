from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from tests.study.tiny import SPEC
from unweave.errors import InputError, Unavailable
from unweave.store.folder import store_folder
from unweave.store.remote.address import Remote, copies_of, open_remote
from unweave.store.remote.claims import CLAIMS
from unweave.study import Study
from unweave.study.damaged_runs import set_aside_damaged


def upload(remote: Remote, store: Path) -> list[str]:
    """Put finished runs into a store at an address."""
    names = []
    for folder in sorted(path for path in store.iterdir() if path.is_dir()):
        for file in folder.iterdir():
            if "lock" not in file.name:
                remote.objects.upload(file, f"{folder.name}/{file.name}")
        names.append(folder.name)
    return names


@pytest.fixture
def remote(bucket: str, trained: Path) -> Remote:
    there = open_remote(bucket)
    upload(there, trained)
    return there


def test_a_study_reads_a_store_at_an_address(remote: Remote, trained: Path) -> None:
    study = Study(SPEC, store=remote.address)
    assert study.status() == {"finished": 6}
    here = Study(SPEC, store=trained).table()
    assert study.table().equals(here)
    assert not list(remote.runs.glob("*/model.safetensors"))  # only small files were copied
    (run,) = study.runs(where={"recipe": "beta_vae", "beta": 4, "seed": 1})
    assert (run.folder / "model.safetensors").read_bytes() == (trained / run.name / "model.safetensors").read_bytes()
    assert (run.configuration.seed, run.folder.parent) == (1, remote.runs)


def test_what_changes_in_the_store_is_seen(remote: Remote) -> None:
    study = Study(SPEC, store=remote.address)
    study.status()
    first, second, third = (run.name for run in study.planned[:3])
    state = json.loads(remote.objects.read(f"{first}/state.json") or b"")
    failed = json.dumps(state | {"status": "failed", "error": "no luck"}).encode()
    remote.objects.write(f"{first}/state.json", failed)
    remote.objects.remove([f"{second}/state.json"])  # now it is not a run, whatever is left of it
    remote.objects.remove([f"{third}/scores.json"])
    assert study.status() == {"failed": 1, "not started": 1, "unscored": 1, "finished": 3}
    assert next(row.error for row in study.rows() if row.run == first) == "no luck"
    study._forget_failures()
    assert study.status() == {"not started": 2, "unscored": 1, "finished": 3}
    assert remote.objects.read(f"{first}/state.json") is None
    with pytest.raises(Unavailable, match="has no run"):
        remote.fetch(first)


def test_a_half_uploaded_run_does_not_exist(remote: Remote, bucket: str) -> None:
    study = Study(SPEC, store=f"{bucket}-other")
    there = open_remote(f"{bucket}-other")
    name = study.planned[0].name
    for file in ("configuration.json", "model.safetensors", "scores.json"):
        there.objects.write(f"{name}/{file}", b"{")
    assert study.status() == {"not started": 6}
    assert set_aside_damaged(study.stored, study.planned) == {}


def test_claimed_runs_are_shown_as_running(remote: Remote) -> None:
    study = Study(SPEC, store=remote.address)
    name = study.planned[0].name
    remote.objects.remove([f"{name}/state.json"])
    with remote.claims.taken(name):
        assert study.status() == {"running": 1, "finished": 5}
    assert study.status() == {"not started": 1, "finished": 5}


def test_damaged_runs_are_set_aside_in_the_store(remote: Remote) -> None:
    study = Study(SPEC, store=remote.address)
    name = study.planned[0].name
    files = {path for path in remote.objects.list() if path.startswith(name)}
    remote.objects.write(f"{name}/state.json", b"{")
    assert study.status() == {"damaged": 1, "finished": 5}
    assert list(set_aside_damaged(study.stored, study.planned)) == [name]
    assert study.stored.damaged() == [f"{name}-1"]
    assert set(remote.objects.list(f"damaged/{name}-1/")) == {
        *(f"damaged/{name}-1/{path.partition('/')[2]}" for path in files),
        f"damaged/{name}-1/reason.txt",
    }
    assert study.status() == {"not started": 1, "finished": 5}
    assert not remote.objects.list("claims/")


def test_copies_that_are_lost_or_damaged_are_made_again(remote: Remote) -> None:
    study = Study(SPEC, store=remote.address)
    study.status()
    (remote.folder / "known.json").write_text("{")
    shutil.rmtree(remote.runs / study.planned[0].name)
    assert study.status() == {"finished": 6}


def test_stores_and_servers_have_folders_of_their_own(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("UNWEAVE_CACHE", str(tmp_path))
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://one")
    one = copies_of("s3://bucket/a")
    assert one.parent == tmp_path
    assert one.name.startswith("s3-bucket-a-")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "http://two")
    assert len({one, copies_of("s3://bucket/a"), copies_of("s3://bucket-a")}) == 3


def test_other_commands_need_a_folder(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="s3://bucket/x can be the store of a study only"):
        store_folder("s3://bucket/x")
    assert store_folder(f"file://{tmp_path}") == tmp_path
    assert Study(SPEC, store=f"file://{tmp_path}").store == tmp_path


LAUNCH = """
import sys
from tests.study.tiny import SPEC
from unweave.study import Study

if __name__ == "__main__":
    text = SPEC.replace("steps = 3", "steps = 400")
    print(Study(text, store=sys.argv[1]).run(workers=int(sys.argv[2]), checkpoint_steps=20), flush=True)
"""


def test_two_launchers_and_a_killed_worker_deliver_every_run_once(bucket: str, tmp_path: Path) -> None:
    """The bucket keeps all versions of its objects, so that it can be counted how often a run was delivered."""
    remote = open_remote(bucket)
    name = bucket.split("/")[2]
    remote.objects.system.call_s3("put_bucket_versioning", Bucket=name, VersioningConfiguration={"Status": "Enabled"})
    script = tmp_path / "launch.py"
    script.write_text(LAUNCH)
    root = str(Path(__file__).parents[2])
    launchers = []
    for machine, workers in (("one", 2), ("two", 1)):
        environment = os.environ | {
            "PYTHONPATH": os.pathsep.join([root, *sys.path]),
            "UNWEAVE_CACHE": str(tmp_path / machine),
        }
        command = [sys.executable, str(script), bucket, str(workers)]
        launchers.append(subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True))
    killed = _kill_an_owner(remote, launchers[0].pid)
    for launcher in launchers:
        shown, _ = launcher.communicate(timeout=600)
        assert launcher.returncode == 0
        assert shown.splitlines()[-1] == "{'finished': 6}"
    assert killed
    assert not remote.objects.list("claims/")
    there = {path: mark for path, mark in remote.objects.list().items() if not path.startswith("index/")}
    runs = {path.partition("/")[0] for path in there}
    assert len(runs) == 6
    delivered: Counter[str] = Counter()
    found = remote.objects.system.call_s3("list_object_versions", Bucket=name)
    for version in found["Versions"]:
        if version["Key"].endswith("/state.json"):
            at = f"{name}/{version['Key']}"
            state = json.loads(remote.objects.system.cat_file(at, version_id=version["VersionId"]))
            delivered[version["Key"].split("/")[-2]] += state["status"] == "finished"
    assert delivered == dict.fromkeys(runs, 1)
    for run in runs:
        lines = (remote.objects.read(f"{run}/log.jsonl") or b"").decode().splitlines()
        assert [json.loads(line)["step"] for line in lines] == [100, 200, 300, 400]
        assert {path.partition("/")[2] for path in there if path.startswith(run)} >= {
            "configuration.json",
            "model.safetensors",
            "summary.json",
            "scores.json",
            "state.json",
        }


def _kill_an_owner(remote: Remote, launcher: int) -> bool:
    """Kill the first worker of a launcher that has claimed a run, with SIGKILL."""
    end = time.monotonic() + 300
    while time.monotonic() < end:
        for claim in remote.objects.read_all(remote.objects.list(f"{CLAIMS}/")).values():
            pid = int(json.loads(claim)["pid"])
            stat = Path(f"/proc/{pid}/stat")
            if stat.exists() and int(stat.read_text().rpartition(")")[2].split()[1]) == launcher:
                os.kill(pid, signal.SIGKILL)
                return True
        time.sleep(0.05)
    return False
