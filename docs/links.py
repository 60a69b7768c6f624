"""Walk the links of the built docs site."""

from __future__ import annotations

from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit


class _Page(HTMLParser):
    """The anchors of a page, its links, and the addresses of what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = {"", "__top"}
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attributes}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        elif tag == "link" and given.get("rel") != "canonical" and "href" in given:
            self.loaded.append(given["href"])
        elif "src" in given:
            self.loaded.append(given["src"])


def broken_links(site: Path) -> list[str]:
    """Return a sentence for each link of a built site without a target, and for each file loaded from another host."""
    pages = {
        path: _Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if path.parent.name != "live"
    }
    found = []
    for path, page in pages.items():
        where = path.relative_to(site)
        found += [f"{where} loads {address}" for address in page.loaded if urlsplit(address).netloc]
        for address in [*page.links, *page.loaded]:
            name, anchor = urldefrag(address)
            if urlsplit(address).scheme or urlsplit(address).netloc or path.name == "404.html":
                continue
            target = (path.parent / unquote(name)).resolve() if name else path.resolve()
            target = target / "index.html" if target.is_dir() else target
            if not target.is_file():
                found.append(f"{where} links to {address}, which does not exist")
            elif target in pages and unquote(anchor) not in pages[target].anchors:
                found.append(f"{where} links to {address}, but {target.name} has no such anchor")
    return found
