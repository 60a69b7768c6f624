"""The tables of findings, from a real study."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.study.tiny import SPEC
from unweave.papers.results import collect, collect_local, radii_of
from unweave.study import Study

LOCAL = (
    SPEC.replace('["mig"]', '["mig", "local_mig"]')
    .replace("steps = 3", "steps = 2")
    .replace("[fixed]", "[score.settings]\nlocal_mig = { rho = [0.5, 1.0], points = 60, min_values = 2 }\n\n[fixed]")
)


def test_local_scores_have_a_column_for_each_radius(tmp_path: Path) -> None:
    study = Study(LOCAL, store=tmp_path)
    assert study.run(workers=1) == {"finished": 6}
    table = collect_local(study)
    assert radii_of(table, "local_mig") == [0.5, 1.0]
    mean = table[["local_mig at 0.5", "local_mig at 1"]].mean(axis=1)
    assert table["local_mig"].to_numpy() == pytest.approx(mean.to_numpy())
    assert not [name for name in collect(study) if name.startswith("configuration.")]
    protocol = json.loads(table["protocol"][0])
    assert protocol["settings"] == {"local_mig": {"rho": [0.5, 1.0], "points": 60, "min_values": 2}}
    assert protocol["samples"] == study.spec.score.samples
