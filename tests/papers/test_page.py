"""The page of a finding."""

import pandas as pd
import pytest

from unweave.papers import FINDINGS, Answer, Claim, Finding, Part, page, write_document
from unweave.papers.document import markdown_table
from unweave.papers.evidence import of_table


def judged(table: pd.DataFrame) -> Answer:
    measured = pd.DataFrame({"recipe": ["ae"], "mig": [float(table["mig"].mean())]})
    return Answer(
        [Claim("It works | always.", True, f"MIG {table['mig'].mean():.2f}.")], [Part("Scores", measured, measured)]
    )


def test_every_number_comes_from_the_table() -> None:
    finding = Finding("one", "A paper", "A sentence.", judged, lambda study: pd.DataFrame())
    runs = pd.DataFrame({"state": ["finished", "failed"], "seed": [0, 1], "seconds": [7200.0, 1.0], "mig": [0.5, 0.5]})
    text = page(write_document(finding, runs))
    assert "2 runs (1 finished, 1 failed), 1 seeds, 2.0 hours" in text
    assert "| It works \\| always. | shown | MIG 0.50. |" in text
    assert text.count("| ae | 0.5 |") == 2
    assert "MIG 0.25" in page(write_document(finding, runs.assign(mig=0.25)))


def test_what_was_written_about_the_stored_results_is_not_shown_beside_others() -> None:
    finding = FINDINGS["tripod"]
    stored = finding.stored()
    assert stored is not None
    words = finding.words(stored)
    assert words.setting in page(write_document(finding, stored))
    assert words.discussion in page(write_document(finding, stored))
    others = page(write_document(finding, stored.assign(step=200_000)))
    assert words.setting not in others
    assert words.discussion not in others


def test_missing_values_are_empty_cells() -> None:
    assert markdown_table(pd.DataFrame({"a": [float("nan")], "b": [1]})).splitlines()[-1] == "|  | 1 |"


def test_only_finished_runs_are_drawn() -> None:
    rows = [("finished", "vae", 0.1), ("finished", "ae", 0.2), ("failed", "pca", 0.9)]
    table = pd.DataFrame(rows, columns=["state", "recipe", "mig"]).assign(data="dsprites", seed=0)
    picture = of_table("score_strips", "Every run.", metrics=["mig"])
    assert picture.name == "score-strips"
    figure = picture.draw(table)
    labels = [text.get_text() for axes in figure.axes for text in axes.get_xticklabels() + axes.get_yticklabels()]
    assert any("AE" in label.upper() for label in labels)
    assert not any("PCA" in label.upper() for label in labels)


@pytest.mark.parametrize(("shown", "verdict"), [(True, "shown"), (False, "not shown"), (None, "not tested")])
def test_a_claim_says_what_it_is(shown: bool | None, verdict: str) -> None:
    assert Claim("It rains.", shown, "").verdict == verdict
