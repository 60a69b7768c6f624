"""A progress bar on standard error, the same for whatever takes a while."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, DownloadColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn


@contextmanager
def progress(task: str, total: int | None, *, done: int = 0, unit: str = "items") -> Iterator[Callable[[int], None]]:
    """Show how far ``task`` has come; call what is yielded with the amount done since the last call."""
    amount = DownloadColumn(binary_units=False) if unit == "bytes" else MofNCompleteColumn()
    columns = (TextColumn("{task.description}"), BarColumn(), amount, TimeRemainingColumn())
    console = Console(stderr=True)
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        bar = bars.add_task(task, total=total, completed=done)
        yield lambda amount: bars.advance(bar, amount)
