from __future__ import annotations

from typing import Any, Literal, get_args, get_origin, get_type_hints

import pytest

from unweave.errors import InputError
from unweave.metrics.scoring.catalogue import METRICS
from unweave.metrics.scoring.trying import try_settings


@pytest.mark.parametrize(
    ("metric", "setting", "value", "message"),
    [
        ("mig", "bins", "a", "mig: bins must be a valid integer, got 'a'"),
        ("mig", "bins", "5", "mig: bins must be a valid integer, got '5'"),
        ("mig", "bins", -4, "bins must be .*, got -4"),
        ("modularity", "bins", 0, "bins must be .*, got 0"),
        ("dci", "importance", "tree", "dci: importance must be 'gbt', 'gbt-exact', 'forest' or 'svm', got 'tree'"),
        ("dci", "seed", -1, "seed must be .*, got -1"),
        ("sap", "standardise", 1, "sap: standardise must be a valid boolean, got 1"),
        ("total_correlation", "ridge", -1.0, "ridge must be .*, got -1"),
        ("active_units", "threshold", "low", "active_units: threshold must be a valid number"),
        ("local_mig", "rho", "far", "local_mig: rho must be a valid number"),
        ("downstream", "sizes", [10, "b"], "downstream: sizes must be a valid integer"),
        ("explicitness", "test", [1, 2], "explicitness: test must be"),
    ],
)
def test_values_that_a_metric_does_not_accept_are_refused(metric: str, setting: str, value: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        try_settings({metric: {setting: value}})


@pytest.mark.parametrize("name", METRICS)
def test_defaults_and_all_choices_are_accepted(name: str) -> None:
    metric = METRICS[name]
    hints, defaults = get_type_hints(metric.signed), metric.signed.__kwdefaults__ or {}
    for setting in metric.takes - {"distance"}:
        kinds = [hints[setting], *get_args(hints[setting])]
        choices = [value for kind in kinds if get_origin(kind) is Literal for value in get_args(kind)]
        for value in (defaults[setting], *choices):
            try_settings({name: {setting: list(value) if isinstance(value, tuple) else value}})


def test_a_metric_is_tried_with_all_of_its_settings() -> None:
    for importance in ("gbt", "gbt-exact", "forest", "svm"):
        try_settings({"dci": {"importance": importance, "seed": 3}})
    try_settings({"infomec": {"variant": "qlae", "discrete": True, "seed": 1}, "mcc": {}, "my.module:own": {"x": []}})
