from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import pytest
import torch

import unweave
from tests.reports.reading import Page
from unweave import Run
from unweave.data import identity_of
from unweave.papers import stored_results
from unweave.reports.facts import Score, protocol_of, read_facts
from unweave.reports.html import shown
from unweave.reports.score_tables import Peers, baselines_of, find_peers, place_of, score_section


def test_scores_have_a_meaning_and_a_place(runs: list[Run]) -> None:
    facts = read_facts(runs[1].folder)
    text = Page(score_section([facts], [find_peers(facts, facts.folder.parent, apart_from=[facts.folder])]).body).text
    assert "Is each factor encoded by one latent, and by no other?" in text
    assert "0 to 1; higher is better." in text
    assert shown(runs[1].scores["mig"].score) in text
    better = sum(run.scores["mig"].score > runs[1].scores["mig"].score for run in runs)
    assert f"{('1st', '2nd', '3rd')[better]} of 3 comparable runs" in text
    assert "measured with 60 samples" in text


def test_no_more_samples_are_named_than_a_small_table_of_images_has(runs: list[Run]) -> None:
    small = unweave.load(torch.zeros(30, 8, 8, dtype=torch.uint8), factors=torch.arange(30)[:, None])
    facts = replace(read_facts(runs[1].folder), data=small)  # scored with 60 and 30 samples
    text = Page(score_section([facts], [Peers({}, [], {})]).body).text
    assert "measured with 20 samples, and 10 more to test" in text


def test_a_run_without_comparable_runs_says_so_once(runs: list[Run]) -> None:
    page = Page(score_section([read_facts(runs[1].folder)], [Peers({}, [], {})]).body)
    assert page.text.count("no other finished run") == 1
    assert "comparable" not in page.text
    assert "Grey dots" not in page.text


def test_the_best_of_several_runs_is_emphasised(runs: list[Run]) -> None:
    several = [read_facts(run.folder) for run in runs]
    nobody = Peers({}, [], {("mig", protocol_of(several[0].scores[0].protocol)): [0.5, 0.6]})
    page = Page(score_section(several, [nobody] * 3).body)
    emphasised = [cell for cell in page.all("td") if "best" in str(cell.get("class"))]
    assert len(emphasised) >= 2  # of MIG and of the PSNR
    assert "2 baseline runs" in page.text
    assert runs[0].label in page.text


def test_a_run_without_scores_says_how_to_score_it(runs: list[Run]) -> None:
    facts = replace(read_facts(runs[0].folder), scores=())
    text = Page(score_section([facts], [Peers({}, [], {})]).body).text
    assert "The run has not been scored yet." in text
    assert f"unweave score {facts.folder.name} --store " in text


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


@pytest.mark.parametrize(("size", "samples", "expected"), [(32, 5_000, 20), (64, 5_000, 0), (32, 10_000, 0)])
def test_baselines_have_the_same_images_and_the_same_protocol(
    runs: list[Run], size: int, samples: int, expected: int
) -> None:
    """With the results that come with Unweave, on dSprites of 32 × 32 pixels.

    They are 4 strengths × 2 seeds of one finding, whose runs without the orientation do not count, and 2 methods × 2
    strengths × 3 seeds of another.
    """
    facts = read_facts(runs[0].folder)
    data = identity_of("dsprites", size=size)
    facts = replace(facts, configuration=facts.configuration.model_copy(update={"data": data}))
    protocol = {"samples": samples, "test_samples": 2_500, "seed": 0, "settings": {}}
    score = Score("mig", "mig", 0.1, protocol)
    found = Peers({}, [], baselines_of(facts, stored_results())).baseline_values(score)
    assert len(found) == expected
