"""A signal while the last step of a run is taken."""

from __future__ import annotations

import os
import platform
import signal
import threading
from pathlib import Path

import pytest

from tests.training.small import SMALL, trained
from unweave.store.folder import runs_in
from unweave.store.state import read_state
from unweave.training.loop import Moment
from unweave.training.process import keep_memory, stopping


def test_the_first_signal_is_noted_and_the_second_interrupts() -> None:
    before = signal.getsignal(signal.SIGTERM)
    with stopping() as stop:
        assert stop.signal is None
        os.kill(os.getpid(), signal.SIGTERM)
        assert stop.signal == signal.SIGTERM
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGTERM) is before


def test_other_threads_leave_signals_alone() -> None:
    handlers = []

    def work() -> None:
        with stopping():
            handlers.append(signal.getsignal(signal.SIGINT))

    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert handlers == [before]


def test_glibc_keeps_memory() -> None:
    if platform.libc_ver()[0] != "glibc":
        pytest.skip("another C library")
    assert keep_memory()


def test_without_glibc_nothing_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "libc_ver", lambda: ("musl", "1.2"))
    assert not keep_memory.__wrapped__()


@pytest.mark.parametrize(("number", "raised"), [(signal.SIGINT, KeyboardInterrupt), (signal.SIGTERM, SystemExit)])
def test_a_signal_during_the_last_step_leaves_a_finished_run(
    number: int, raised: type[BaseException], tmp_path: Path
) -> None:
    def stop(moment: Moment) -> None:
        os.kill(os.getpid(), number)

    with pytest.raises(raised):
        trained(tmp_path, callback=stop, callback_steps=SMALL["steps"])
    (folder,) = runs_in(tmp_path)
    state = read_state(folder)
    assert state is not None
    assert (state.status, state.step) == ("finished", SMALL["steps"])
    assert trained(tmp_path).outcome == "opened"  # nothing is done again
