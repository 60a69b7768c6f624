"""Progress: a bar in a terminal or below the cell of a notebook, and a line of text from time to time elsewhere."""

from __future__ import annotations

import importlib
import sys
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Protocol, TextIO

if TYPE_CHECKING:
    from rich.console import Console
    from rich.progress import Progress

Level = Literal["quiet", "normal", "verbose"]
SECONDS = {"normal": 30.0, "verbose": 5.0}  # between two lines of text, where there is no terminal
BAR = 14  # characters
FIXED = 58  # characters of a line beside the title and the notes: bar, steps, speed, time left and spaces

_level: Level = "normal"
_LISTENER: ContextVar[Callable[[str], object] | None] = ContextVar("listener", default=None)


def set_level(level: Level) -> None:
    """Choose how much is shown for the rest of the process: nothing, the default, or more lines."""
    global _level
    _level = level


def note(text: str) -> None:
    """Print a line on standard error if progress is shown verbosely."""
    if _level == "verbose":
        say(text)


def say(text: str) -> None:
    """Print a line on standard error unless progress is switched off."""
    if _level != "quiet":
        from rich.console import Console

        Console(stderr=True).print(text, markup=False, highlight=False, soft_wrap=True)


def level() -> Level:
    """Return how much is shown."""
    return _level


def show_warnings_as_notes() -> None:
    """Print warnings of Unweave as ``note: …``, without the line of code that gave them."""
    show, here = warnings.showwarning, Path(__file__).parent

    def print_note(
        message: Warning | str,
        category: type[Warning],
        filename: str,
        lineno: int,
        file: TextIO | None = None,
        line: str | None = None,
    ) -> None:
        if category is UserWarning and here in Path(filename).parents:
            print(f"note: {message}", file=sys.stderr)  # noqa: T201
        else:
            show(message, category, filename, lineno, file, line)

    warnings.showwarning = print_note


@contextmanager
def told(listener: Callable[[str], object]) -> Iterator[None]:
    """Call a function with every task that :func:`begin` names inside the block, however much is shown."""
    before = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(before)


def begin(task: str) -> None:
    """Tell whoever listens which task begins."""
    if (listener := _LISTENER.get()) is not None:
        listener(task)


class Advance(Protocol):
    """Report how much was done since the last call, with an optional note to show beside the bar."""

    def __call__(self, amount: int, note: str = "") -> None:
        """Move the bar."""


@contextmanager
def progress(task: str, total: int | None, *, done: int = 0, unit: str = "items") -> Iterator[Advance]:
    """Show the progress of a task; call the yielded function with the amount that was done since the last call.

    Args:
        task: What is done.
        total: The whole amount, None if it is not known.
        done: The amount that was done before.
        unit: What is counted; "bytes" are shown in megabytes, "steps" with their number per second.

    Yields:
        The function.
    """
    from rich.console import Console

    console = Console(stderr=True)
    if _level == "quiet":
        yield lambda amount, note="": None
    elif console.is_jupyter:
        below = _NotebookBar(task, total, done, unit)
        try:
            yield below
        finally:
            below.remove()
    elif console.is_terminal:
        with _bars(console, unit) as bars:
            title = _shortened(task, max(8, console.width - FIXED))
            bar = bars.add_task(title, total=total, completed=done, note="", room=console.width - FIXED - len(title))
            yield lambda amount, note="": bars.update(bar, advance=amount, **({"note": note} if note else {}))
    else:
        yield _Lines(console, task, total, done, unit)


