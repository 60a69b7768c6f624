"""Chance levels and intervals of scores."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unweave
from tests.metrics.samples import factors, mixed, noise
from tests.training.small import bars, trained
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics.estimators.information import discretize
from unweave.metrics.scoring.display import WORDS, table_rows
from unweave.metrics.scoring.worth import reused, reusing
from unweave.store.measurements import read_scores, worth_in

CODES, LABELS = mixed(500)


def test_chance_is_the_mean_over_permuted_factors() -> None:
    scores = unweave.score_codes(CODES, LABELS, metrics=["mig", "mcc"], null=40, seed=3)
    rng = np.random.default_rng(0)
    expected = [metrics.mig(CODES, LABELS[rng.permutation(500)]).score for _ in range(200)]
    worth = scores.worth["mig"]
    assert worth.chance == pytest.approx(np.mean(expected), abs=4 * np.std(expected) / np.sqrt(40))
    assert worth.spread == pytest.approx(1.96 * np.std(expected), rel=0.4)
    assert worth.p_value == pytest.approx(1 / 41)
    assert scores["mig"].score == metrics.mig(CODES, LABELS).score
    assert scores.worth == unweave.score_codes(CODES, LABELS, metrics=["mig", "mcc"], null=40, seed=3).worth
    assert str(worth) == f"chance {worth.chance:.3f} ± {worth.spread:.3f}"


def test_codes_without_information_are_at_chance() -> None:
    p_values = [
        unweave.score_codes(noise(200, 3, seed=seed), factors(200, seed), metrics="mig", null=19).worth["mig"].p_value
        for seed in range(12)
    ]
    assert np.mean([p or 0 for p in p_values]) == pytest.approx(0.5, abs=0.25)


@pytest.mark.parametrize("name", ["dci", "sap", "explicitness", "irs"])
def test_what_is_reused_changes_no_score(name: str) -> None:
    test = (CODES[400:], LABELS[400:])
    settings: dict[str, Any] = {"metrics": [name], "test": test, "null": 2, "seed": 1}
    worth = unweave.score_codes(CODES[:400], LABELS[:400], **settings).worth
    rng = np.random.default_rng([1, 25])
    function = getattr(metrics, name)
    by_hand = []
    for _ in range(2):
        if name == "irs":
            both = np.vstack([CODES[:400], CODES[400:]]), np.vstack([LABELS[:400], LABELS[400:]])
            by_hand.append(function(both[0], both[1][rng.permutation(500)], seed=1))
            continue
        one, other = (LABELS[rows][rng.permutation(n)] for rows, n in ((slice(400), 400), (slice(400, None), 100)))
        by_hand.append(function(CODES[:400], one, seed=1, test=(CODES[400:], other)))
    first = next(iter(worth))
    assert worth[first].chance == pytest.approx(np.mean([result.score for result in by_hand]), abs=1e-12)
    assert worth[first].permutations == 2


def test_an_interval_has_the_width_of_repeated_samples() -> None:
    drawn = [metrics.mcc(*mixed(500, seed=seed)).score for seed in range(10, 60)]
    worth = unweave.score_codes(CODES, LABELS, metrics="mcc", bootstrap=100).worth["mcc"]
    assert worth.low is not None
    assert worth.high is not None
    assert worth.high - worth.low == pytest.approx(4 * np.std(drawn), rel=0.5)
    assert worth.low < metrics.mcc(CODES, LABELS).score < worth.high
    assert "95 %" in str(worth)


def test_worth_is_kept_with_scores_and_runs(tmp_path: Path) -> None:
    scores = unweave.score_codes(CODES, LABELS, metrics=["mig", "total_correlation"], null=3)
    assert list(scores.worth) == ["mig"]  # factors have no part in the other
    assert unweave.Scores.from_json(scores.to_json()).worth == scores.worth
    run, data = trained(tmp_path, steps=2, latents=4), bars()
    few: dict[str, Any] = {"metrics": ["mig", "psnr"], "samples": 40, "test_samples": 20}
    assert unweave.score(run, data, **few).worth == {}
    placed = unweave.score(run, data, null=5, **few)
    assert placed.worth["mig"].permutations == 5
    assert unweave.score(run, data, null=5, **few).worth == placed.worth
    (entry,) = [entry for entry in read_scores(run.folder).entries if entry.metric == "mig"]
    assert worth_in(entry) == placed.worth
    assert run.scores["mig"].score == placed["mig"].score
    with pytest.raises(InputError, match="null must be a whole number of at least 0"):
        unweave.score_codes(CODES, LABELS, null=-1)


def test_arrays_are_recognised_within_a_block_only() -> None:
    asked: list[int] = []

    def count(array: Any, bins: int) -> int:
        asked.append(bins)
        return bins

    with reusing():
        assert [reused(count, CODES, bins) for bins in (2, 3, 2)] == [2, 3, 2]
        assert discretize(CODES, 4) is discretize(CODES, 4)
    reused(count, CODES, 2)
    assert asked == [2, 3, 2]
    assert discretize(CODES, 4) is not discretize(CODES, 4)


def test_slow_metrics_of_all_are_repeated_less_often_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    codes, labels = CODES[:60], LABELS[:60]
    slow = {name: metric for name, metric in metrics.METRICS.items() if metric.most_repeats == 20}
    assert {"dci", "infomec", "sap", "explicitness"} <= slow.keys()
    for name, metric in slow.items():
        monkeypatch.setitem(metrics.METRICS, name, replace(metric, most_repeats=2))
    scores = unweave.score_codes(codes, labels, null=4, bootstrap=3)
    for name, worth in scores.worth.items():
        few = name.partition(".")[0] in slow
        assert (worth.permutations, worth.half_samples) == ((2, 2) if few else (4, 3))
    assert scores.notes["permutations"].startswith("2 of the 4 for explicitness, dci, sap")
    assert scores.notes["half-samples"].startswith("2 of the 3 for")
    named = unweave.score_codes(codes, labels, metrics=["sap", "mig"], null=4)
    assert named.worth["sap"].permutations == 4
    assert named.notes == {}
    each = unweave.score_codes(codes, labels, metrics=["sap", "mig"], null={"sap": 2}).worth
    assert list(each) == ["sap"]
    assert each["sap"].permutations == 2
    with pytest.raises(InputError, match="unknown metric of null 'dci'"):
        unweave.score_codes(codes, labels, metrics="mig", null={"dci": 2})
    with pytest.raises(InputError, match="bootstrap of mig must be a whole number"):
        unweave.score_codes(codes, labels, metrics="mig", bootstrap={"mig": -2})


def test_the_table_has_chance_and_p_value() -> None:
    scores = unweave.score_codes(CODES, LABELS, metrics=["mig", "total_correlation"], null=9)
    head, first, second = table_rows(scores.table, scores.worth)
    assert head == ("metric", "score", "p", "better", "range")
    worth = scores.worth["mig"]
    assert first[:3] == ("mig", f"{scores.table['mig']:.3f} (chance {worth.chance:.3f} ± {worth.spread:.3f})", "0.1")
    assert second[2] == ""
    assert "chance" in repr(scores)
    assert f"<td style='{WORDS}'>0.1</td>" in scores._repr_html_()
    plain = unweave.score_codes(CODES, LABELS, metrics="mig")
    assert table_rows(plain.table, plain.worth)[0] == ("metric", "score", "better", "range")


def test_a_part_of_the_rows_that_cannot_be_scored_leaves_the_score() -> None:
    """The factor has another value in one row only, which half of the half-samples lack."""
    rare = np.where(np.arange(500) < 1, 1, 0)
    scores = unweave.score_codes(CODES, rare, metrics=["mig", "mcc"], bootstrap=20)
    assert scores["mig"].score == metrics.mig(CODES, rare).score
    assert "mig" not in scores.worth
    assert "needs at least one factor that varies" in scores.notes["chance and interval of mig"]


def test_one_repetition_has_no_spread() -> None:
    for given in (1, {"mig": 1}):
        with pytest.raises(InputError, match=r"null( of mig)? must be 0 or at least 2"):
            unweave.score_codes(CODES, LABELS, metrics="mig", null=given)
        with pytest.raises(InputError, match=r"bootstrap( of mig)? must be 0 or at least 2"):
            unweave.score_codes(CODES, LABELS, metrics="mig", bootstrap=given)
