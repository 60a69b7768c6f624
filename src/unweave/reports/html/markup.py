"""The markup of a report: elements from Python values, and a self-contained page, which makes no network requests.

Everything that is not markup already is escaped.
"""

from __future__ import annotations

import html
import re
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path

from unweave.errors import Unavailable
from unweave.store.files import write_text

VOID = ("br", "hr", "img", "meta")  # elements without content
STYLE = Path(__file__).with_name("page.css")
POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'"  # no script runs, and nothing is fetched


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
    """Return a page as the text of an HTML file: title, lead, contents, and the sections."""
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


def write_page(path: str | Path, text: str) -> Path:
    """Write a page to a file, whole or not at all, and return its path."""
    path = Path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise Unavailable(f"cannot write {path}: {error.strerror or error}.") from error
    write_text(path, text)
    return path


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
