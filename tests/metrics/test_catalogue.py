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
    first = {
        "labels": ["codes", "factors"],
        "codes": [takes[0]],
        "pool": ["represent", "space"],
        "intervention": ["represent", "space"],
        "reconstruction": ["images", "reconstructions"],
        "posterior": ["mean", "logvar"],
        "model": ["images", "reconstructions", "mean", "logvar"],
    }
    if metric.needs != "other":
        assert takes[: len(first[metric.needs])] == first[metric.needs]
    assert bool(metric.given) == (metric.needs == "other")
