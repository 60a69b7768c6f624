"""Means and spreads over seeds."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.study.tiny import SPEC
from unweave.errors import InputError
from unweave.papers.evidence import (
    add_progress,
    collect,
    collect_local,
    draw_progress,
    fastest,
    finished,
    mean_and_spread,
    over_seeds,
    radii_of,
    scored_as_in,
)
from unweave.study import Study

LOCAL = (
    SPEC.replace('["mig"]', '["mig", "local_mig"]')
    .replace("steps = 3", "steps = 2")
    .replace("[fixed]", "[score.settings]\nlocal_mig = { rho = [0.5, 1.0], points = 60, min_values = 2 }\n\n[fixed]")
)


def test_the_spread_is_the_sample_deviation() -> None:
    assert mean_and_spread(np.array([1.0, 2.0, 3.0])) == "2.000 ± 1.000"
    assert mean_and_spread(np.array([1.0, np.nan])) == "1.000"
    assert mean_and_spread(np.array([np.nan])) == "–"


def test_seeds_are_counted_in_each_group() -> None:
    table = pd.DataFrame({"recipe": ["ae", "ae", "vae"], "mig": [0.1, 0.3, 0.5]})
    summary = over_seeds(table, ["recipe"], ["mig"])
    assert list(summary["seeds"]) == [2, 1]
    assert list(summary["mig"]) == ["0.200 ± 0.141", "0.500"]


def test_a_missing_column_is_named() -> None:
    with pytest.raises(InputError, match="no column 'dci'"):
        over_seeds(pd.DataFrame({"recipe": ["ae"]}), ["recipe"], ["dci"])


def test_unfinished_runs_are_left_out() -> None:
    assert len(finished(pd.DataFrame({"state": ["finished", "failed"]}))) == 1


def test_the_fastest_run_counts() -> None:
    runs = pd.DataFrame({"recipe": ["vae", "ae", "vae"], "seconds": [90.4, 5.0, 30.0]})
    assert fastest(runs, ["recipe"]).to_dict("list") == {"recipe": ["vae", "ae"], "seconds of the fastest run": [30, 5]}


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


def test_runs_are_measured_at_their_snapshots(tmp_path: Path) -> None:
    study = Study(SPEC.replace("steps = 3", "steps = 10\nsnapshots = 10"), store=tmp_path)
    assert study.run(workers=1) == {"finished": 6}
    runs = study.runs()
    table = add_progress(collect(study), runs[1:], lambda run: {"step at": float(run.step)})
    others = table["run"] != runs[0].name
    assert set(table.loc[others, "step at after 10 %"]) == {1}
    assert set(table.loc[others, "step at after 30 %"]) == {3}
    assert table.loc[~others, "step at after 10 %"].isna().all()
    final = np.where(others, 10.0, 99.0)  # a run that was not measured during training is not drawn
    drawn = draw_progress(table.assign(**{"step at": final}), ["step at"])
    points = {tuple(xy) for line in drawn.axes[0].lines for xy in np.asarray(line.get_xydata())}
    assert points == {(10.0, 1.0), (30.0, 3.0), (100.0, 10.0)}


def test_runs_are_measured_as_the_study_scored_them(tmp_path: Path) -> None:
    protocol = "[score]\nseed = 5\nsettings.mig.bins = 3"
    study = Study(SPEC.replace("[score]", protocol), store=tmp_path)
    assert study.run(workers=1) == {"finished": 6}
    table = study.table().set_index("run")["mig"]
    measure = scored_as_in(study, ["mig"], ["mig"])
    assert {run.name: measure(run) for run in study.runs()} == {name: {"mig": mig} for name, mig in table.items()}


def test_columns_of_progress_are_no_radii() -> None:
    columns = ["local_mig at 0.1", "local_mig at 1", "local_mig at 0.1 after 10 %", "mig"]
    assert radii_of(pd.DataFrame(columns=columns), "local_mig") == [0.1, 1.0]
