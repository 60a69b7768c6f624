"""The report of a finding."""

import pandas as pd
from matplotlib.figure import Figure

from unweave.papers import Answer, Claim, Finding, Part, page, report, write_document
from unweave.papers.finding import Picture


def judged(table: pd.DataFrame) -> Answer:
    return Answer([Claim("a < b", False, "1 against 2")], [Part("Scores", table[["mig"]], table[["mig"]])])


def test_the_report_has_the_claims_and_both_tables() -> None:
    finding = Finding("one", "A paper", "A sentence.", judged, lambda study: pd.DataFrame())
    runs = pd.DataFrame({"state": ["finished"], "seed": [0], "seconds": [3600.0], "mig": [0.125]})
    text = report(write_document(finding, runs, command="unweave paper run one", text='name = "one"'))
    assert "a &lt; b" in text
    assert "not shown" in text
    assert text.count("0.125") == 2
    assert "As published" in text
    assert "unweave paper run one" in text
    assert "name = &quot;one&quot;" in text
    assert "1.0 hours" in text
    assert "<script" not in text


def test_answers_and_figures_are_computed_once() -> None:
    calls = []

    def counted(table: pd.DataFrame) -> Answer:
        calls.append("answer")
        return judged(table)

    def drawn(table: pd.DataFrame) -> Figure:
        calls.append("figure")
        return Figure()

    picture = Picture("scores", "All scores.", drawn)
    finding = Finding("one", "A paper", "A sentence.", counted, lambda study: pd.DataFrame(), figures=(picture,))
    runs = pd.DataFrame({"state": ["finished"], "seed": [0], "seconds": [3600.0], "mig": [0.125]})
    document = write_document(finding, runs)
    assert "All scores." in report(document)
    assert "All scores." in page(document)
    assert [picture for picture, _ in document.figures] == [picture]
    assert calls == ["answer", "figure"]
