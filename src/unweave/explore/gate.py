"""A gate before the model: one computation at a time, and a short queue."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class BusyError(RuntimeError):
    """Too many requests are waiting; the message says to try again."""


class Gate:
    """Let one caller pass at a time. Callers beyond the queue are turned away, so that work cannot pile up."""

    def __init__(self, queue: int) -> None:
        self._queue, self._waiting = queue, 0
        self._count, self._turn = threading.Lock(), threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait for the turn of this thread."""
        with self._count:
            if self._waiting >= self._queue:
                raise BusyError("too many requests at once: try again in a moment.")
            self._waiting += 1
        try:
            with self._turn:
                yield
        finally:
            with self._count:
                self._waiting -= 1
