"""Draw a figure by its name, of anything that it can be made from."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from unweave.data import FactorData
from unweave.data import load as load_data
from unweave.errors import InputError
from unweave.figures.figure import NEEDS, SOURCES, Figure, table_of_runs
from unweave.figures.mutual_information import ABOVE_CHANCE, Information, draw_maps
from unweave.metrics import Scores
from unweave.names import titled
from unweave.representation import Encoder, Representation
from unweave.study import Study
from unweave.training import Run, open_run

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure as Drawn

MATRICES = {  # of scores, (latents, factors): the metric and field, its label and the end of its scale
    "mutual_information": (
        ("follows", "share", ABOVE_CHANCE, 1.0),
        ("infomec", "nmi", "I(z; f) / H(f)", 1.0),
        ("mig", "mutual_information", "I(z; f), nats", None),
    ),
    "dci_importance": (("dci", "importance", "importance", None),),
}


def figure(
    name: str,
    of: object,
    *,
    data: FactorData | str | Sequence[FactorData | str] | None = None,
    seed: int = 0,
    **settings: Any,
) -> Drawn:
    """Draw a figure and return it; a notebook shows what is returned, and ``figure.savefig(path)`` writes it.

    Args:
        name: The name of the figure; ``unweave figure list`` shows all.
        of: What it is drawn from: a run, an encoder or codes, or several, runs also by name; a
            :class:`~unweave.Study`; a pandas data frame with one row per run; a data set or several; or scores.
        data: The data set to show instead of that of the runs; the data of an encoder.
        seed: The seed of random choices, such as which images are shown.
        **settings: Settings of the figure.

    Returns:
        The matplotlib figure.

    Examples:
        >>> import unweave
        >>> drawn = unweave.figure("traversals", unweave.open("zoo:ada-gvae-xysquares"))
        >>> drawn.savefig("traversals.png")
    """
    from unweave.questions import figure_named

    entry = figure_named(name)
    if isinstance(of, Scores):
        return shown_by_notebooks(_of_scores(entry.name, of, settings))
    if isinstance(data, str | FactorData):
        data = [data]
    sets = [load_data(each) if isinstance(each, str) else each for each in data or ()]
    with titled(of.titles if isinstance(of, Study) else {}):
        made = make_figure(entry, of, sets, torch.Generator().manual_seed(seed), entry.check_settings(settings))
        return shown_by_notebooks(entry.draw(made))


def shown_by_notebooks(drawn: Drawn) -> Drawn:
    """Let a notebook show a figure whichever backend of matplotlib it uses, also where pyplot was never imported."""
    drawn._repr_png_ = partial(png_of, drawn)  # type: ignore[attr-defined]
    return drawn


def png_of(drawn: Drawn) -> bytes:
    """Return a figure as PNG, in the resolution of a screen."""
    stream = BytesIO()
    drawn.savefig(stream, format="png", dpi=110)
    return stream.getvalue()


def make_figure(
    entry: Figure,
    of: Any,
    sets: Sequence[FactorData],
    generator: torch.Generator,
    settings: Mapping[str, Any],
    where: Mapping[str, Any] | None = None,
) -> Any:
    """Return what a figure draws, from anything that it can be made from.

    Args:
        entry: The figure.
        of: A study, a table of runs, data sets, or runs and other representations, runs also by name.
        sets: The data set to show instead of that of the runs, or one for each of them.
        generator: The source of randomness.
        settings: The settings of the figure, checked.
        where: The settings of the runs of a study that are shown; by default all.

    Returns:
        The argument of ``entry.draw``.
    """
    if isinstance(of, Study):
        if entry.source != "table":
            return make_figure(entry, of.runs(where), sets, generator, settings)
        return entry.make(
            _finished(of, where) if entry.rows is table_of_runs else entry.rows(of.runs(where)), **settings
        )
    if hasattr(of, "columns"):
        if entry.source != "table":
            raise InputError(f"{entry.name} shows {SOURCES[entry.source]}, not a table.")
        return entry.make(of, **settings)
    several = list(of) if isinstance(of, list | tuple) else [of]
    if several and all(isinstance(each, FactorData) for each in several):
        if entry.source != "data":
            raise InputError(f"{entry.name} needs {SOURCES[entry.source]}, got data only.")
        if not all(own.has_factors and own.can_intervene and own.space.has_positions for own in several):
            raise InputError(f"{entry.name} needs {NEEDS['grid']}.")
        return entry.make(several, generator, **settings)
    runs = [_representation(each, sets) for each in several]
    if not runs or not all(isinstance(each, Representation) for each in runs):
        wrong = next((type(each).__name__ for each in runs if not isinstance(each, Representation)), "nothing")
        raise InputError(f"{entry.name} needs {SOURCES[entry.source]}, got {wrong}.")
    if entry.source == "table":
        return entry.make(entry.table_of(runs), **settings)
    if sets and len(sets) not in (1, len(runs)):
        raise InputError(f"{entry.name}: give one data set, or one for each of the {len(runs)} runs, got {len(sets)}.")
    own = list(sets) * len(runs) if len(sets) == 1 else sets or _data_of(runs)
    return entry.of_runs(runs, own, generator, **settings)


def _data_of(runs: Sequence[Representation]) -> list[FactorData]:
    """Open the data of each run; the same data is opened once."""
    places = [run.configuration.data.model_dump_json() if isinstance(run, Run) else str(id(run)) for run in runs]
    found = {place: run for run, place in zip(runs, places, strict=True)}
    opened = {place: run.data() for place, run in found.items()}
    return [opened[place] for place in places]


def _representation(each: Any, sets: Sequence[FactorData]) -> Any:
    """Open a run by its name, and join a callable with the data that was given."""
    if isinstance(each, str | Path):
        return open_run(each)
    if isinstance(each, Representation) or not callable(each):
        return each
    if not sets:
        raise InputError("an encoder of your own needs data: pass data= as well, or unweave.Encoder(encode, data).")
    return Encoder(each, sets[0])


def _finished(study: Study, where: Mapping[str, Any] | None) -> pandas.DataFrame:
    table = study.table(where)
    finished = table[table["state"] == "finished"]
    if not len(finished):
        among = f" among those with {dict(where)}" if where else ""
        advice = f"unweave study run {study.file}" if study.file else "run it first."
        raise InputError(f"no run of {study.file or study.spec.name} is finished{among}: {advice}")
    return finished


def _of_scores(name: str, scores: Scores, settings: Mapping[str, Any]) -> Drawn:
    """Draw the matrix of latents and factors that a metric has computed."""
    if name not in MATRICES:
        raise InputError(f"{name} cannot be drawn from scores, which have matrices for {' and '.join(MATRICES)}.")
    if settings:
        raise InputError(f"{name} of scores has no settings: the matrix was computed with those of the metric.")
    for metric, field, label, greatest in MATRICES[name]:
        if metric in scores:
            matrix = getattr(scores[metric], field).T
            factors = _factor_names(scores, len(matrix))
            latents = range(matrix.shape[1])
            one = Information("", matrix, factors, tuple(latents), tuple(False for _ in latents))
            return draw_maps(f"{label} of {metric}", [one], label=label, greatest=greatest)
    needed = " or ".join(metric for metric, *_ in MATRICES[name])
    raise InputError(f"{name} needs the score {needed}, and the scores are {', '.join(scores) or 'none'}.")


def _factor_names(scores: Scores, count: int) -> tuple[str, ...]:
    """Return the names of factors where the scores have them, otherwise their numbers."""
    named = next((result.factors for result in scores.values() if hasattr(result, "factors")), ())
    return tuple(map(str, named)) if len(named) == count else tuple(f"factor {k}" for k in range(count))
