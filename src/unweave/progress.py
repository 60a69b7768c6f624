"""A progress bar on standard error, the same for whatever takes a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Protocol

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text


class Advance(Protocol):
    """Say how much was done since the last call, and if there is more to say, a note to show beside the bar."""

    def __call__(self, amount: int, note: str = "") -> None:
        """Move the bar on."""


class _Speed(ProgressColumn):
    def render(self, task: Task) -> Text:
        return Text(f"{task.speed:.1f}/s" if task.speed else "")


@contextmanager
def progress(task: str, total: int | None, *, done: int = 0, unit: str = "items") -> Iterator[Advance]:
    """Show how far ``task`` has come; call what is yielded with the amount done since the last call.

    ``unit`` "bytes" counts in megabytes; "steps" shows steps a second.
    """
    amount = DownloadColumn(binary_units=False) if unit == "bytes" else MofNCompleteColumn()
    speed = [_Speed()] if unit == "steps" else []
    note = TextColumn("{task.fields[note]}", markup=False)
    columns = (TextColumn("{task.description}"), BarColumn(), amount, *speed, TimeRemainingColumn(), note)
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(task, total=total, completed=done, note="")

        def advance(amount: int, note: str = "") -> None:
            fields: dict[str, Any] = {"note": note} if note else {}
            bars.update(bar, advance=amount, **fields)

        yield advance
