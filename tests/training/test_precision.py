"""The choice of a precision by time."""

from __future__ import annotations

import pytest

from unweave import load
from unweave.errors import InputError
from unweave.study import Study
from unweave.training import configure
from unweave.training.precision import faster, fastest_precision

SPEC = """
name = "auto"
metrics = ["mig"]

[[grid]]
recipe = "ae"
data = "xysquares"
precision = "auto"
"""


@pytest.mark.parametrize(("half", "expected"), [(0.5, "bf16-mixed"), (0.79, "bf16-mixed"), (0.81, "32-true")])
def test_bfloat16_must_save_a_fifth_of_the_time(half: float, expected: str) -> None:
    assert faster(1.0, half) == expected


def test_the_choice_is_part_of_the_configuration() -> None:
    data = load("xysquares", size=16, square=2)
    chosen = fastest_precision("cpu")
    settings = {"net": "mlp", "device": "cpu"}
    found, _ = configure("ae", data, {**settings, "precision": "auto"})
    same, _ = configure("ae", data, {**settings, "precision": chosen})
    assert found.precision == chosen
    assert found.name == same.name


def test_a_study_does_not_depend_on_the_machine() -> None:
    with pytest.raises(InputError, match="precision=auto depends on the machine"):
        _ = Study(SPEC).planned
