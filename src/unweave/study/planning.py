"""The plan of a study: its runs as configurations, each once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from unweave.data import DataIdentity, identity_of
from unweave.errors import InputError, Unavailable
from unweave.metrics.choosing import check_settings, find_metrics
from unweave.study.spec import STRENGTH, Spec, with_line
from unweave.training import Configuration, configure


@dataclass(frozen=True)
class Planned:
    """One run of a study: the settings that were given, and the configuration that they make."""

    settings: dict[str, Any]
    configuration: Configuration

    @property
    def name(self) -> str:
        """The name of the run."""
        return self.configuration.name


def plan(spec: Spec, text: str = "") -> list[Planned]:
    """Return the runs of a study, in the order of its grids.

    Two points of a grid can be the same run, as β-VAE and β-TCVAE with β = 1 are: both are listed, and the run is
    trained once. The same settings in two grids are refused. Nothing is opened or trained. Errors name the line of
    ``text``, the TOML that the specification was read from.
    """
    if spec.metrics:
        try:
            find_metrics(spec.metrics)
            check_settings(spec.score.settings, spec.metrics)
        except InputError as error:
            raise with_line(text, "metrics", 0, error) from None
    runs: list[Planned] = []
    seen: dict[str, int] = {}  # the grid of each point
    identities: dict[str, DataIdentity] = {}
    for number, grid in enumerate(spec.grid, 1):
        alone = spec.model_copy(update={"grid": (grid,)})
        for settings in alone.points():
            try:
                planned = Planned(settings, configured(settings, identities))
            except (InputError, Unavailable) as error:
                raise with_line(
                    text, _blamed(settings, str(error)), number, InputError(f"grid {number}: {error}")
                ) from None
            point = repr(sorted(settings.items()))
            if point in seen:
                repeated = InputError(f"grid {number} repeats a run of grid {seen[point]}: {settings}.")
                raise with_line(text, "grid", number, repeated)
            seen[point] = number
            runs.append(planned)
    return runs


def _blamed(settings: Mapping[str, Any], message: str) -> str:
    """Return the setting that an error is about: one that it quotes, whose value it quotes, or that it names."""
    tests: tuple[Callable[[str], bool], ...] = (
        lambda key: f"'{key}'" in message,
        lambda key: repr(settings[key]) in message and isinstance(settings[key], str),
        lambda key: key in message.replace(":", " ").split(),
        lambda key: str(settings[key]) in message,
    )
    return next((key for test in tests for key in settings if test(key)), "grid")


def configured(settings: Mapping[str, Any], identities: dict[str, DataIdentity] | None = None) -> Configuration:
    """Return the configuration of one point of a grid; ``identities`` keeps those of data sets between calls."""
    known = {} if identities is None else identities
    options = {key.removeprefix("data."): value for key, value in settings.items() if key.startswith("data.")}
    data = f"{settings['data']} {options}"
    if data not in known:
        known[data] = identity_of(str(settings["data"]), **options)
    apart = ("recipe", "data", STRENGTH)
    given = {key: value for key, value in settings.items() if key not in apart and not key.startswith("data.")}
    return configure(settings["recipe"], known[data], given)[0]


def varying(runs: list[Planned]) -> list[str]:
    """Return the settings in which runs differ, in the order in which they first occur."""
    keys = dict.fromkeys(key for run in runs for key in run.settings)
    return [key for key in keys if len({repr(run.settings.get(key)) for run in runs}) > 1]


def by_data(runs: list[Planned]) -> Iterator[tuple[str, int]]:
    """Yield each data set with its number of runs."""
    counts: dict[str, int] = {}
    for run in runs:
        counts[run.configuration.data.label] = counts.get(run.configuration.data.label, 0) + 1
    yield from counts.items()
