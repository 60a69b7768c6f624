from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from matplotlib.figure import Figure

from tests.reports.reading import Page
from unweave import Run
from unweave.figures.catalogue import FIGURES
from unweave.reports.facts import read_facts
from unweave.reports.run_figures import OTHER, TOPICS, Budget, show_figures


def test_every_figure_of_runs_belongs_to_a_topic() -> None:
    named = [name for names in TOPICS.values() for name in names]
    assert sorted(named) == sorted(name for name, figure in FIGURES.items() if figure.source in ("run", "runs"))


def test_pictures_share_the_bytes_that_remain() -> None:
    budget = Budget(2, total=40_000)
    figure = Figure(figsize=(2, 2))
    figure.subplots()
    first = budget.show(figure, "one")
    assert budget.left == 40_000 - len(first) * 3 // 4
    assert budget.pictures == 1


def test_figures_of_a_run_are_shown_by_topic(page: Path) -> None:
    shown = Page(page.read_text())
    headings = [word for word in shown.words if word in (*TOPICS, "Traversals", "Two latents", "Jacobian", "Curvature")]
    assert (
        headings[len(TOPICS) :]
        == [  # after the contents
            *list(TOPICS)[:2],
            *("Traversals", "Two latents", "Jacobian", "Curvature"),
            *list(TOPICS)[2:],
        ]
    )
    assert OTHER not in shown.words
    assert len(shown.all("h3")) == sum(map(len, TOPICS.values()))
    assert len(shown.all("img")) >= 10


def test_runs_that_cannot_be_opened_have_no_figures(runs: list[Run]) -> None:
    assert show_figures([replace(read_facts(runs[0].folder), data=None)]) == []
