from __future__ import annotations

import shutil
from pathlib import Path

import pandas
import pytest

from unweave import Run
from unweave.reports.facts import read_facts
from unweave.reports.peers import baselines_of, find_peers, place_of


def test_peers_are_finished_runs_on_the_same_data_scored_in_the_same_way(runs: list[Run], tmp_path: Path) -> None:
    for run in runs:
        shutil.copytree(run.folder, tmp_path / run.name)
    facts = read_facts(tmp_path / runs[0].name)
    others = sorted(run.scores["mig"].score for run in runs[1:])
    peers = find_peers(facts, tmp_path, apart_from=[facts.folder])
    assert sorted(peers.values(facts.scores[0])) == others
    assert sorted(peers.psnr) == sorted(float(run.state.psnr or 0) for run in runs[1:])
    other = tmp_path / runs[1].name
    other.joinpath("scores.json").write_text(
        other.joinpath("scores.json").read_text().replace('"samples": 60', '"samples": 70')
    )
    assert len(find_peers(facts, tmp_path, apart_from=[facts.folder]).values(facts.scores[0])) == 1
    (tmp_path / runs[2].name / "state.json").write_text("damaged")
    assert find_peers(facts, tmp_path, apart_from=[facts.folder]).values(facts.scores[0]) == []


@pytest.mark.parametrize(
    ("value", "best", "text"),
    [
        (0.5, "higher", "2nd of 4 comparable runs"),
        (0.9, "higher", "1st of 4 comparable runs"),
        (0.1, "lower", "1st of 4 comparable runs"),
        (0.5, "neither", "higher than 67% of 3 comparable runs"),
        (float("nan"), "higher", ""),
    ],
)
def test_the_place_of_a_value(value: float, best: str, text: str) -> None:
    assert place_of(value, [0.2, 0.4, 0.6], best) == text
    assert place_of(value, [0.2], best) == ""


def test_baselines_are_read_from_tables_of_the_same_data(runs: list[Run], tmp_path: Path) -> None:
    label = runs[0].configuration.data.label
    table = pandas.DataFrame({"data": [label, label, "other"], "mig": [0.1, None, 0.3], "seed": [0, 1, 2]})
    table.to_csv(tmp_path / "one.csv", index=False)
    shapes = ["[1, 8, 8]", "(3, 8, 8)", "[1, 8, 8]"]
    table.assign(**{"configuration.data.shape": shapes}, mig=[0.5, 0.6, 0.7]).to_parquet(tmp_path / "two.parquet")
    (tmp_path / "readme.md").touch()
    facts = read_facts(runs[0].folder)
    assert baselines_of(facts, tmp_path) == {"mig": [0.1, 0.5]}
    assert baselines_of(facts, tmp_path / "nowhere") == {}
