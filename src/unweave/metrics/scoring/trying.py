"""Try the settings of metrics before there is anything to score: their types, and numbers on a tiny sample."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

import numpy as np
from pydantic import ConfigDict, TypeAdapter, ValidationError

from unweave.errors import InputError
from unweave.metrics.scoring.catalogue import METRICS, Metric
from unweave.metrics.scoring.request import Settings

ARRAYS = ConfigDict(arbitrary_types_allowed=True)  # which some settings can be, but not in a specification
SAMPLES = 64  # of the tiny sample


def try_settings(settings: Settings) -> None:
    """Refuse values that metrics of the catalogue do not accept; the names of settings were checked before.

    Values must have the annotated types. Numbers given to a metric of codes, or of codes and factors, are tried on a
    tiny sample, unless the metric takes minutes. Other metrics, and those of the user's own, say what is out of range
    when they are computed.
    """
    for name, given in settings.items():
        if name in METRICS:
            _check_types(METRICS[name], given)
            if any(isinstance(value, int | float) and not isinstance(value, bool) for value in given.values()):
                _try(METRICS[name], given)


def _check_types(metric: Metric, given: Mapping[str, Any]) -> None:
    hints = get_type_hints(metric.signed)
    for setting, value in given.items():
        try:
            TypeAdapter(hints[setting], config=ARRAYS).validate_python(value, strict=True)
        except ValidationError as error:
            reason = error.errors()[0]["msg"].replace("Input should", "must", 1)
            raise InputError(f"{metric.name}: {setting} {reason}, got {value!r}.") from None


def _try(metric: Metric, given: Mapping[str, Any]) -> None:
    if metric.costly or metric.needs not in ("labels", "codes"):
        return
    factors = np.stack([np.arange(SAMPLES) % 2, np.arange(SAMPLES) // 2 % 2], 1)  # (N, 2)
    codes = factors + np.random.default_rng(0).normal(0, 0.1, factors.shape)  # (N, 2)
    try:
        metric.function(*((codes, factors) if metric.needs == "labels" else (codes,)), **given)
    except InputError as error:
        raise InputError(f"settings of {metric.name}: {error}") from None
