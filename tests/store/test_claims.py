from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from unweave.errors import Away
from unweave.store.lock import Busy, machine
from unweave.store.remote import claims as module
from unweave.store.remote.claims import Claims, RunClaim, claimed
from unweave.store.remote.objects import Objects, open_objects

RUN = "0123456789abcdef"
PATH = f"claims/{RUN}"


@pytest.fixture(params=["memory", "s3"])
def objects(request: pytest.FixtureRequest, tmp_path: Path) -> Objects:
    address = f"memory://{tmp_path.name}" if request.param == "memory" else request.getfixturevalue("bucket")
    return open_objects(address)


def claim_of(host: str, pid: int, beats: int = 0) -> bytes:
    return json.dumps({"host": host, "pid": pid, "started": "1", "token": "t", "beats": beats}).encode()


def token_in(objects: Objects) -> str:
    return str(json.loads(objects.read(PATH) or b"")["token"])


def test_a_run_has_one_owner_at_a_time(objects: Objects) -> None:
    with Claims(objects).taken(RUN) as claim:
        assert claim.beat()
        assert list(claimed(objects)) == [RUN]
        with pytest.raises(Busy, match="is being trained by another process"), Claims(objects).taken(RUN):
            pass
    assert objects.list() == {}
    with Claims(objects).taken(RUN):
        pass


def test_of_many_at_once_one_gets_the_claim(bucket: str) -> None:
    objects = open_objects(bucket)
    objects.write("claims/warm", b"")
    gate = threading.Barrier(8)
    got = []

    def take() -> None:
        claim = RunClaim(objects, RUN)
        gate.wait()
        got.append(claim.take())

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(got) == [False] * 7 + [True]


def test_the_claim_of_a_dead_process_of_this_machine_is_taken_over_at_once(objects: Objects) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    objects.write(PATH, claim_of(machine(), dead.pid))
    with Claims(objects).taken(RUN) as claim:
        assert token_in(objects) == claim.token
        assert list(objects.list()) == [PATH]  # the claim of the dead process is gone
    assert objects.list() == {}


class Clock:
    """The monotonic clock of the claims and of the objects, which sleeping moves on."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, asleep: Callable[[], Any] = lambda: None) -> None:
        self.now, self._asleep = 1000.0, asleep
        monkeypatch.setattr(time, "monotonic", lambda: self.now)
        monkeypatch.setattr(time, "sleep", self.sleep)

    def sleep(self, seconds: float) -> None:
        self.now += seconds
        self._asleep()


def test_another_machine_is_watched_by_the_own_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of a server without a clock only changes are seen, so that silence begins with the first look."""
    objects, clock = open_objects(f"memory://{tmp_path.name}"), Clock(monkeypatch)
    claims = Claims(objects)
    for beats in range(3):  # signs of life
        objects.write(PATH, claim_of("elsewhere", 1, beats))
        with pytest.raises(Busy), claims.taken(RUN):
            pass
        clock.now += 60
    clock.now += module.SILENT - module.GRACE - 61
    with pytest.raises(Busy), claims.taken(RUN):
        pass
    clock.now += 2
    with claims.taken(RUN) as claim:  # after the rest of the time was waited for
        assert token_in(objects) == claim.token
    assert clock.now >= 1000 + 120 + module.SILENT


