"""The page of all rows, in Markdown."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from unweave.data.files import data_folder
from unweave.verify.row import Row

INTRODUCTION = """# What others published

`unweave verify` recomputes numbers that others published and prints them beside its own; `unweave verify NAME` shows
one row with all of its numbers. This page is the output of

    unweave verify --from FOLDER --page docs/verified.md

where the folder has what cannot be drawn or computed. Without `--from`, the weights of public models are downloaded
and must have the published checksum. A row *agrees* if every number is within its tolerance. It is *explained* if
nothing was published that ours should equal. *Missing* material was not on the machine that made this page.
"""


def page(rows: Sequence[Row], source: Path | None) -> str:
    """Return the rows as a page in Markdown; the path of the source is not shown."""
    count = Counter(row.verdict for row in rows)
    total = ", ".join(f"{count[verdict]} {verdict}" for verdict in ("agrees", "explained", "differs", "missing"))
    lines = [INTRODUCTION, f"Of {len(rows)} rows: {total}.", ""]
    for title in dict.fromkeys(section_of(row) for row in rows):
        lines += [f"## {title}", "", "| row | what | published | ours | difference | |", "|---|---|---|---|---|---|"]
        chosen = [row for row in rows if section_of(row) == title]
        for row in chosen:
            cells = (f"`{row.name}`", row.what, shown(row.theirs), shown(row.ours), difference(row), row.verdict)
            lines.append(f"| {' | '.join(cells)} |")
        lines += ["", *_notes(chosen, source), ""]
    return "\n".join(lines).rstrip("\n") + "\n"


def section_of(row: Row) -> str:
    """Return the title of the section of a row."""
    group, _, kind = row.name.partition("/")
    if kind in ("distances", "constants"):
        return "Data sets"
    if group in ("qlae", "codes"):
        return "Scores"
    return "Theorem, grids and units" if group in ("theorem-1", "grid", "psnr") else "Trained models of others"


def shown(number: float | str | None) -> str:
    """Return a number with six digits, a text as it is, and nothing for None."""
    if number is None or isinstance(number, str):
        return number or ""
    return f"{number:,.0f}" if number == round(number) and abs(number) >= 1 else f"{number:.6g}"


def difference(row: Row) -> str:
    """Return the largest difference of a row, a share with a percent sign."""
    if row.difference is None:
        return ""
    if row.relative:
        return f"{row.difference:.2%}"
    return f"{row.difference:.1e}" if row.difference else "0"


def _notes(rows: Sequence[Row], source: Path | None) -> list[str]:
    """Return where each row was published, why numbers differ, and what is missing, each sentence once."""
    where: dict[str, list[str]] = {}
    why: dict[str, list[str]] = {}
    for row in rows:
        where.setdefault(row.where, []).append(row.name)
        text = row.missing if row.missing else row.why
        text = text.replace(str(data_folder()), "$UNWEAVE_DATA")
        if source is not None:
            text = text.replace(str(source), "the folder")
        if text:
            why.setdefault(f"Missing: {text}" if row.missing else text, []).append(row.name)
    lines = ["Published in:", "", *(f"- {place} ({_names(names)})" for place, names in where.items())]
    return [*lines, "", "Notes:", "", *(f"- {_names(names)}: {text}" for text, names in why.items())] if why else lines


def _names(names: Sequence[str]) -> str:
    return ", ".join(f"`{name}`" for name in names)
