from __future__ import annotations

import json
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import unweave.training
from tests.study.tiny import SPEC
from unweave.metrics import METRICS
from unweave.progress import set_level
from unweave.study import Study, parse_spec, plan
from unweave.study.estimate import (
    Estimate,
    Pace,
    Progress,
    _fewer,
    _keep,
    _patience,
    estimate,
    kind_of,
    measure_all,
    scoring_seconds,
    seconds_of_scoring,
    seconds_per_step,
)
from unweave.study.table import Row
from unweave.training import Configuration


@pytest.fixture(scope="module")
def configurations() -> list[Configuration]:
    return [run.configuration for run in plan(parse_spec(SPEC))]


@pytest.fixture(autouse=True)
def _no_earlier_measurements(empty_data_root: Path) -> None:
    """Measurements are kept in the data folder."""


def test_runs_that_cost_the_same_are_of_one_kind(configurations: list[Configuration]) -> None:
    kinds = [kind_of(configuration) for configuration in configurations]
    assert kinds == [kinds[0]] * 4 + [kinds[4]] * 2  # β and the seed do not matter, the recipe does
    assert kinds[0] != kinds[4]


def test_finished_runs_tell_the_cost_of_a_step(configurations: list[Configuration]) -> None:
    beta, ae = configurations[0], configurations[4]
    rows = [
        (beta, Row("a", {}, "finished", step=100, seconds=50.0)),
        (beta, Row("b", {}, "finished", step=300, seconds=50.0)),  # together 0.25 seconds per step
        (ae, Row("c", {}, "failed", step=100, seconds=1.0)),
    ]
    known = estimate([(beta, 1000), (beta, 200)], rows, measure=False)
    assert known == Estimate(300.0, runs=2, kinds=1, measured=1)
    partly = estimate([(beta, 1000), (ae, 400)], rows, measure=False)
    assert partly == Estimate(350.0, runs=2, kinds=2, measured=1)  # an autoencoder is taken to cost as much
    assert estimate([(ae, 400)], [], measure=False) is None


