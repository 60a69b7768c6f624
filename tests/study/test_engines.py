from __future__ import annotations

from typing import Any

import pytest

from unweave.errors import InputError
from unweave.study.engines.engine import Engine


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"name": "rray"}, "unknown engine 'rray': did you mean 'ray'"),
        ({"workers": 0}, "workers must be a whole number of at least 1, got 0"),
        ({"name": "ray", "cpus": 0}, "cpus must be a number of at least 0.01, got 0"),
        ({"name": "ray", "gpus": -1}, "gpus must be a number of at least 0, got -1"),
        ({"name": "ray", "gpus": float("nan")}, "gpus must be a number of at least 0, got nan"),
        ({"name": "ray", "gpus": 1.5}, "gpus must be a whole number if it is more than 1, got 1.5"),
        ({"gpus": 0.25}, "address, cpus and gpus are settings of the engine ray, but the engine is local"),
        ({"address": "auto"}, "address, cpus and gpus are settings of the engine ray"),
    ],
)
def test_settings_that_cannot_be_used_are_sentences(given: dict[str, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Engine(**given)


def test_a_run_uses_the_threads_and_the_device_that_it_asks_for() -> None:
    assert Engine().execution == {"threads": 1, "device": "cpu"}
    assert Engine("ray", cpus=4).execution == {"threads": 4, "device": "cpu"}
    assert Engine("ray", cpus=0.5, gpus=0.25).execution == {"threads": 1, "device": "cuda"}
