"""Count the lines of an example."""

from __future__ import annotations

from pathlib import Path


def count_lines(path: Path) -> int:
    """Count the lines of a file that are not empty: imports, docstrings and comments too."""
    return sum(bool(line.strip()) for line in path.read_text(encoding="utf-8").splitlines())
