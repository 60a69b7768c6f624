"""``unweave verify``: recompute what others published, and print their numbers beside ours."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.table import Table

from unweave.cli.options import Json, Quiet, Verbose, console, print_json, print_line, print_table

if TYPE_CHECKING:
    from unweave.verify import Row


def verify(
    name: Annotated[
        str | None, typer.Argument(metavar="NAME", help="A row, or the first part of its name.", show_default="all")
    ] = None,
    source: Annotated[
        Path | None,
        typer.Option("--from", help="Folder with weights, codes and matrices.", show_default="weights are downloaded"),
    ] = None,
    page: Annotated[Path | None, typer.Option(help="Also write the table as a page in Markdown.")] = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Recompute what others published: their number, ours, the difference, and why they differ where they do.

    With NAME, all numbers of a row are shown. Rows whose material is not on this machine say how to get it. The exit
    code is 0 if nothing that could be checked differs, and 1 otherwise.
    """
    from unweave.store.files import write_output
    from unweave.verify import CHECKS
    from unweave.verify import verify as measure
    from unweave.verify.row import page as to_page

    rows = list(measure(name, source=source))
    if as_json:
        print_json([_fields(row) for row in rows])
    elif name is None or (len(rows) > 1 and name not in CHECKS):
        _print_table(rows)
    if name is not None and not as_json:
        for row in rows:
            _print_details(row)
    if page is not None:
        write_output(page, to_page(rows, source))
        print_line(f"wrote {page}")
    if any(row.verdict == "differs" for row in rows):
        raise typer.Exit(1)


def _print_table(rows: list[Row]) -> None:
    from unweave.verify.row import difference, shown

    table = Table(box=None, pad_edge=False)
    for title in ("row", "what", "published in", "theirs", "ours", "difference", ""):
        table.add_column(title, overflow="fold")
    for row in rows:
        table.add_row(row.name, row.what, row.where, shown(row.theirs), shown(row.ours), difference(row), row.verdict)
    console.print(table)
    notes: dict[str, list[str]] = {}
    for row in rows:
        if text := (f"missing: {row.missing}" if row.missing else row.why):
            notes.setdefault(text, []).append(row.name)
    for text, names in notes.items():
        print_line(f"\n{', '.join(names)}: {text}")
    count = {verdict: sum(row.verdict == verdict for row in rows) for verdict in ("agrees", "explained", "missing")}
    differ = sum(row.verdict == "differs" for row in rows)
    words = f"{count['agrees']} agree, {count['explained']} are explained, {count['missing']} lack material"
    print_line(f"\nOf {len(rows)} rows, {words}, {differ} differ.")


def _print_details(row: Row) -> None:
    from unweave.verify.row import difference, shown

    print_line(f"\n{row.name}: {row.what}\n  published in {row.where}")
    if row.missing:
        print_line(f"  missing: {row.missing}")
        return
    pairs = [(row.what, row.theirs, row.ours), *((pair.label, pair.theirs, pair.ours) for pair in row.details)]
    rows = ((label, shown(theirs), shown(ours), _gap(theirs, ours)) for label, theirs, ours in pairs)
    print_table(("number", "theirs", "ours", "difference"), rows)
    if row.difference is not None:
        limit = f"{row.tolerance:.1%}" if row.relative else f"{row.tolerance:.1e}"
        print_line(f"  {row.verdict}: largest difference {difference(row)}, tolerance {limit}")
    if row.why:
        print_line(f"  {row.why}")


def _gap(theirs: float | str | None, ours: float | None) -> str:
    return "" if theirs is None or isinstance(theirs, str) or ours is None else f"{ours - theirs:+.1e}"


def _fields(row: Row) -> dict[str, object]:
    names = ("name", "what", "where", "theirs", "ours", "difference", "verdict", "why", "missing")
    details = [pair._asdict() for pair in row.details]
    return {**{name: getattr(row, name) for name in names}, "details": details}