@pytest.mark.parametrize(
    ("age", "changes", "outcome"), [(300.0, False, "taken"), (300.0, True, "busy"), (60.0, False, "busy")]
)
def test_a_claim_that_is_old_by_the_clock_of_the_server_is_watched_for_a_moment(
    age: float, changes: bool, outcome: str, bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    objects = open_objects(bucket)
    objects.write(PATH, claim_of("elsewhere", 1))
    look = objects.look
    monkeypatch.setattr(objects, "look", lambda path, **given: look(path, **given)._replace(age=age))  # type: ignore[union-attr]
    beat: Callable[[], Any] = lambda: objects.write(PATH, claim_of("elsewhere", 1, beats=1)) if changes else None  # noqa: E731
    clock = Clock(monkeypatch, beat)
    if outcome == "busy":
        with pytest.raises(Busy), Claims(objects).taken(RUN):
            pass
        assert clock.now == 1000 + (module.GRACE if changes else 0)
    else:
        with Claims(objects).taken(RUN):
            assert clock.now == 1000 + module.GRACE


def test_after_an_outage_owners_have_time_to_show_that_they_are_alive(
    bucket: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The store was away for longer than a claim may be silent, for its owner as well."""
    objects = open_objects(bucket)
    objects.write(PATH, claim_of("elsewhere", 1))
    clock = Clock(monkeypatch, lambda: objects.write(PATH, claim_of("elsewhere", 1, beats=1)))
    claims = Claims(objects)
    with pytest.raises(Busy), claims.taken(RUN):
        pass
    clock.now += 10 * module.SILENT
    objects.failed = clock.now  # the first request after the outage was the last that failed
    with pytest.raises(Busy), claims.taken(RUN):
        pass
    assert claimed(objects)[RUN] < module.SILENT


def test_an_owner_that_was_replaced_notices_and_leaves_the_claim_alone(objects: Objects) -> None:
    """Also after the run was released and claimed anew in the meantime."""
    slow = RunClaim(objects, RUN)
    assert slow.take()
    seen = objects.look(PATH)
    new = RunClaim(objects, RUN)
    assert new.take(seen)
    assert not RunClaim(objects, RUN).take(seen)  # of two that take over, one succeeds
    new.release()
    third = RunClaim(objects, RUN)
    assert third.take()
    before = objects.read(PATH)
    assert not slow.beat()
    with pytest.raises(Busy, match="was taken over"):
        slow.check()
    slow.release()
    assert objects.read(PATH) == before
    assert third.beat()
    assert json.loads(objects.read(PATH) or b"")["beats"] == 1


def test_a_beat_without_an_answer_is_not_taken_for_a_loss(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    claim = RunClaim(objects, RUN)
    assert claim.take()
    put = objects._put_once

    def unanswered(*given: Any) -> str:
        put(*given)
        raise ConnectionResetError("no answer")

    with monkeypatch.context() as patch:
        patch.setattr(objects, "_put_once", unanswered)
        with pytest.raises(Away):
            claim.beat(patience=0)
    assert claim.beat()
    assert json.loads(objects.read(PATH) or b"")["beats"] == 2


def test_a_claim_whose_answer_was_lost_is_released(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    put = objects._put_once

    def unanswered(*given: Any) -> str:
        put(*given)
        monkeypatch.setattr(objects, "_put_once", put)
        raise ConnectionResetError("no answer")

    monkeypatch.setattr(objects, "_put_once", unanswered)
    objects.patience = 0.0
    with pytest.raises(Away), Claims(objects).taken(RUN):
        pass
    assert objects.list() == {}


def test_a_release_without_an_answer_does_not_remove_the_claim_of_another(
    objects: Objects, monkeypatch: pytest.MonkeyPatch
) -> None:
    claim, other = RunClaim(objects, RUN), RunClaim(objects, RUN)
    assert claim.take()
    remove = objects.system.rm_file

    def unanswered(path: str) -> None:
        remove(path)
        assert other.take()
        raise ConnectionResetError("no answer")

    monkeypatch.setattr(objects.system, "rm_file", unanswered)
    claim.release()
    assert token_in(objects) == other.token


def test_the_owner_beats_and_is_told_of_a_loss(objects: Objects, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "INTERVAL", 0.02)
    with Claims(objects).taken(RUN) as claim:
        _wait(lambda: json.loads(objects.read(PATH) or b"")["beats"] >= 2)
        objects.write(PATH, claim_of("elsewhere", 1))
        _wait(lambda: claim.lost)
    assert token_in(objects) == "t"


def _wait(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_a_claim_of_a_form_that_is_not_known_is_respected(objects: Objects) -> None:
    objects.write(PATH, b"what is this")
    with pytest.raises(Busy), Claims(objects).taken(RUN):
        pass
    assert list(claimed(objects)) == [RUN]
