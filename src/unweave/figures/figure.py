"""The class of figures: how a table is made and drawn, and what it needs; and the table of runs that some draw."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import torch

from unweave.data import FactorData
from unweave.errors import InputError, extra, unknown
from unweave.figures.drawing.subjects import methods_of
from unweave.representation import Representation
from unweave.settings import Settings, keyword_settings
from unweave.study.columns import choose_metrics
from unweave.training import Run

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure as Drawn

Source = Literal["run", "runs", "data", "table"]
Need = Literal["end", "encoder", "decoder", "networks", "factors", "grid", "two latents", "log"]
SOURCES: dict[Source, str] = {
    "run": "one run, encoder or table of codes",
    "runs": "one or several runs, encoders or tables of codes",
    "data": "the data of runs, or --data NAME…",
    "table": "several runs, --study SPEC or --table FILE",
}
NEEDS: dict[Need, str] = {  # as in "this figure needs …"
    "end": "a finished run",
    "encoder": "an encoder, which codes alone do not have",
    "decoder": "a decoder: a run, or an encoder with a method decode",
    "networks": "the networks of a run",
    "factors": "data with known factors",
    "grid": "data with an image of every combination of factors",
    "two latents": "at least two latents",
    "log": "a training log, which only runs have, but those of linear recipes do not",
}


def table_of_runs(runs: Sequence[Run]) -> pandas.DataFrame:
    """Return a data frame with one row per run: ``run``, ``recipe``, ``method``, ``data``, ``seed``, options, scores.

    A method is a recipe with the weights in which its runs differ. Options of the data have names such as
    ``data.spacing``. Scores are those of the run (see
    :mod:`unweave.store.measurements`).
    """
    pandas = extra("pandas", "study")
    rows = []
    for run, method in zip(runs, methods_of(runs), strict=True):
        c = run.configuration
        options = {f"data.{name}": value for name, value in c.data.options.items()}
        known = {
            "run": run.name,
            "label": run.label,
            "recipe": c.recipe,
            "method": method,
            "data": c.data.name,
            "seed": c.seed,
        }
        rows.append({**known, **options, **run.scores.table})
    return pandas.DataFrame(rows)


def check_scored(figure: str, frame: pandas.DataFrame, metrics: Sequence[str]) -> list[str]:
    """Return the scores to draw: those given, or else all scores of disentanglement that the table has."""
    if isinstance(metrics, str):
        metrics = [metrics]
    try:
        return choose_metrics(figure, frame, list(metrics) or None)
    except InputError as error:
        raise InputError(f"{error} Scores of runs are measured by: unweave score RUN…") from error


def method_column(table: pandas.DataFrame, by: str | None) -> str:
    """Return the column that tells methods apart: the one given, else ``method`` or ``recipe``."""
    return by or ("method" if "method" in table else "recipe")


@dataclass(frozen=True)
class Figure:
    """A figure: how its table is made, and how the table is drawn.

    ``make`` is called with ``(run, data, generator)``, with ``(runs, data, generator)`` where both are sequences, with
    ``(data, generator)``, or with ``(table,)``, depending on ``source``; its keyword arguments are the settings of the
    figure. :meth:`of_runs` calls it for runs, whatever the source.

    Examples:
        >>> from unweave.figures import FIGURES
        >>> FIGURES["reconstructions"].about
        'Images beside their reconstructions by one or several runs.'
        >>> FIGURES["reconstructions"].source
        'runs'
    """

    name: str
    about: str  # one sentence
    source: Source
    make: Callable[..., Any]
    draw: Callable[[Any], Drawn]
    needs: tuple[Need, ...] = ()
    topic: str = "Further figures"  # the section of a report about runs that shows it
    paper: str = ""  # figures of the papers that it corresponds to
    rows: Callable[[Sequence[Run]], pandas.DataFrame] = table_of_runs  # the table of runs, if the source is a table
    frames: Callable[[Any], list[Any]] | None = None  # of an animation
    moving: Mapping[str, Any] = field(default_factory=dict)  # settings of an animation that differ from the defaults
    skips: bool = False  # whether runs that lack something are left out and named, as long as others are drawn

    def refusal(self, run: Representation, data: FactorData) -> str | None:
        """Return why the figure cannot be drawn for a run, as a sentence; None if it can."""
        lacking = [NEEDS[need] for need in self.needs if not _has(need, run, data)]
        return f"{self.name} needs {'; and '.join(lacking)}." if lacking else None

    def of_runs(
        self, runs: Sequence[Representation], data: Sequence[FactorData], generator: torch.Generator, **settings: Any
    ) -> Any:
        """Make the table of the figure for runs; ``data`` has the data set of each run.

        Args:
            runs: The runs to show.
            data: The data set of each run.
            generator: The source of randomness.
            **settings: Settings of the figure.

        Returns:
            What the figure draws.
        """
        self.check_settings(settings)
        refused = [(run, why) for run, own in zip(runs, data, strict=True) if (why := self.refusal(run, own))]
        if refused and not (self.skips and len(refused) < len(runs)):
            run, reason = refused[0]
            raise InputError(reason if len(runs) == 1 else f"{run.label or run.name}: {reason}")
        if self.source == "run":
            if len(runs) != 1:
                raise InputError(f"{self.name} shows one run at a time, got {len(runs)}.")
            return self.make(runs[0], data[0], generator, **settings)
        if self.source == "runs":
            return self.make(runs, data, generator, **settings)
        if self.source == "data":
            different = {own.identity.model_dump_json(): own for own in data}
            return self.make(list(different.values()), generator, **settings)
        return self.make(self.table_of(runs), **settings)

    def table_of(self, runs: Sequence[Representation]) -> pandas.DataFrame:
        """Return the table that the figure draws of runs; others have no stored scores and are refused."""
        stored = [run for run in runs if isinstance(run, Run)]
        if len(stored) < len(runs):
            raise InputError(f"{self.name} compares the stored scores of runs; write others into a table (--table).")
        return self.rows(stored)

    @property
    def settings(self) -> dict[str, Any]:
        """The settings by name, with ``default`` and ``annotation``."""
        return dict(self._settings.model_fields)

    @property
    def _settings(self) -> type[Settings]:
        skip = {"run": 3, "runs": 3, "data": 2, "table": 1}[self.source]
        return keyword_settings(self.make, f"figure {self.name}", skip)

    def check_settings(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """Return the settings if they have the right names and types; raise an InputError otherwise."""
        known = self._settings
        for key in settings:
            if key not in known.model_fields:
                raise unknown(f"setting of {self.name}", key, known.model_fields, setting=key)
        checked = known(**settings)
        return {key: getattr(checked, key) for key in settings}


def _has(need: Need, run: Representation, data: FactorData) -> bool:
    if need == "end":
        return run.finished
    if need == "encoder":
        return run.encodes
    if need == "decoder":
        return run.decodes
    if need == "networks":
        return isinstance(run, Run)
    if need == "factors":
        return bool(data.factor_names)
    if need == "grid":
        return data.has_factors and data.can_intervene and data.space.has_positions
    if need == "two latents":
        return run.size > 1
    return isinstance(run, Run) and not run.linear


def records_of(figure: Figure, result: Any) -> list[dict[str, Any]]:
    """Return the numbers of a figure as rows for a file; a figure of images has none and is refused."""
    if hasattr(result, "records"):
        rows: list[dict[str, Any]] = result.records()
        return rows
    frame = getattr(result, "frame", result)
    if hasattr(frame, "to_dict"):
        return list(frame.to_dict("records"))
    raise InputError(f"{figure.name} shows images, not numbers, so it cannot be written as .csv: use .png or .svg.")
