"""Read a page as a browser would: its elements, its text, and whether every element is closed."""

from __future__ import annotations

from html.parser import HTMLParser

VOID = {"br", "hr", "img", "meta"}


class Page(HTMLParser):
    """The elements of a page by name, with their attributes, and its visible text."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.words: list[str] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if not self._open or self._open[-1] != "style":
            self.words.append(data)

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.elements if name == tag]

    @property
    def text(self) -> str:
        return " ".join(self.words)


def check_self_contained(text: str) -> Page:
    """Parse a page and check that it runs no script and names no other file."""
    page = Page(text)
    assert page.all("script") == []
    assert page.all("link") == []
    for _, attributes in page.elements:
        assert not any(name.startswith("on") for name in attributes)
        for name in ("src", "href", "srcset", "action"):
            address = attributes.get(name)
            assert address is None or address.startswith(("data:image/", "#")), address
    for image in page.all("img"):
        assert image.get("alt")
    assert all("scope" in attributes for attributes in page.all("th"))
    anchors = [attributes["id"] for _, attributes in page.elements if "id" in attributes]
    assert len(anchors) == len(set(anchors))
    links = {str(link["href"])[1:] for link in page.all("a")}
    assert links <= set(anchors)
    return page
