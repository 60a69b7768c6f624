from __future__ import annotations

from unweave.reports.html.markup import Html, escaped, joined, tag


def test_children_and_attributes_are_escaped_once() -> None:
    hostile = '"><script>alert(1)</script>'
    made = tag("p", hostile, tag("b", "a & b"), title=hostile)
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 2
    assert "<b>a &amp; b</b>" in made


def test_attributes_can_be_absent_or_without_value() -> None:
    assert tag("details", "x", open=True, class_=None, hidden=False) == "<details open>x</details>"
    assert tag("img", alt="", src="data:,") == '<img alt="" src="data:,">'
    assert tag("p", name="viewport", aria_label="a") == '<p name="viewport" aria-label="a"></p>'


def test_text_that_cannot_be_written_as_utf8_is_replaced() -> None:
    assert escaped("\ud800").encode("utf-8") == b"?"


def test_joined_keeps_markup_and_escapes_text() -> None:
    assert joined([Html("<br>"), "<", 3]) == "<br>&lt;3"
