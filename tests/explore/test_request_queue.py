from __future__ import annotations

import threading
from collections.abc import Callable

import pytest

from unweave.explore.middleware import BusyError, RequestQueue


@pytest.mark.parametrize("at_once", [1, 2])
def test_some_callers_pass_at_a_time_and_a_full_queue_turns_others_away(
    at_once: int, until: Callable[[Callable[[], object]], None]
) -> None:
    gate, inside, most, release = RequestQueue(3, at_once=at_once), [0], [0], threading.Event()

    def work() -> None:
        with gate():
            inside[0] += 1
            most[0] = max(most[0], inside[0])
            release.wait(30)
            inside[0] -= 1

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    until(lambda: gate._waiting == 3 and inside == [at_once])
    with pytest.raises(BusyError, match="try again"), gate():
        pass
    release.set()
    for thread in threads:
        thread.join()
    assert most == [at_once]
    with gate():  # all places are free again
        assert gate._waiting == 1
