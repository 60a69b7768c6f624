"""Signals: Ctrl-C and SIGTERM end a run after the current step, with a checkpoint."""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType


class Stop:
    """Records the first signal that was received."""

    signal: int | None = None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Record a signal; a second one raises KeyboardInterrupt."""
        if self.signal is not None:
            raise KeyboardInterrupt
        self.signal = number


@contextmanager
def stopping() -> Iterator[Stop]:
    """Handle SIGINT and SIGTERM, and restore the previous handlers afterwards; does nothing outside the main thread."""
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
