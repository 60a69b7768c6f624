"""Tables and numbers of a report: headings that screen readers announce, numbers aligned, long tables folded."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from numbers import Real
from typing import TYPE_CHECKING, Any

from unweave.names import words
from unweave.reports.html.markup import Html, joined, tag

if TYPE_CHECKING:
    import pandas
import math
from numbers import Integral

LONG = 12  # rows from which a table is folded
MOST = 250  # rows that are shown
NAMES = ("data", "recipe", "method", "metric", "score", "other", "task")  # columns with names


def make_table(
    columns: Sequence[object],
    rows: Sequence[Sequence[object]],
    *,
    caption: str = "",
    headings: int = 1,
    best: Collection[tuple[int, int]] = (),
    class_: str | None = None,
) -> Html:
    """Return a table; the first ``headings`` cells of each row name it, and cells in ``best`` are emphasised.

    Args:
        columns: The names of the columns.
        rows: The cells of each row.
        caption: A text that belongs to the table.
        headings: The number of cells of each row that name it.
        best: The cells that are emphasised, as pairs of a row and a column.
        class_: The CSS class of the table.

    Returns:
        The table as HTML.
    """
    numeric = [all(_is_number(row[place]) for row in rows) and bool(rows) for place in range(len(columns))]
    head = [tag("th", name, scope="col", class_=_kind(numeric[place])) for place, name in enumerate(columns)]

    def cell(row: int, place: int, value: object) -> Html:
        content = value if isinstance(value, Html) else shown(value)
        if place < headings:
            return tag("th", content, scope="row", class_=_kind(numeric[place]))
        emphasis = "best" if (row, place) in best else ""
        return tag("td", content, class_=" ".join(filter(None, (_kind(_is_number(value)), emphasis))) or None)

    body = [
        tag("tr", joined(cell(number, place, value) for place, value in enumerate(row)))
        for number, row in enumerate(rows)
    ]
    parts = [
        tag("caption", caption) if caption else "",
        tag("thead", tag("tr", joined(head))),
        tag("tbody", joined(body)),
    ]
    return tag("div", tag("table", joined(parts), class_=class_), class_="scroll")


def frame_table(
    frame: pandas.DataFrame, *, name: Callable[[str], str] = str, most: int = MOST, headings: int = 1
) -> Html:
    """Return a data frame as a table, folded if it is long; beyond ``most`` rows, it says how many were left out."""
    top = frame.head(most)
    names = [str(column) for column in frame.columns]
    rows = [
        [_printed(column, value) for column, value in zip(names, row, strict=True)]
        for row in top.astype(object).where(top.notna(), None).itertuples(index=False, name=None)
    ]
    table = make_table([name(column) for column in names], rows, headings=headings)
    if len(frame) > most:
        table = joined([table, tag("p", f"The first {most:,} of {len(frame):,} rows.", class_="note")])
    return folded(f"Table: {counted(len(frame), 'row')}", table) if len(frame) > LONG else table


def folded(summary: str, body: Any, *, open_: bool = False) -> Html:
    """Return content that is shown after a click on its summary."""
    return tag("details", tag("summary", summary), body, open=open_)


def _printed(column: str, value: object) -> object:
    """Return the names of methods, data sets and scores in a cell as they are printed, and a strength as it was set."""
    if column == "strength" and isinstance(value, float):
        return Setting(value)
    return words(value) if column in NAMES and isinstance(value, str) else value


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, Real) and not isinstance(value, bool))


def _kind(numeric: bool) -> str | None:
    return "number" if numeric else None


class Setting(float):
    """A number that somebody has set, such as a strength, which is shown with the digits that it needs."""


def shown(value: object) -> str:
    """Return a value as text: numbers with about four digits, "–" for what is missing.

    >>> shown(0.123456), shown(12600), shown(float("nan"))
    ('0.1235', '12,600', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, bool | str) or not isinstance(value, Real):
        return str(value)
    if isinstance(value, Setting) and math.isfinite(value):
        return f"{float(value):,.12g}".replace("-", "−")
    if isinstance(value, Integral):
        return f"{int(value):,}".replace("-", "−")
    return _decimal(float(value))


def _decimal(number: float) -> str:
    if not math.isfinite(number):
        return "–" if math.isnan(number) else "∞" if number > 0 else "−∞"
    size = abs(number)
    if (number.is_integer() and size < 1e15) or size >= 1000:
        text = f"{number:,.0f}"
    elif size >= 1e-3:
        text = f"{number:.{1 if size >= 100 else 2 if size >= 10 else 3 if size >= 1 else 4}f}"
    else:
        text = f"{number:.2g}"
    return text.replace("-", "−")


def ordinal(number: int) -> str:
    """Return a number as a place: 1st, 2nd, 3rd, 4th.

    >>> ordinal(11), ordinal(22)
    ('11th', '22nd')
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 run" or "12,600 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
