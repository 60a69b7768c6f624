from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from unweave import Run
from unweave.data import identity_of
from unweave.papers import stored_results
from unweave.reports.facts import Score, read_facts
from unweave.reports.peers import Peers, baselines_of, find_peers, place_of


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


@pytest.mark.parametrize(("size", "samples", "expected"), [(32, 5_000, 54), (64, 5_000, 0), (32, 10_000, 0)])
def test_baselines_have_the_same_images_and_the_same_protocol(
    runs: list[Run], size: int, samples: int, expected: int
) -> None:
    """With the results that come with Unweave: 6 methods × 3 strengths × 3 seeds on dSprites of 32 × 32 pixels."""
    facts = read_facts(runs[0].folder)
    data = identity_of("dsprites", size=size)
    facts = replace(facts, configuration=facts.configuration.model_copy(update={"data": data}))
    protocol = {"samples": samples, "test_samples": 2_500, "seed": 0, "settings": {}}
    score = Score("mig", "mig", 0.1, protocol)
    found = Peers({}, [], baselines_of(facts, stored_results())).baseline_values(score)
    assert len(found) == expected
