"""UDR of a real study."""

from __future__ import annotations

from pathlib import Path

import pandas
import pytest
import torch

from tests.cli.running import run as type_words
from tests.study.tiny import SPEC, Dots
from unweave.errors import InputError
from unweave.metrics import udr
from unweave.store.record import SCORING_ERROR, Record, read_record
from unweave.study import Study
from unweave.study.estimate import Noise
from unweave.study.spec import Ablation, Selection, parse_spec
from unweave.study.table import Protocols, Row, row_of, select, udr_of

SETTINGS = {"recipe": "vae", "seed": 0}


def test_runs_that_are_missing_or_damaged_are_rows_too(tmp_path: Path) -> None:
    protocols = Protocols(parse_spec(SPEC))
    row = row_of(read_record(tmp_path / "nothing"), SETTINGS, protocols)
    assert (row.state, row.missing, row.scores) == ("not started", ("mig",), {})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "state.json").write_text("{")
    row = row_of(read_record(tmp_path / "run"), SETTINGS, protocols)
    assert row.state == "damaged"
    assert "state.json is damaged" in row.error
    assert row.flat()["recipe"] == "vae"


def test_a_run_that_could_not_be_scored_says_why(tmp_path: Path) -> None:
    record = Record(tmp_path, "finished", scoring_failed=True)
    (tmp_path / SCORING_ERROR).write_text("Traceback\n  ...\nunweave.errors.InputError: bins must be at least 2.\n")
    row = row_of(record, SETTINGS, Protocols(parse_spec(SPEC)))
    assert (row.state, row.error) == ("failed", "scoring failed: bins must be at least 2.")


def row(recipe: str, beta: float, seed: int, mig: float | None, state: str = "finished") -> Row:
    scores = {} if mig is None else {"mig": mig}
    return Row(f"{recipe}{beta}{seed}", {"recipe": recipe, "beta": beta, "seed": seed}, state, scores=scores)


ROWS = [
    row("a", 1, 0, 0.9),
    row("a", 1, 1, 0.0),
    row("a", 1, 2, 0.0),
    row("a", 2, 0, 0.2),
    row("a", 2, 1, 0.25),
    row("a", 2, 2, 0.2),
    row("b", 1, 0, 0.1),
    row("b", 2, 0, None, state="failed"),
]


def test_the_best_mean_or_median_of_each_group_is_chosen() -> None:
    mean = Selection(by="mig", per=("recipe",), seeds=(9,))
    assert select(mean, ROWS) == [{"recipe": "a", "beta": 1}, {"recipe": "b", "beta": 1}]
    median = mean.model_copy(update={"over_seeds": "median"})
    assert select(median, ROWS)[0] == {"recipe": "a", "beta": 2}
    lowest = mean.model_copy(update={"best": "lowest"})
    assert select(lowest, ROWS)[0] == {"recipe": "a", "beta": 2}


def test_an_ablation_takes_the_choice_of_another_recipe() -> None:
    rule = Selection(by="mig", per=("recipe",), seeds=(9,), ablations={"c": Ablation(of="a", without=("beta",))})
    chosen = select(rule, ROWS)
    assert rule.ablated(chosen) == [{"recipe": "c"}]
    assert rule.ablated([*chosen, {"recipe": "a", "beta": 3, "data": "d"}])[1] == {"recipe": "c", "data": "d"}


def test_a_score_that_no_run_has_is_a_sentence() -> None:
    with pytest.raises(InputError, match=r"\[select\] by dci: run a10 has no such score, it has \['mig'\]"):
        select(Selection(by="dci", seeds=(9,)), ROWS)


def test_runs_are_compared_with_their_other_seeds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "spec.toml").write_text(SPEC, encoding="utf-8")
    study = Study(tmp_path / "spec.toml", store=tmp_path / "store")
    study.run(workers=1)
    found = udr_of(study, samples=200)
    assert len(found) == 6
    pair = study.runs(where={"recipe": "ae"})
    images = Dots().sample(200, torch.Generator().manual_seed(0)).images
    expected = udr([run.encode(images).numpy() for run in pair])
    assert [found[run.name] for run in pair] == pytest.approx(list(expected.per_model))
    words = ["study", "table", str(tmp_path / "spec.toml"), "--store", str(tmp_path / "store"), "--udr"]
    assert type_words(monkeypatch, *words, "--out", str(tmp_path / "table.csv")) == 0
    assert pandas.read_csv(tmp_path / "table.csv")["udr"].notna().all()


def test_workers_cannot_measure_it() -> None:
    with pytest.raises(InputError, match="unweave study table --udr"):
        _ = Study(SPEC.replace('["mig"]', '["mig", "udr"]')).planned


def test_images_are_random_and_a_function_of_their_factors(generator: torch.Generator) -> None:
    data = Noise((3, 8, 8))
    sample = data.sample(64, generator)
    assert sample.images.shape == (64, 3, 8, 8)
    assert 100 < sample.images.float().mean() < 155
    assert sample.factors is not None
    assert torch.equal(data.images(sample.factors), sample.images)
