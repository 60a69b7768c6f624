"""Being stopped: Ctrl-C and SIGTERM end a run after the step that is under way, with a checkpoint."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Whether a signal has asked for the end, and which."""

    signal: int | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Note the signal; a second one ends the process the usual way."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def stopping() -> Iterator[Stop]:
    """Listen for SIGINT and SIGTERM, and put back what listened before; on threads other than the main one, nothing."""
    stop = Stop()
    if threading.current_thread() is not threading.main_thread():
        yield stop
        return
    before = {number: signal.signal(number, stop) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield stop
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
