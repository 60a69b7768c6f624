from __future__ import annotations

import importlib
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

import unweave
from tests.training.small import bars, trained
from unweave import metrics
from unweave.errors import InputError
from unweave.metrics.scoring.request import Source
from unweave.store.measurements import read_scores
from unweave.store.record import read_record
from unweave.study.spec import Scoring, Spec
from unweave.study.table import Protocols

SMALL_SAMPLE: dict[str, Any] = {"samples": 40, "test_samples": 20}


def test_scores_are_kept_with_the_run_and_measured_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run, data = trained(tmp_path, steps=20, latents=4), bars()
    assert dict(run.scores) == {}
    first = unweave.score(run, data, metrics=["mig"], **SMALL_SAMPLE)
    assert unweave.open(run.folder).scores["mig"].score == first["mig"].score
    asked: list[Any] = []
    measure = metrics.score

    def counted(*given: Any, **settings: Any) -> Any:
        asked.append(settings["metrics"])
        return measure(*given, **settings)

    monkeypatch.setattr(metrics, "score", counted)
    again = unweave.score(run, data, metrics=["mig", "modularity"], **SMALL_SAMPLE)
    assert asked == [["modularity"]]
    assert again["mig"].score == first["mig"].score
    assert set(unweave.open(run.folder).scores) == {"mig", "modularity"}
    more = unweave.score(run, data, metrics=["mig"], samples=50, test_samples=20)
    unweave.score(run, data, metrics=["mig"], settings={"mig": {"bins": 5}}, **SMALL_SAMPLE)
    assert asked[1:] == [["mig"], ["mig"]]
    assert run.scores["mig"].score == more["mig"].score  # of most samples, with the default settings


def test_scores_of_new_images_and_of_the_pool_are_kept_apart(tmp_path: Path) -> None:
    run, data = trained(tmp_path, steps=2, latents=4), bars()
    few: dict[str, Any] = {"metrics": ["irs", "mig"], "settings": {"irs": {"points": 200}}, **SMALL_SAMPLE}
    fresh = unweave.score(run, data, source="fresh", **few)["irs"].score
    (before,) = [entry for entry in read_scores(run.folder).entries if entry.metric == "irs"]
    assert "source" not in before.protocol  # as stored before there was a pool
    pool = unweave.score(run, data, **few)["irs"].score
    assert pool != fresh
    assert [entry.protocol.get("source") for entry in read_scores(run.folder).entries] == [None, None, "pool"]
    assert run.scores["irs"].score == pool
    assert unweave.score(run, data, source="fresh", **few)["irs"].score == fresh
    fields: dict[str, Any] = {"name": "s", "grid": ({"recipe": "vae", "data": "bars"},), "metrics": ("irs", "mig")}
    sources: dict[Source, float] = {"fresh": fresh, "pool": pool}
    for source, expected in sources.items():
        scoring = Scoring(source=source, settings=few["settings"], **SMALL_SAMPLE)
        chosen = Protocols(Spec(score=scoring, **fields)).chosen(read_record(run.folder), {})
        assert chosen.scores["irs"] == expected
        assert chosen.missing == ()


def test_a_run_needs_no_data_where_its_own_can_be_opened(tmp_path: Path) -> None:
    run = trained(tmp_path, "ae", data=unweave.load("xysquares", size=16), steps=2)
    scores = unweave.score(run, metrics=["mig"], **SMALL_SAMPLE)
    assert scores.table == unweave.score(run, unweave.load("xysquares", size=16), metrics=["mig"], **SMALL_SAMPLE).table
    with pytest.raises(InputError, match="pass the data as well"):
        unweave.score(lambda images: images.mean((2, 3)))


