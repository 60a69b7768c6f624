"""The log of a run: one JSON object per line with the values of every term at a step; optional TensorBoard events."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from unweave.errors import Unavailable, extra
from unweave.store.files import write_text


class Log:
    """Append lines to a log; lines after ``step``, written before the run was stopped, are removed first."""

    def __init__(self, path: Path, step: int, *, tensorboard: bool = False) -> None:
        self._path = path
        kept = [line for line in read_log(path) if line["step"] <= step]
        write_text(path, "".join(f"{json.dumps(line)}\n" for line in kept))
        try:
            self._file = path.open("a", encoding="utf-8")
        except OSError as error:
            raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
        self._board: Any = None
        if tensorboard:
            extra("tensorboard", "tensorboard")
            from torch.utils.tensorboard import SummaryWriter

            self._board = SummaryWriter(str(path.parent / "tensorboard"), purge_step=step + 1)

    def write(self, step: int, values: Mapping[str, float]) -> None:
        """Add a line."""
        try:
            self._file.write(json.dumps({"step": step, **values}) + "\n")
            self._file.flush()
        except OSError as error:
            raise Unavailable(f"cannot write {self._path}: {error.strerror or error}.") from error
        if self._board is not None:
            for name, value in values.items():
                self._board.add_scalar(name, value, step)

    def __enter__(self) -> Log:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(OSError):  # a full disk, which write() has reported already
            self._file.close()
        if self._board is not None:
            self._board.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """Return the lines of a log, up to the first one that is cut off or damaged."""
    lines: list[dict[str, Any]] = []
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        return lines
    except OSError as error:
        raise Unavailable(f"cannot read {path}: {error.strerror or error}.") from error
    for line in content.splitlines():
        try:
            values = json.loads(line.decode("utf-8"))
        except (ValueError, RecursionError):
            break
        if not isinstance(values, dict) or not isinstance(values.get("step"), int):
            break
        if not all(_is_number(value) for value in values.values()):
            break
        lines.append(values)
    return lines


def _is_number(value: object) -> bool:
    """Return whether a value fits into a float, which may be NaN or infinite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    try:
        float(value)
    except OverflowError:
        return False
    return True
