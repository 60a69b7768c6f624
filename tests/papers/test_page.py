"""The page of a finding."""

import pandas as pd

from unweave.papers import Answer, Claim, Finding, Part, page
from unweave.papers.page import markdown_table


def judged(table: pd.DataFrame) -> Answer:
    measured = pd.DataFrame({"recipe": ["ae"], "mig": [float(table["mig"].mean())]})
    return Answer(
        [Claim("It works | always.", True, f"MIG {table['mig'].mean():.2f}.")], [Part("Scores", measured, measured)]
    )


def test_every_number_comes_from_the_table() -> None:
    finding = Finding("one", "A paper", "A sentence.", judged, lambda study: pd.DataFrame(), discussion="Because.")
    runs = pd.DataFrame({"state": ["finished", "failed"], "seed": [0, 1], "seconds": [7200.0, 1.0], "mig": [0.5, 0.5]})
    text = page(finding, runs)
    assert "2 runs (1 finished, 1 failed), 1 seeds, 2.0 hours" in text
    assert "| It works \\| always. | shown | MIG 0.50. |" in text
    assert text.count("| ae | 0.5 |") == 2
    assert "Because." in text
    assert "MIG 0.25" in page(finding, runs.assign(mig=0.25))


def test_missing_values_are_empty_cells() -> None:
    assert markdown_table(pd.DataFrame({"a": [float("nan")], "b": [1]})).splitlines()[-1] == "|  | 1 |"
