"""A run that was scored several times shows the same number everywhere."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import unweave
from tests.study.tiny import SPEC
from unweave.errors import InputError, Unavailable
from unweave.explore import find_selection
from unweave.explore.description import facts
from unweave.explore.run_table import Table
from unweave.figures.figure import table_of_runs
from unweave.metrics import Scores, dci, mig, result_to_plain, total_correlation
from unweave.metrics.local import Local
from unweave.reports.facts import read_facts
from unweave.store import read_record
from unweave.store.folder import SCORES
from unweave.store.measurements import Entry, add_scores, numbers_of, read_scores
from unweave.study import Study

RNG = np.random.default_rng(0)
FACTORS = RNG.integers(0, (3, 4), (200, 2))
RESULT = mig(FACTORS + RNG.normal(size=FACTORS.shape), FACTORS)
DCI_RESULT = dci(FACTORS + RNG.normal(size=FACTORS.shape), FACTORS)
PROTOCOL: dict[str, Any] = {"samples": 100, "seed": 0, "settings": {}}


def test_results_come_back_with_their_matrices(tmp_path: Path) -> None:
    assert dict(read_scores(tmp_path)) == {}
    add_scores(tmp_path, {"mig": PROTOCOL}, Scores({"mig": RESULT}))
    stored = read_scores(tmp_path)
    assert stored["mig"].score == RESULT.score
    np.testing.assert_array_equal(stored["mig"].mutual_information, RESULT.mutual_information)
    assert stored.table == {"mig": RESULT.score}
    assert stored.entries[0].version.startswith("unweave ")


def test_infinity_and_nan_are_kept_apart(tmp_path: Path) -> None:
    codes = np.stack([FACTORS[:, 0], FACTORS[:, 0]], axis=1).astype(float)
    result = total_correlation(codes, ridge=0.0)
    assert result.score == math.inf
    add_scores(tmp_path, {"total_correlation": PROTOCOL}, Scores({"total_correlation": result}))
    json.loads((tmp_path / SCORES).read_text(), parse_constant=lambda name: pytest.fail(f"{name} is not JSON"))
    assert read_scores(tmp_path)["total_correlation"].score == math.inf


def scored(folder: Path, score: float, **protocol: Any) -> None:
    result = replace(RESULT, score=score)
    add_scores(folder, {"mig": {**PROTOCOL, **protocol}}, Scores({"mig": result}))


def test_a_result_with_the_same_protocol_is_replaced(tmp_path: Path) -> None:
    scored(tmp_path, 0.1)
    scored(tmp_path, 0.2)
    assert [entry.result["score"] for entry in read_scores(tmp_path).entries] == [0.2]


def test_of_several_protocols_one_takes_precedence_and_any_can_be_selected(tmp_path: Path) -> None:
    scored(tmp_path, 0.1)
    scored(tmp_path, 0.2, samples=50)
    assert read_scores(tmp_path)["mig"].score == 0.1  # of more samples
    scored(tmp_path, 0.3, seed=1)
    assert read_scores(tmp_path)["mig"].score == 0.3  # the last of as many samples
    scored(tmp_path, 0.4, samples=1000, settings={"bins": 5})
    stored = read_scores(tmp_path)
    assert stored["mig"].score == 0.3  # with the default settings
    assert stored.table == {"mig": 0.3}
    assert stored.select(samples=50)["mig"].score == 0.2
    assert stored.select(settings={"bins": 5})["mig"].score == 0.4
    assert list(stored.select(samples=3)) == []
    with pytest.raises(KeyError):
        stored["dci"]


def test_the_scores_of_a_result_are_those_of_its_metric() -> None:
    """Read from the JSON without torch where they are stored, and computed where they are not."""
    local = Local(np.array([0.1, 0.5]), np.array([0.25, 0.75]), np.zeros((2, 3)))
    for metric, result in (("mig", RESULT), ("dci", DCI_RESULT), ("local_mig", local)):
        entry = Entry(metric, {}, "", result_to_plain(result))
        assert numbers_of(entry) == Scores({metric: result}).table
    with pytest.raises(InputError, match="not a result of dci"):
        numbers_of(Entry("dci", {}, "", {"score": 1.0}))


@pytest.mark.parametrize("text", ["{", '{"a": 1}', '[{"metric": 3}]', '[{"metric": "mig", "protocol": 1}]'])
def test_damage_is_a_sentence(text: str, tmp_path: Path) -> None:
    (tmp_path / SCORES).write_text(text)
    with pytest.raises(Unavailable, match=r"scores.json is damaged .* remove it"):
        read_scores(tmp_path)


def on_the_page(target: str, run: str, **settings: object) -> float:
    table = Table(find_selection(target, trusted=True, **settings))  # type: ignore[arg-type]
    table.read()
    columns = {column["name"]: column["values"] for column in table.look()["columns"]}
    return float(columns["mig"][columns["run"].index(run)])


@pytest.mark.parametrize("samples", [40, 200])
def test_table_report_figure_and_page_agree(copied: Path, tmp_path: Path, samples: int) -> None:
    study = Study(SPEC, store=copied)
    (run,) = study.runs(where={"recipe": "beta_vae", "beta": 4, "seed": 1})
    first = run.scores["mig"].score  # of 60 samples
    second = unweave.score(run, metrics=["mig"], samples=samples, test_samples=30)["mig"].score
    unweave.score(run, metrics=["mig"], samples=samples, test_samples=30, settings={"mig": {"bins": 3}})
    assert first != second
    expected = max((60, first), (samples, second))[1]
    assert read_record(run.folder).scores == {"mig": expected}
    assert run.scores.table == {"mig": expected}
    assert [score.value for score in read_facts(run.folder).scores] == [expected]
    assert table_of_runs([run])["mig"].tolist() == [expected]
    assert on_the_page(str(copied), run.name) == expected
    assert ["MIG", f"{expected:.2f}"] in facts(run)
    table = study.table().set_index("run")
    assert table["mig"][run.name] == first  # a study asks for its own protocol
    (tmp_path / "tiny.toml").write_text(SPEC)
    assert on_the_page(str(tmp_path / "tiny.toml"), run.name, store=copied) == first
