from __future__ import annotations

from dataclasses import replace

import torch

import unweave
from tests.reports.reading import Page
from unweave import Run
from unweave.reports.facts import protocol_of, read_facts
from unweave.reports.html.tables import shown
from unweave.reports.peers import Peers, find_peers
from unweave.reports.score_tables import score_section


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
