"""Compare the pages that benchmarks have just written with the committed ones: ``python benchmarks/targets.py``.

A table with a column ``target`` states what its rows should reach, as ``≥ 2`` or ``≤ 15%``; the column to its left has
what was measured. Prints one sentence for each target that the committed value meets and the new one misses, or that
is no longer measured, and exits with status 1 if there is one.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

NUMBER = re.compile(r"(-?\d[\d,]*(?:\.\d+)?(?:e[+-]?\d+)?)\s*(%?)")


class Row(NamedTuple):
    """One row of a page: what was measured, and the target as it is written ("" if the row has none)."""

    measured: str
    target: str


def rows(page: str) -> dict[str, Row]:
    """Return the rows of all tables of a page that have a target column, by the name in their first column.

    >>> rows("| what | measured | target |\\n|---|---|---|\\n| speed | 2.5 | ≥ 2 |")
    {'speed': Row(measured='2.5', target='≥ 2')}
    """
    found: dict[str, Row] = {}
    column = None
    for line in page.splitlines():
        if not line.startswith("|"):
            column = None
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if column is None:
            column = cells.index("target") if "target" in cells else -1
        elif column > 0 and not set(line) <= set("|-: "):
            found[cells[0]] = Row(cells[column - 1], cells[column])
    return found


def meets(measured: str, target: str) -> bool:
    """Return whether a measured value meets a target.

    >>> meets("1.28", "≤ 1.35"), meets("12 %", "≥ 0.2"), meets("1,024", "≥ 1000")
    (True, False, True)
    """
    if target[:1] not in ("≥", "≤"):
        raise ValueError(f"a target starts with ≥ or ≤, got {target!r}.")
    value, limit = number(measured), number(target)
    return value >= limit if target.startswith("≥") else value <= limit


def number(text: str) -> float:
    """Return the first number of a text; percentages are divided by 100."""
    match = NUMBER.search(text)
    if match is None:
        raise ValueError(f"expected a number, got {text!r}.")
    return float(match[1].replace(",", "")) / (100 if match[2] else 1)


def missed(page: str) -> list[str]:
    """Return the names of the rows of a page that miss their target."""
    return [name for name, row in rows(page).items() if row.target and not meets(*row)]


def regressions(before: str, after: str) -> list[str]:
    """Return one sentence for each target that the page ``before`` meets and the page ``after`` misses.

    The targets are those of ``after``, so that a new target which was never met is no regression.
    """
    old, new = rows(before), rows(after)
    sentences = [
        f"{name}: measured {row.measured}, target {row.target}, but the committed page has {old[name].measured}."
        for name, row in new.items()
        if row.target and not meets(*row) and name in old and meets(old[name].measured, row.target)
    ]
    gone = (name for name, row in old.items() if row.target and name not in new)
    return sentences + [f"{name}: has a target on the committed page, but is no longer measured." for name in gone]


def committed(path: Path) -> str:
    """Return the text of a file at the last commit, or "" if it is not committed."""
    command = ["git", "show", f"HEAD:./{path.name}"]
    shown = subprocess.run(command, cwd=path.parent, capture_output=True, text=True, encoding="utf-8", check=False)
    return shown.stdout if shown.returncode == 0 else ""


def main(folder: Path) -> int:
    """Compare all pages of a folder and return the exit status."""
    worse = 0
    for path in sorted(folder.glob("*.md")):
        page = path.read_text(encoding="utf-8")
        targets = [name for name, row in rows(page).items() if row.target]
        found = regressions(committed(path), page)
        if targets or found:
            print(f"{path.name}: {len(targets) - len(missed(page))} of {len(targets)} targets are met")
        for sentence in found:
            print(f"  worse than before: {sentence}")
        worse += len(found)
    return int(worse > 0)


if __name__ == "__main__":
    sys.exit(main(Path(__file__).parent))
