"""A run's log: one JSON object a line, the values of every term at a step; and TensorBoard for who wants it."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

from unweave.errors import Unavailable, extra
from unweave.training.writing import write_text


class Log:
    """Lines from a step on; those of later steps, from before a run was stopped, are taken back first."""

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
        with contextlib.suppress(OSError):  # of a full disk, which the write before has told
            self._file.close()
        if self._board is not None:
            self._board.close()


def read_log(path: Path) -> list[dict[str, Any]]:
    """The lines of a log, up to where it was cut off or is damaged."""
    lines = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else []:
        try:
            values = json.loads(line)
        except ValueError:
            break
        if not isinstance(values, dict) or not isinstance(values.get("step"), int):
            break
        lines.append(values)
    return lines
