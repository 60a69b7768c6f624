"""HTML of reports: elements from Python values, tables, numbers, paths, and a page without network requests."""

from __future__ import annotations

import html
import math
import os
import re
import shlex
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.names import words
from unweave.store.folder import NAME, store_folder

if TYPE_CHECKING:
    import pandas

VOID = ("br", "hr", "img", "meta")  # elements without content
STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # no script runs, and nothing is fetched
LONG = 12  # rows from which a table is folded
MOST = 250  # rows that are shown
NAMES = ("data", "recipe", "method", "metric", "score", "other", "task")  # columns with names


class Html(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


def escaped(value: object) -> Html:
    """Return a value as markup: its text with every special character replaced, or the markup itself.

    >>> escaped("a < b")
    'a &lt; b'
    """
    if isinstance(value, Html):
        return value
    text = str(value).encode("utf-8", "replace").decode("utf-8")  # half of a surrogate pair cannot be written
    return Html(html.escape(text, quote=True))


def tag(name: str, /, *children: object, **attributes: object) -> Html:
    """Return an element with its children, all of them escaped unless they are markup.

    Attributes that are None or False are left out, and True is written without a value. A final underscore of their
    names is removed, and other underscores become dashes, so that ``class_`` and ``aria_label`` can be written.

    >>> tag("p", "5 > 4", class_="note")
    '<p class="note">5 &gt; 4</p>'
    """
    words = [name]
    for key, value in attributes.items():
        key = key.rstrip("_").replace("_", "-")
        if value is True:
            words.append(key)
        elif value is not None and value is not False:
            words.append(f'{key}="{escaped(value)}"')
    opening = f"<{' '.join(words)}>"
    return Html(opening) if name in VOID else Html(f"{opening}{joined(children)}</{name}>")


def joined(parts: Iterable[object]) -> Html:
    """Return the parts one after the other, escaped unless they are markup."""
    return Html("".join(escaped(part) for part in parts))


@dataclass(frozen=True)
class Section:
    """A part of a page with a heading."""

    title: str
    body: Html
    about: str = ""  # one sentence below the heading
    short: str = ""  # the title in the contents, if another one

    @property
    def anchor(self) -> str:
        """The name by which the contents link to the section."""
        return re.sub(r"\W+", "-", self.short or self.title).strip("-").lower() or "section"


def make_page(title: str, sections: Sequence[Section], *, lead: object = "", kind: str = "Report") -> str:
    """Return a page as the text of an HTML file: title, lead, contents, and the sections.

    Args:
        title: The heading.
        sections: The parts of the page, which the contents list.
        lead: What stands below the heading.
        kind: A word above the heading.

    Returns:
        The page.
    """
    anchors = _distinct([section.anchor for section in sections])
    head = joined(
        [
            tag("meta", charset="utf-8"),
            tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
            tag("meta", http_equiv="Content-Security-Policy", content=POLICY),
            tag("meta", name="color-scheme", content="light dark"),
            tag("title", title),
            tag("style", Html(STYLE.read_text(encoding="utf-8"))),
        ]
    )
    links = [
        tag("li", tag("a", section.short or section.title, href=f"#{anchor}"))
        for section, anchor in zip(sections, anchors, strict=True)
    ]
    body = [
        tag("header", tag("p", kind, class_="kind"), tag("h1", title), tag("div", lead, class_="lead")),
        tag("nav", tag("ul", joined(links)), aria_label="Contents"),
        tag("main", joined(_section(*each) for each in zip(sections, anchors, strict=True))),
        tag("footer", tag("p", f"Written by Unweave {version('unweave')} on {time.strftime('%d %B %Y, %H:%M')}.")),
    ]
    return f"<!doctype html>\n{tag('html', tag('head', head), tag('body', joined(body)), lang='en')}\n"


def _section(section: Section, anchor: str) -> Html:
    about = tag("p", section.about, class_="about") if section.about else ""
    return tag("section", tag("h2", section.title), about, section.body, id=anchor)


def _distinct(anchors: Sequence[str]) -> list[str]:
    """Return the anchors, where the second of the same name is followed by 2, and so on."""
    seen: dict[str, int] = {}
    distinct = []
    for anchor in anchors:
        seen[anchor] = seen.get(anchor, 0) + 1
        distinct.append(anchor if seen[anchor] == 1 else f"{anchor}-{seen[anchor]}")
    return distinct


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
    """Return a data frame as a table, folded if it is long.

    Args:
        frame: The data frame.
        name: Returns the heading of a column.
        most: The number of rows that are shown; of others, the table says how many there are.
        headings: The number of cells of each row that name it.

    Returns:
        The table.
    """
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


def from_here(path: str | Path) -> str:
    """Return an absolute path as seen from the current folder; a relative one stays as it is.

    A path on another drive, which Windows has, stays absolute.
    """
    if not Path(path).is_absolute():
        return str(path)
    try:
        return os.path.relpath(path)
    except ValueError:
        return str(path)


def as_path(path: str | Path) -> str:
    """Return a path from the current folder with a separator, so that commands do not take it for a name."""
    text = from_here(path)
    return text if os.sep in text or "/" in text else f"./{text}"


def source_from_here(source: Mapping[str, Any]) -> dict[str, Any]:
    """Return the source of a data set with every absolute path in it, also in its options, as seen from here."""
    return {
        key: source_from_here(value)
        if isinstance(value, Mapping)
        else as_path(value)
        if isinstance(value, str) and Path(value).is_absolute()
        else value
        for key, value in source.items()
    }


def hide_places(text: str, places: Iterable[str | Path]) -> str:
    """Return a text in which these absolute paths are written as seen from here."""
    for place in sorted(map(str, places), key=len, reverse=True):
        if Path(place).is_absolute():
            text = text.replace(place, as_path(place))
    return text


def run_commands(command: str, folders: Iterable[Path]) -> str:
    """Return a command on runs, one line per store: by name, with ``--store`` unless it is the store used anyway."""
    usual = store_folder().absolute()
    stores: dict[Path, list[str]] = {}
    for folder in folders:
        named = NAME.fullmatch(folder.name) is not None
        store = folder.absolute().parent if named else usual
        stores.setdefault(store, []).append(folder.name if named else as_path(folder))
    return "\n".join(
        shlex.join([*command.split(), *names, *([] if store == usual else ["--store", from_here(store)])])
        for store, names in stores.items()
    )
