from __future__ import annotations

import inspect

import pytest

from unweave import metrics
from unweave.metrics import METRICS


@pytest.mark.parametrize("name", METRICS)
def test_a_metric_says_what_one_must_know(name: str) -> None:
    metric = METRICS[name]
    assert metric.name == name
    assert metric.function is getattr(metrics, name)
    assert metric.question.endswith("?")
    assert metric.weakness.endswith(".")
    assert metric.range
    assert inspect.getdoc(metric.function)
    takes = list(inspect.signature(metric.function).parameters)
    if metric.needs in ("labels", "intervention"):
        assert takes[:2] == {"labels": ["codes", "factors"], "intervention": ["represent", "space"]}[metric.needs]
    assert bool(metric.given) == (metric.needs == "other")
