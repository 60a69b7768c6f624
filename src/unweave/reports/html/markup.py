"""HTML from Python values: everything that is not markup already is escaped."""

from __future__ import annotations

import html
from collections.abc import Iterable

VOID = ("br", "hr", "img", "meta")  # elements without content


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
