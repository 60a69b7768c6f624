"""A signal while the last step of a run is taken."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import pytest

from tests.training.small import SMALL, trained
from unweave.store.folder import runs_in
from unweave.store.state import read_state
from unweave.training.loop import Moment


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
