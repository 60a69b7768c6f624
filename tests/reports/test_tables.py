from __future__ import annotations

import pandas

from tests.reports.reading import Page
from unweave.reports.html.tables import LONG, frame_table, make_table


def test_rows_and_columns_have_scoped_headings() -> None:
    page = Page(make_table(["run", "mig"], [["<b>", 0.5], ["b", None]], caption="Scores", best={(0, 1)}))
    assert [heading["scope"] for heading in page.all("th")] == ["col", "col", "row", "row"]
    assert [cell.get("class") for cell in page.all("td")] == ["number best", "number"]
    assert page.words == ["Scores", "run", "mig", "<b>", "0.5000", "b", "–"]


def test_long_tables_are_folded_and_say_what_they_leave_out() -> None:
    short = frame_table(pandas.DataFrame({"a": range(LONG)}))
    assert not Page(short).all("details")
    page = Page(frame_table(pandas.DataFrame({"a": range(30), "b": [float("nan")] * 30}), most=20))
    assert len(page.all("details")) == 1
    assert len(page.all("tr")) == 21
    assert "Table: 30 rows" in page.text
    assert "The first 20 of 30 rows." in page.text


def test_strengths_are_shown_as_they_were_set_and_scores_with_four_digits() -> None:
    page = Page(frame_table(pandas.DataFrame({"recipe": ["vae"], "strength": [0.1], "mig": [0.1]})))
    assert page.words[-2:] == ["0.1", "0.1000"]
    assert [cell.get("class") for cell in page.all("td")] == ["number", "number"]
