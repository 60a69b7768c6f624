"""Tiny trained runs that all tests of reports share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave import Run
from unweave.reports import report

HOSTILE = "<script>alert(1)<script>"  # a label; labels cannot contain a slash

TINY: dict[str, Any] = {
    "net": "tests.study.tiny:linear",
    "latents": 2,
    "steps": 3,
    "batch": 4,
    "threads": 1,
    "device": "cpu",
    "checkpoint_seconds": 0,
    "log_steps": 1,
}


@pytest.fixture(scope="session")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Run]:
    """Three runs of one store on the same data, scored with MIG; the first has a hostile label."""
    store = tmp_path_factory.mktemp("store")
    made = [
        unweave.train("beta_vae", "tests.study.tiny:Dots", store=store, label=HOSTILE, beta=2.0, **TINY),
        unweave.train("beta_vae", "tests.study.tiny:Dots", store=store, seed=1, **TINY),
        unweave.train("ae", "tests.study.tiny:Dots", store=store, **TINY),
    ]
    for run in made:
        unweave.score(run, metrics=["mig"], samples=60, test_samples=30)
    return made


@pytest.fixture(scope="session")
def store(runs: list[Run]) -> Path:
    return runs[0].folder.parent


@pytest.fixture(scope="session")
def page(runs: list[Run], tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of the first run."""
    return report(runs[0], tmp_path_factory.mktemp("page") / "report.html")