def test_what_is_not_known_is_measured_once_in_a_process_of_its_own(
    configurations: list[Configuration], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("unweave.study.estimate.PATIENCE", 600.0)  # also on a machine with much else to do
    monkeypatch.setattr("unweave.study.estimate.BUDGET", 600.0)
    left = [(configuration, 1000) for configuration in configurations]
    measured = estimate(left, [])
    assert measured is not None
    assert (measured.runs, measured.kinds, measured.measured) == (6, 2, 2)
    assert 0 < measured.seconds < 6000

    def refused(*_: Any) -> None:
        raise AssertionError("measured twice")

    monkeypatch.setattr("unweave.study.estimate._measure", refused)
    assert estimate(left, []) == measured


def test_a_measurement_is_the_time_of_a_step(monkeypatch: pytest.MonkeyPatch) -> None:
    (run, *_) = plan(parse_spec(SPEC.replace("steps = 3", "steps = 8")))
    from unweave.training.loop import Session

    step = Session.step

    def slow(*given: Any) -> Any:
        time.sleep(0.05)
        return step(*given)

    monkeypatch.setattr(Session, "step", slow)
    seconds = seconds_per_step(run.configuration)
    assert seconds is not None
    assert seconds >= 0.05


def test_a_run_that_cannot_be_trained_is_not_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr("unweave.training.loop.Session.step", broken)
    assert seconds_per_step(plan(parse_spec(SPEC))[0].configuration) is None


def test_a_study_with_nothing_left_needs_no_time(tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path)
    study.run(workers=1)
    assert study.estimate() == Estimate(0.0, 0, 0, 0)


def test_the_time_left_follows_from_the_durations_of_runs_that_ended(configurations: list[Configuration]) -> None:
    pace = Pace()
    pace.expect({f"run{number}": configuration for number, configuration in enumerate(configurations)})  # 3 steps each
    assert pace.left({}) is None
    pace.end("run0", 30.0)
    assert pace.left({}) == pytest.approx(150.0)  # five more, at 10 seconds per step
    pace.end("run4", 6.0)  # an autoencoder, at 2 seconds per step
    assert pace.left({}) == pytest.approx(3 * 30.0 + 6.0)
    under_way = {"run1": Progress(1, 1, 99.0), "run5": Progress(3, 3, 6.0)}  # one step done, and all of them
    assert pace.left(under_way) == pytest.approx(2 * 30.0 + 20.0 + 0.0)


def test_runs_under_way_tell_the_time_left_before_one_has_ended(configurations: list[Configuration]) -> None:
    pace = Pace()
    pace.expect({f"run{number}": configuration for number, configuration in enumerate(configurations)})  # 3 steps each
    assert pace.left({"run0": Progress(2, 0, 0.0)}) is None  # continued at step 2: its speed is not known yet
    assert pace.left({"run0": Progress(2, 1, 10.0)}) == pytest.approx(10.0 + 5 * 30.0)
    pace.end("run1", 15.0)  # what has ended counts more: 5 seconds per step
    assert pace.left({"run0": Progress(2, 1, 10.0)}) == pytest.approx(5.0 + 4 * 15.0)


def test_scoring_is_measured_and_counted(tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path)
    configuration = study.planned[0].configuration
    cost = study.scoring_cost(runs=6)
    assert (one := seconds_of_scoring(configuration, cost)) is not None
    assert one > 0
    assert scoring_seconds(configuration, cost) is None  # not kept yet
    _keep({cost.kind(configuration): 7.0, **dict.fromkeys(map(kind_of, _configurations(study)), 2.0)})
    found = study.estimate(measure=False)
    assert found is not None
    assert (found.scoring, found.seconds) == (6 * 7.0, 6 * 3 * 2.0)
    assert scoring_seconds(configuration, cost) == 7.0


def test_scoring_is_measured_on_as_many_factors_and_values_as_the_data_has() -> None:
    """On a coarse grid no factor could vary within the radius of a local metric."""
    local = SPEC.replace('["mig"]', '["local_mig"]').replace(
        "[score]", "[score]\nsettings.local_mig = {rho = 0.2, min_values = 4}"
    )
    assert local.count("rho") == 1
    study = Study(local)
    assert seconds_of_scoring(study.planned[0].configuration, study.scoring_cost()) is not None


def test_measuring_does_not_warn_of_the_few_samples_that_it_takes(recwarn: pytest.WarningsRecorder) -> None:
    study = Study(SPEC.replace('["mig"]', '["factor_vae_score"]'))
    assert seconds_of_scoring(study.planned[0].configuration, study.scoring_cost()) is not None
    assert not [str(each.message) for each in recwarn if each.category is UserWarning]


@pytest.mark.parametrize(
    ("metric", "given", "fewer"),
    [
        ("mig", {"bins": 10}, {"bins": 10}),  # measured with fewer samples
        ("factor_vae_score", {"test": 3_000}, {"train": 1_000, "test": 300}),
        ("local_mig", {"rho": 0.2}, {"rho": 0.2, "neighbourhoods": 2}),  # of as many points each
        ("flatness", {"traversals": 4}, {"traversals": 1}),
    ],
)
def test_points_that_a_metric_draws_itself_are_a_tenth(
    metric: str, given: dict[str, Any], fewer: dict[str, Any]
) -> None:
    assert _fewer(METRICS[metric], given) == fewer


def test_scoring_is_measured_even_if_there_are_more_kinds_of_runs_than_time(tmp_path: Path) -> None:
    study = Study(SPEC, store=tmp_path)
    first, other = study.planned[0].configuration, study.planned[4].configuration
    fields = {name: json.loads(each.model_dump_json()) for name, each in {"a": first, "b": other, "c": first}.items()}
    sent: list[tuple[str, float | None]] = []
    try:
        measure_all(SimpleNamespace(send=sent.append), fields, {"c": study.scoring_cost(runs=6)}, -1.0)  # type: ignore[arg-type]
    finally:
        set_level("normal")
    assert [kind for kind, _ in sent] == ["a", "c"]  # the first one, and scoring
    assert all(seconds is not None and seconds > 0 for _, seconds in sent)


def test_the_first_scoring_which_imports_and_compiles_is_not_counted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    study, asked, score = Study(SPEC, store=tmp_path), list[int](), unweave.training.score
    cost = study.scoring_cost(runs=6)

    def slow_at_first(*given: Any, **options: Any) -> Any:
        time.sleep(0.0 if asked else 5.0)
        asked.append(options["samples"])
        return score(*given, **options)

    monkeypatch.setattr("unweave.training.score", slow_at_first)
    began = time.monotonic()
    one = seconds_of_scoring(study.planned[0].configuration, cost)
    assert one is not None
    assert asked[0] < asked[1]
    counted = one * min(1.0, asked[1] / cost.protocol["samples"])
    assert 0 < counted < time.monotonic() - began - 5.0


@pytest.mark.parametrize(("load", "times"), [(0.1, 1.0), (6.0, 3.0), (1000.0, 5.0)])
def test_a_busy_machine_gets_more_time_to_measure(monkeypatch: pytest.MonkeyPatch, load: float, times: float) -> None:
    monkeypatch.setattr("os.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("os.cpu_count", lambda: 2)
    assert _patience() == times


def test_the_time_left_of_a_run_that_is_scored_is_not_zero(configurations: list[Configuration]) -> None:
    pace = Pace(None)  # what scoring costs is not known
    pace.expect({f"run{number}": configuration for number, configuration in enumerate(configurations[:3])})
    pace.end("run0", 30.0)  # three steps and scoring
    scored, continued = Progress(3, 3, 6.0), Progress(2, 1, 4.0)  # the second had one of three steps before
    assert pace.left({"run1": scored, "run2": continued}) == pytest.approx((30.0 - 6.0) + (20.0 - 4.0))
    assert pace.left({"run1": Progress(3, 3, 99.0)}) == pytest.approx(30.0)  # and run2 waits


def _configurations(study: Study) -> list[Configuration]:
    return [run.configuration for run in study.planned]


def test_the_time_left_includes_scoring_from_the_beginning(tmp_path: Path) -> None:
    runs = {run.name: run.configuration for run in Study(SPEC, store=tmp_path).planned}
    first = next(iter(runs))
    under_way = {first: Progress(2, 1, 0.5)}
    unknown, known = Pace(None), Pace(10.0)
    for pace in (unknown, known):
        pace.expect(runs)
    assert unknown.left(under_way) is None  # rather than a time that grows when scoring begins
    assert unknown.training_left(under_way) == pytest.approx(0.5 * (6 * 3 - 2))
    assert unknown.training_left({}) is None
    before = known.left(under_way)
    assert before is not None
    assert before == pytest.approx(0.5 * (6 * 3 - 2) + 6 * 10)
    known.end(first, 0.5 * 3 + 10)
    after = known.left({})
    assert after is not None
    assert after == pytest.approx(5 * (0.5 * 3 + 10))  # also of the other kind, of which no run has ended
    assert after <= before
