"""A queue of limited length in front of the model, which computes one request at a time."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager


class BusyError(RuntimeError):
    """Too many requests are waiting; the message says to try again."""


class RequestQueue:
    """Let one thread compute at a time; a caller is rejected if ``length`` others wait already."""

    def __init__(self, length: int) -> None:
        self._length, self._waiting = length, 0
        self._count, self._turn = threading.Lock(), threading.Lock()

    @contextmanager
    def __call__(self) -> Iterator[None]:
        """Wait for the turn of this thread."""
        with self._count:
            if self._waiting >= self._length:
                raise BusyError("too many requests at once: try again in a moment.")
            self._waiting += 1
        try:
            with self._turn:
                yield
        finally:
            with self._count:
                self._waiting -= 1
