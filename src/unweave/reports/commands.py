"""The command that trains a run again, exactly."""

from __future__ import annotations

import re
import shlex
from collections.abc import Mapping
from typing import Any

from unweave.data import identity_of
from unweave.data.interface.labels import OWN
from unweave.errors import InputError, MissingExtra, Unavailable
from unweave.recipes import RECIPES, parameters_of
from unweave.reports.paths import as_path, source_from_here
from unweave.store.differences import settings_of
from unweave.training import Configuration, configure

OPTIONS = ("steps", "batch", "seed", "lr", "net", "latent", "devices", "precision")  # with an option of their own


def train_command(configuration: Configuration) -> str | None:
    """Return the command that trains a configuration, or None if no command is known to give exactly this one.

    The settings of the command are those that differ from the recipe's defaults; paths are relative to the current
    folder. The command is returned only if its
    configuration has the same name, and so the same hash, as the given one.
    """
    base = re.split(r"[+-]", configuration.recipe)[0]
    if base not in RECIPES:
        return None
    try:
        settings = _settings(base, configuration)
        if _configured(base, configuration, settings).name != configuration.name:
            return None
        settings = _without_defaults(base, configuration, settings)
        where, options = _data(configuration)
    except (InputError, Unavailable, MissingExtra):
        return None
    words = ["unweave", "train", base, where]
    for name, weight in settings.pop("terms", {}).items():
        words += ["--term", f"{name}={weight!r}"]
    for key in OPTIONS:
        if key in settings:
            words += [f"--{key}", str(settings.pop(key))]
    for key, value in {**settings, **options}.items():
        words += ["--set", f"{key}={value if isinstance(value, str) else repr(value)}"]
    return shlex.join(words)


def _settings(base: str, target: Configuration) -> dict[str, Any]:
    """Return the settings with which a recipe becomes the target."""
    wanted = settings_of(target.model_dump(mode="json"))
    given: dict[str, Any] = {"steps": target.steps} if not target.linear else {}
    default = _configured(base, target, given)
    before = settings_of(default.model_dump(mode="json"))
    given |= {key: wanted[key] for key in ("net", "latent", "grouping") if wanted.get(key) != before.get(key)}
    weights, usual = _weights(target), _weights(default)
    terms = {name: weight for name, weight in weights.items() if name not in usual}
    terms |= dict.fromkeys((name for name in usual if name not in weights), 0)
    if terms:
        given["terms"] = terms
    given |= _parameters(base, target, given, wanted)
    given |= _different(_configured(base, target, given), wanted)
    if target.seed:
        given["seed"] = target.seed
    return given


def _parameters(
    base: str, target: Configuration, given: Mapping[str, Any], wanted: Mapping[str, Any]
) -> dict[str, Any]:
    """Return values of the recipe's own parameters, such as ``beta``, that leave fewer settings to be given."""
    found: dict[str, Any] = {}
    for parameter in parameters_of(base):
        missing = _different(_configured(base, target, {**given, **found}), wanted)
        numbers = [v for v in missing.values() if isinstance(v, int | float) and not isinstance(v, bool)]
        for value in (*numbers, *(number + 1 for number in numbers), "paper"):
            try:
                made = _configured(base, target, {**given, **found, parameter: value})
            except InputError:
                continue
            if len(_different(made, wanted)) < len(missing):
                found[parameter] = value
                break
    return found


def _without_defaults(base: str, target: Configuration, settings: dict[str, Any]) -> dict[str, Any]:
    """Return the settings without those that change nothing, such as the start of a schedule that begins at once."""
    for key in list(settings):
        fewer = {name: value for name, value in settings.items() if name != key}
        try:
            if _configured(base, target, fewer).name == target.name:
                settings = fewer
        except InputError:  # what remains cannot be combined without it
            continue
    return settings


def _different(made: Configuration, wanted: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of the target that a configuration does not have yet."""
    own = settings_of(made.model_dump(mode="json"))
    return {
        key: value
        for key, value in wanted.items()
        if not key.startswith("data.") and (key not in own or own[key] != value)
    }


def _configured(base: str, target: Configuration, settings: Mapping[str, Any]) -> Configuration:
    return configure(base, target.data, settings)[0]


def _weights(configuration: Configuration) -> dict[str, float]:
    return {weighted.name: weighted.weight for weighted in configuration.terms}


def _data(configuration: Configuration) -> tuple[str, dict[str, Any]]:
    """Return the word for the data and its options that differ from the defaults."""
    data = configuration.data
    source = source_from_here(data.source or {})
    places = {key: value for key, value in source.get("options", {}).items() if value is not None}
    if data.name == OWN:
        if data.source is None:
            raise InputError("the images were an array in memory.")
        return as_path(source["path"]), {f"data.{key}": value for key, value in places.items()}
    options = dict(data.options)
    for key in data.options:  # without those that have their default, or follow from the others
        fewer = {name: value for name, value in options.items() if name != key}
        try:
            if identity_of(data.name, **fewer) == data:
                options = fewer
        except InputError:  # an option without a default
            continue
    return data.name, {f"data.{key}": value for key, value in {**options, **places}.items()}