def test_reconstruction_and_posterior_belong_to_a_runs_scores(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=20, latents=4)
    names = ["psnr", "reconstruction_error", "kl_per_latent", "elbo", "total_correlation", "total_correlation_sampled"]
    table = unweave.score(run, bars(), metrics=names, **SMALL_SAMPLE).table
    assert set(names) <= set(table)
    assert run.scores.table == table
    plain = trained(tmp_path, "ae", steps=2, latents=4)
    with pytest.raises(InputError, match="posterior"):
        unweave.score(plain, bars(), metrics=["elbo"], **SMALL_SAMPLE)


def test_a_quantised_run_is_scored_as_discrete(tmp_path: Path) -> None:
    run = trained(tmp_path, "qlae", steps=20, latents=4)
    alone = unweave.score(run, bars(), metrics=["infomec"], **SMALL_SAMPLE).table
    told = unweave.metrics.score(
        run.encode, bars(), metrics=["infomec"], settings={"infomec": {"discrete": True}}, **SMALL_SAMPLE
    ).table
    assert alone == told


def test_snapshots_have_scores_of_their_own(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=10, snapshots=2)
    early, late = (unweave.score(run.at(step), bars(), metrics=["mig"], **SMALL_SAMPLE) for step in (5, 10))
    assert run.at(5).scores["mig"].score == early["mig"].score
    assert run.scores["mig"].score == late["mig"].score


def test_metrics_of_ones_own_are_kept_with_their_source(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    run, data = trained(tmp_path / "runs", steps=2, latents=4), bars()
    source = "def constant(codes, factors):\n    return {}\n"
    seen = []
    for value in (1.0, 2.0):
        (tmp_path / "metric_of_a_test.py").write_text(source.format(value))
        sys.modules.pop("metric_of_a_test", None)
        importlib.invalidate_caches()
        shutil.rmtree(tmp_path / "__pycache__", ignore_errors=True)
        seen.append(unweave.score(run, data, metrics=["metric_of_a_test:constant"], **SMALL_SAMPLE).table)
    assert [list(table.values()) for table in seen] == [[1.0], [2.0]]
    assert len(run.scores.entries) == 2

    def local(codes: Any, factors: Any) -> float:
        return 3.0

    assert unweave.score(run, data, metrics=[local, "mig"], **SMALL_SAMPLE)["local"].score == 3.0
    assert len(run.scores.entries) == 3  # a function that cannot be found again is not kept


@pytest.mark.parametrize("repeats", [{}, {"null": 2}, {"bootstrap": 2}])
def test_a_metric_is_found_under_the_name_of_a_notebook_or_of_another_module(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repeats: dict[str, Any]
) -> None:
    def constant(codes: Any, factors: Any) -> float:
        return 4.0

    monkeypatch.setattr(sys.modules["__main__"], "constant", constant, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "defines_a_metric.py").write_text("def constant(codes, factors):\n    return 5.0\n")
    (tmp_path / "imports_a_metric.py").write_text("from defines_a_metric import constant\n")
    run = trained(tmp_path / "runs", steps=2, latents=4)
    for _ in range(2):  # measured, then read
        names = ["mig", "__main__:constant", "imports_a_metric:constant"]
        table = unweave.score(run, bars(), metrics=names, **SMALL_SAMPLE, **repeats).table
        assert (table["constant"], table["imports_a_metric:constant"]) == (4.0, 5.0)
    assert {entry.metric for entry in run.scores.entries} == {"mig", "imports_a_metric:constant"}


def test_settings_are_checked_even_if_all_is_measured(tmp_path: Path) -> None:
    run = trained(tmp_path, steps=2, latents=4)
    unweave.score(run, bars(), metrics=["mig"], **SMALL_SAMPLE)
    with pytest.raises(InputError, match="unknown metric 'nosuch'"):
        unweave.score(run, bars(), metrics=["mig"], settings={"nosuch": {"x": 1}}, **SMALL_SAMPLE)
    with pytest.raises(InputError, match="settings of mig must be a dictionary"):
        unweave.score(run, bars(), metrics=["mig"], settings={"mig": 5}, **SMALL_SAMPLE)  # type: ignore[dict-item]
