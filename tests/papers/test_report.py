"""The report of a finding."""

from pathlib import Path

import pandas as pd

from unweave.papers import Answer, Claim, Finding, Part, write_report


def judged(table: pd.DataFrame) -> Answer:
    return Answer([Claim("a < b", False, "1 against 2")], [Part("Scores", table[["mig"]], table[["mig"]])])


def test_the_report_has_the_claims_and_both_tables(tmp_path: Path) -> None:
    finding = Finding("one", "A paper", "A sentence.", judged, lambda study: pd.DataFrame(), discussion="Because.")
    runs = pd.DataFrame({"state": ["finished"], "seed": [0], "seconds": [3600.0], "mig": [0.125]})
    text = write_report(finding, runs, tmp_path / "one.html", command="unweave paper run one").read_text("utf-8")
    assert "a &lt; b" in text
    assert "not shown" in text
    assert text.count("0.125") == 2
    assert "As published" in text
    assert "unweave paper run one" in text
    assert "1.0 hours" in text
    assert "<script" not in text
