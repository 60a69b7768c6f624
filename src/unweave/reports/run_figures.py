"""The figures of runs in a report: all that apply, by topic, within a limit on the size of the page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from unweave.data import FactorData
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.figures.catalogue import FIGURES
from unweave.figures.figure import Figure
from unweave.names import words
from unweave.reports.facts import Facts
from unweave.reports.html.embedded_figures import show_figure
from unweave.reports.html.markup import Html, Section, joined, tag
from unweave.representation import Representation
from unweave.streams import stream

if TYPE_CHECKING:
    from matplotlib.figure import Figure as Drawn

TOPICS: dict[str, tuple[str, ...]] = {
    "Reconstruction": ("reconstructions", "samples"),
    "What the latents do": ("traversals", "two_latents", "jacobian", "curvature"),
    "Latents and factors": ("mutual_information", "dci_importance", "interventions", "distances"),
    "Distribution of the codes": ("latent_marginals", "latent_pairs"),
    "Training": ("training_curves",),
}
OTHER = "Further figures"
BYTES = 3_300_000  # of all pictures; a page stores them in base64, which takes a third more
MOST_RUNS = 6  # beyond, figures of single runs are left out

Watch = Callable[[str], None]


class Budget:
    """Bytes that remain for the pictures of a page, shared equally by those that are still to come."""

    def __init__(self, pictures: int, total: int = BYTES) -> None:
        self.left, self.pictures = total, max(pictures, 1)

    def show(self, drawn: Drawn, alt: str, caption: object = "") -> Html:
        """Return a picture within its share of what remains."""
        shown = show_figure(drawn, alt, most=self.left // self.pictures, caption=caption)
        self.pictures = max(self.pictures - 1, 1)
        self.left -= len(shown) * 3 // 4
        return shown


def show_figures(several: Sequence[Facts], watch: Watch | None = None) -> list[Section]:
    """Return one section per topic with every figure that applies to the runs.

    Figures that compare runs show all of them; others are drawn for each run and stand side by side. Runs whose
    weights or data cannot be opened have no figures.
    """
    opened = [(facts, facts.run, facts.data) for facts in several if facts.run is not None and facts.data is not None]
    if not opened:
        return []
    known = {name: figure for name, figure in FIGURES.items() if figure.source in ("run", "runs")}
    ordered = [name for names in TOPICS.values() for name in names if name in known]
    figures = [known[name] for name in (*ordered, *(name for name in known if name not in ordered))]
    alone = len(opened) if len(opened) <= MOST_RUNS else 0
    budget = Budget(sum(1 if figure.source == "runs" else alone for figure in figures))
    shown: dict[str, list[Html]] = {topic: [] for topic in (*TOPICS, OTHER)}
    for figure in figures:
        if watch is not None:
            watch(words(figure.name))
        topic = next((topic for topic, names in TOPICS.items() if figure.name in names), OTHER)
        if (content := _shown(figure, opened, budget)) is not None:
            shown[topic].append(content)
    return [Section(topic, joined(parts)) for topic, parts in shown.items() if parts]


def _shown(figure: Figure, opened: Sequence[tuple[Facts, Representation, FactorData]], budget: Budget) -> Html | None:
    """Return a figure with its heading, or None if it applies to none of the runs."""
    usable = [(facts, run, data) for facts, run, data in opened if figure.refusal(run, data) is None]
    if not usable or (figure.source == "run" and len(opened) > MOST_RUNS):
        return None
    if figure.skips:
        usable = list(opened)
    title = words(figure.name)
    parts: list[Html] = [tag("h3", title[0].upper() + title[1:])]
    together = [usable] if figure.source == "runs" else [[each] for each in usable]
    pictures = []
    for group in together:
        names = ", ".join(facts.label for facts, _, _ in group)
        content = _drawn(figure, [run for _, run, _ in group], [data for _, _, data in group], names, budget)
        heading = tag("h4", group[0][0].label) if len(together) > 1 else ""
        pictures.append(tag("div", heading, content))
    parts.append(tag("div", joined(pictures), class_="beside") if len(pictures) > 1 else joined(pictures))
    return joined(parts)


def _drawn(
    figure: Figure, runs: Sequence[Representation], data: Sequence[FactorData], names: str, budget: Budget
) -> Html:
    try:
        result = figure.of_runs(runs, data, stream(runs[0].seed, "pictures"))
        drawn = figure.draw(result)
    except (InputError, Unavailable, MissingExtra) as error:
        return tag("p", f"Left out: {error}", class_="note")
    about = figure.about.partition(";")[0].rstrip(".") + "."  # what follows is about the command line
    return budget.show(drawn, f"{about} Shown for {names}.", about)