class _Counted:
    """Counts what was done, and shows it from time to time."""

    seconds: float  # between two times

    def __init__(self, task: str, total: int | None, done: int, unit: str) -> None:
        self._task, self._total, self._unit = task, total, unit
        self._done = self._first = done
        self._began = self._shown = time.monotonic()
        self._note = ""

    def __call__(self, amount: int, note: str = "") -> None:
        self._done += amount
        self._note = note or self._note
        now = time.monotonic()
        if self._total is not None and now - self._shown >= self.seconds:
            self._shown = now
            self._show(self._text(now))

    def _text(self, now: float) -> str:
        if self._total is None:
            return self._task
        speed = (self._done - self._first) / (now - self._began) if now > self._began else 0.0
        scale, unit = (1e6, "MB") if self._unit == "bytes" else (1, self._unit)
        parts = [f"{self._done / scale:,.0f} of {self._total / scale:,.0f} {unit}"]
        if speed > 0:
            parts += [f"{speed / scale:,.1f}/s"] if speed / scale >= 0.05 else []  # not 0.0/s
            parts += [f"{duration((self._total - self._done) / speed)} left"]
        return f"{self._task}: {', '.join(parts)}" + (f"; {self._note}" if self._note else "")

    def _show(self, text: str) -> None:
        raise NotImplementedError


class _Lines(_Counted):
    """Prints a line of text from time to time."""

    def __init__(self, console: Console, task: str, total: int | None, done: int, unit: str) -> None:
        super().__init__(task, total, done, unit)
        self._console, self.seconds = console, SECONDS[_level]

    def _show(self, text: str) -> None:
        self._console.print(text, markup=False, highlight=False, soft_wrap=True)


class _NotebookBar(_Counted):
    """Shows a bar below the cell of a notebook, which is there until the task ends; needs no widgets."""

    seconds = 0.25

    def __init__(self, task: str, total: int | None, done: int, unit: str) -> None:
        super().__init__(task, total, done, unit)
        notebook: Any = importlib.import_module("IPython.display")
        self._html, self._display, self._handle = notebook.HTML, notebook.display, None
        if total is None:  # which nothing is counted of
            self._show(self._text(self._began))

    def remove(self) -> None:
        """Take the bar away."""
        if self._handle is not None:
            self._handle.update(self._html(""))

    def _show(self, text: str) -> None:
        shown = self._html(self._bar(text))
        if self._handle is None:  # so that what takes a moment shows nothing
            self._handle = self._display(shown, display_id=True)
        else:
            self._handle.update(shown)

    def _bar(self, text: str) -> str:
        bar = "" if self._total is None else f'<progress value="{self._done}" max="{self._total}"></progress> '
        return f"<div>{bar}{escape(text)}</div>"


def _bars(console: Console, unit: str) -> Progress:
    """Return a progress display that always fits the width, with as many notes as there is room for."""
    from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, ProgressColumn, Task, TextColumn
    from rich.text import Text

    class Speed(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(f"{task.speed:,.1f}/s" if task.speed and unit == "steps" else "")

    class Left(ProgressColumn):
        def render(self, task: Task) -> Text:
            left = task.time_remaining
            return Text("" if left is None else f"{duration(left)} left")

    class Notes(ProgressColumn):
        def render(self, task: Task) -> Text:
            return Text(_fitting(task.fields["note"], task.fields["room"]), no_wrap=True)

    amount = DownloadColumn(binary_units=False) if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}", markup=False), BarColumn(BAR), amount, Speed(), Left(), Notes())
    return Progress(*columns, console=console, transient=True)


def _fitting(note: str, room: int) -> str:
    """Return as many of the parts of a note, which are separated by two spaces, as there is room for."""
    fitting = ""
    for part in note.split("  "):
        longer = f"{fitting}  {part}" if fitting else part
        if len(longer) > room:
            break
        fitting = longer
    return fitting


def _shortened(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: room - 1]}…"


def duration(seconds: float) -> str:
    """Return a duration in its largest unit: the one format of the command line, reports and the page.

    >>> duration(0.44), duration(75), duration(7300), duration(1e6)
    ('0 s', '1 min', '2.0 h', '11.6 days')
    """
    if seconds < 59.5:
        return f"{seconds:.0f} s"
    if seconds < 59.5 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:,.1f} days"
