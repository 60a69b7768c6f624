"""The process that trains: memory stays in it, and Ctrl-C and SIGTERM end a run after the current step.

glibc is told not to return the memory of activations to the system after every step: returning blocks of megabytes and
getting them back costs about a tenth of a step on a CPU. Nothing is done without glibc.
"""

from __future__ import annotations

import ctypes
import platform
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from types import FrameType

TRIM_THRESHOLD, MMAP_THRESHOLD = -1, -3  # the names in malloc.h: M_TRIM_THRESHOLD, M_MMAP_THRESHOLD
LARGEST_BLOCK = 32 * 2**20  # the largest value that glibc accepts
KEPT = 2**30


@cache
def keep_memory() -> bool:
    """Set the two limits once per process; return whether glibc accepted them."""
    if platform.libc_ver()[0] != "glibc":
        return False
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (OSError, AttributeError):
        return False
    return bool(mallopt(MMAP_THRESHOLD, LARGEST_BLOCK)) and bool(mallopt(TRIM_THRESHOLD, KEPT))


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
