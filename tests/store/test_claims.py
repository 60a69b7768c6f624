from __future__ import annotations

import json
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from unweave.store.lock import Busy, machine
from unweave.store.remote.claims import Claim, Claims, owners
from unweave.store.remote.objects import Objects

RUN = "0123456789abcdef"


@pytest.fixture
def objects(tmp_path: Path) -> Objects:
    return Objects(f"memory://{tmp_path.name}")


def claim_of(host: str, pid: int, beats: int = 0) -> bytes:
    return json.dumps({"host": host, "pid": pid, "started": "1", "token": "t", "beats": beats}).encode()


def test_a_run_has_one_owner_at_a_time(objects: Objects) -> None:
    with Claims(objects).taken(RUN) as claim:
        assert claim.is_held()
        assert list(owners(objects)) == [RUN]
        with pytest.raises(Busy, match="is being trained by another process"), Claims(objects).taken(RUN):
            pass
    assert objects.list() == {}
    with Claims(objects).taken(RUN):
        pass


def test_of_many_at_once_one_gets_the_claim(bucket: str) -> None:
    objects = Objects(bucket)
    objects.write("claims/warm", b"")
    gate = threading.Barrier(8)
    got = []

    def take() -> None:
        claim = Claim(objects, RUN, 1)
        gate.wait()
        got.append(claim.create())

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True]


def test_the_claim_of_a_dead_process_of_this_machine_is_taken_over_at_once(objects: Objects) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    objects.write(f"claims/{RUN}.000004", claim_of(machine(), dead.pid))
    with Claims(objects).taken(RUN) as claim:
        assert claim.number == 5
        assert claim.is_held()
    assert objects.list() == {}


def test_another_machine_is_watched_for_a_minute_of_the_own_clock(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [1000.0]
    monkeypatch.setattr("unweave.store.remote.claims.time.monotonic", lambda: now[0])
    claims = Claims(objects)
    path = f"claims/{RUN}.000001"
    for beats in range(3):  # signs of life, half a minute apart
        objects.write(path, claim_of("elsewhere", 1, beats))
        with pytest.raises(Busy), claims.taken(RUN):
            pass
        now[0] += 30
    now[0] += 29
    with pytest.raises(Busy), claims.taken(RUN):
        pass
    now[0] += 2
    with claims.taken(RUN) as claim:
        assert claim.number == 2


def test_an_owner_that_was_replaced_notices_and_is_silent(objects: Objects) -> None:
    slow = Claim(objects, RUN, 1)
    assert slow.create()
    new = Claim(objects, RUN, 2)
    assert new.create()
    assert not slow.is_held()
    before = objects.read(f"claims/{RUN}.000001")
    slow.beat()
    assert objects.read(f"claims/{RUN}.000001") == before
    slow.release()
    assert new.is_held()
    new.beat()
    assert json.loads(objects.read(f"claims/{RUN}.000002") or b"")["beats"] == 1


def test_a_claim_of_a_form_that_is_not_known_is_respected(objects: Objects) -> None:
    objects.write(f"claims/{RUN}.000001", b"what is this")
    with pytest.raises(Busy), Claims(objects).taken(RUN):
        pass
    assert owners(objects) == {}
