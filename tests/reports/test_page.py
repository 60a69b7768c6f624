from __future__ import annotations

from pathlib import Path

import pytest

from tests.reports.reading import check_self_contained
from unweave.errors import Unavailable
from unweave.reports.html.markup import Section, make_page, tag, write_page


def test_a_page_has_contents_headings_and_no_script() -> None:
    hostile = "</title><script>alert(1)</script>"
    sections = [
        Section("Scores", tag("p", "one"), "About."),
        Section("Scores", tag("p", "two")),
        Section("…", tag("p")),
    ]
    page = check_self_contained(make_page(hostile, sections, lead=hostile))
    assert [element for element, _ in page.elements if element in ("h1", "h2")] == ["h1", "h2", "h2", "h2"]
    assert [link["href"] for link in page.all("a")] == ["#scores", "#scores-2", "#section"]
    assert hostile in page.text
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_a_page_is_written_into_a_new_folder(tmp_path: Path) -> None:
    path = write_page(tmp_path / "new" / "page.html", "ü")
    assert path.read_text(encoding="utf-8") == "ü"
    (tmp_path / "file").touch()
    with pytest.raises(Unavailable, match="cannot write"):
        write_page(tmp_path / "file" / "page.html", "")
