"""Training curves: the loss and every term of it over the steps of one or several runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import torch

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.figures.drawing.panels import TEXT, lay_out, panel_grid, style_methods
from unweave.figures.drawing.subjects import names_of, title_of
from unweave.names import words
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure

ACROSS = 3  # panels
DASHES: tuple[Any, ...] = ("-", (0, (4, 1.5)), (0, (1, 1)), (0, (4, 1, 1, 1)), (0, (8, 2)))  # told apart in grey print
FAR = 50.0  # largest over smallest value from which an axis is logarithmic


@dataclass(frozen=True)
class Curves:
    """The steps and values of each term, for each run that has it."""

    title: str
    terms: dict[str, dict[str, tuple[list[int], list[float]]]]
    note: str = ""  # which runs are left out
    recipes: Mapping[str, str] = field(default_factory=dict)  # of each run, by its name

    def records(self) -> list[dict[str, Any]]:
        """Return one row per run, term and step."""
        return [
            {"run": run.replace("\n", ", "), "term": term, "step": step, "value": value}
            for term, lines in self.terms.items()
            for run, (steps, values) in lines.items()
            for step, value in zip(steps, values, strict=True)
        ]


def make_training_curves(
    runs: Sequence[Run], data: Sequence[FactorData] = (), generator: torch.Generator | None = None
) -> Curves:
    """Read the log of each run; neither data nor random numbers are needed.

    Runs without a log, such as those of linear recipes, are left out and named in the note.
    """
    terms: dict[str, dict[str, tuple[list[int], list[float]]]] = {}
    without = []
    for run, name in zip(runs, names_of(runs), strict=True):
        if not run.log:
            without.append(name.replace("\n", ", "))
        for line in run.log:
            for term, value in line.items():
                if term != "step":
                    steps, values = terms.setdefault(term, {}).setdefault(name, ([], []))
                    steps.append(line["step"])
                    values.append(float(value))
    if not terms:
        raise InputError("training_curves: the log is empty. Linear recipes have none, other runs after some steps.")
    note = f"Without a training log: {', '.join(without)}." if without else ""
    title = title_of(runs[0], data=data[0] if data else None) if len(runs) == 1 else "Training curves"
    recipes = {name: run.configuration.recipe for name, run in zip(names_of(runs), runs, strict=True)}
    return Curves(title, terms, note, recipes)


def draw_training_curves(result: Curves) -> Figure:
    """Draw one panel per term with one line per run, and return the matplotlib figure.

    An axis is logarithmic if its values are positive and span a wide range.
    """
    columns = min(ACROSS, len(result.terms))
    rows = -(-len(result.terms) // columns)
    figure, axes = panel_grid(rows, columns, sharex=True)
    names = list(dict.fromkeys(name for lines in result.terms.values() for name in lines))
    styles = {
        name: {"color": style["color"], "linestyle": DASHES[place % len(DASHES)]}
        for place, (name, style) in enumerate(style_methods(names, result.recipes).items())
    }
    for panel, (term, lines) in zip(axes.flat, result.terms.items(), strict=False):
        for name, (steps, values) in lines.items():
            marker = "o" if len(steps) < 3 else None
            panel.plot(steps, values, linewidth=1.1, marker=marker, markersize=3, **styles[name])
        every = [value for _, values in lines.values() for value in values]
        if min(every) > 0 and max(every) / min(every) > FAR:
            panel.set_yscale("log")
        panel.set_title(words(term), fontsize=TEXT)
    for panel in list(axes.flat)[len(result.terms) :]:
        panel.set_axis_off()
    for panel in list(axes.flat)[: len(result.terms)][-columns:]:  # the lowest of each column, also above a gap
        panel.tick_params(labelbottom=True)
    return lay_out(
        figure,
        axes,
        height=1.4,
        title=result.title,
        label="step",
        caption=result.note,
        legend=styles if len(names) > 1 else None,
        as_words=False,
        linewidth=1.5,
        marker="",
        handlelength=3.2,
    )
