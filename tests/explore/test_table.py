from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.study.tiny import SPEC
from tests.training.small import trained
from unweave import Run
from unweave.explore import find_selection
from unweave.explore.run_table import Table, columns, first_axes, read_row

Until = Callable[[Callable[[], object]], None]


def by_name(found: dict[str, Any]) -> dict[str, list[Any]]:
    return {column["name"]: column["values"] for column in found["columns"]}


def test_the_columns_of_a_store(store: Path, smooth: Run, stepped: Run) -> None:
    table = Table(find_selection(None, store=store))
    table.read()
    found = table.look()
    assert (found["read"], found["total"], found["rows"]) == (2, 2, 2)
    values = by_name(found)
    assert values["run"] == [smooth.name, stepped.name]
    assert values["recipe"] == ["beta_vae", "qlae"]
    (recipes,) = (column for column in found["columns"] if column["name"] == "recipe")
    assert recipes["titles"] == {"beta_vae": "β-VAE", "qlae": "QLAE"}
    assert recipes["colours"] == {"beta_vae": "#0072B2", "qlae": "#56B4E9"}  # as in every figure
    assert values["label"] == ["smooth", "stepped"]
    assert values["psnr"] == [smooth.state.psnr, stepped.state.psnr]
    assert values["latent.size"] == [4, 3]
    assert not {"kl.weight", "quantisation.weight"} & set(values)  # what a run does not have is no difference
    assert "batch" not in values  # the same in both
    assert table.look(found["version"]).keys() == {"version", "read", "total", "reading"}
    assert found["axes"]["x"] in values
    json.dumps(found, allow_nan=False)


def rows_with(scores: list[dict[str, float]], **settings: list[Any]) -> list[dict[str, Any]]:
    return [
        {"run": str(place), "state": "finished", "scores": own, "settings": {k: v[place] for k, v in settings.items()}}
        for place, own in enumerate(scores)
    ]


def test_the_chart_starts_with_the_score_that_most_finished_runs_have() -> None:
    scores = [{"sap": 0.1, "psnr": 9.0}, {"sap": 0.2, "mig": 0.2}, {"dci.completeness": 0.3, "mig": 0.1}]
    assert first_axes(columns(rows_with(scores)))["y"] == "mig"  # before SAP in the order of the metrics
    scores = [{"mig": 0.1, "sap": 0.1}, {"sap": 0.1}, {"sap": 0.2}]
    assert first_axes(columns(rows_with(scores)))["y"] == "sap"
    rows = rows_with([{"mig": 0.1}, {"mig": 0.1}, {"sap": 0.2}])
    rows[0]["state"] = rows[1]["state"] = "failed"
    assert first_axes(columns(rows))["y"] == "sap"  # which the finished run has
    assert first_axes(columns(rows_with([{}, {}]))) == {}
    assert first_axes(columns([])) == {}


def test_the_chart_starts_with_the_setting_that_varies_most() -> None:
    none: list[dict[str, float]] = [{}, {}, {}]
    assert first_axes(columns(rows_with(none, beta=[1, 1, 2], lr=[1, 2, 3])))["x"] == "lr"
    assert first_axes(columns(rows_with(none, net=["a", "b", "c"], lr=[1, 2, 3])))["x"] == "lr"
    assert first_axes(columns(rows_with(none, strength=[1, 1, 2], lr=[1, 2, 3])))["x"] == "strength"
    assert first_axes(columns(rows_with(none, lr=[1, 1, 1]))) == {}  # it does not vary
    mixed = rows_with(none, lr=[1, 2, 3])
    mixed = [row | {"recipe": recipe} for row, recipe in zip(mixed, ("vae", "vae", "qlae"), strict=True)]
    assert first_axes(columns(mixed))["x"] == "recipe"
    scores = [{"mig": 0.1}, {"mig": 0.2}, {}, {}]
    rows = rows_with(scores, latents=[4, 4, 5, 6], beta=[1, 2, 1, 1])
    assert first_axes(columns(rows)) == {"y": "mig", "x": "beta"}  # among the runs that have the score


def test_scores_are_in_the_order_of_the_metrics() -> None:
    found = columns(
        rows_with([{"psnr": 9.0, "mine:score": 1.0}, {"dci.completeness": 0.3, "dci.disentanglement": 0.1}])
    )
    names = [column["name"] for column in found if column["kind"] == "score"]
    assert names == ["dci.disentanglement", "dci.completeness", "mine:score"]


def test_scores_follow_run_and_label_and_settings_that_differ_come_last() -> None:
    rows = rows_with([{"mig": 0.1}, {"mig": 0.2}, {}], beta=[1, 2, None], levels=[None, None, 4], lr=[1, 1, 1])
    names = [column["name"] for column in columns(rows)]
    assert names[:4] == ["run", "label", "mig", "recipe"]
    assert names[-1] == "beta"
    assert not {"levels", "lr"} & set(names)


def test_a_method_has_no_settings_without_effect(tmp_path: Path, smooth: Run) -> None:
    linear = trained(tmp_path, "pca", latents=4, samples=50)
    values = by_name({"columns": columns([read_row(smooth.folder), read_row(linear.folder)])})
    assert not {"lr", "net", "samples"} & set(values)  # of one of them only
    assert values["step"] == [40, None]
    assert "latent.size" not in values  # the same in both


def test_changed_files_are_read_again(store: Path, tmp_path: Path, smooth: Run) -> None:
    shutil.copytree(store, tmp_path / "store")
    folder = tmp_path / "store" / smooth.name
    table = Table(find_selection(str(tmp_path / "store")))
    table.read()
    before = table.look()
    table.read()
    assert table.look()["version"] == before["version"]  # nothing changed
    entry = {"metric": "mig", "protocol": {}, "version": "", "result": {"score": 0.25}}
    other = {"metric": "dci", "protocol": {}, "version": "", "result": {"score": 1}}
    (folder / "scores.json").write_text(json.dumps([entry, {**entry, "result": {"score": "NaN"}}, entry]))
    table.read()
    assert by_name(table.look())["mig"][0] == 0.25
    snapshot = {**entry, "protocol": {"step": 20}, "result": {"score": 0.5}}  # the run has 40 steps
    (folder / "scores.json").write_text(json.dumps([{**entry, "protocol": {"step": 40}}, snapshot]))
    table.read()
    assert by_name(table.look())["mig"][0] == 0.25
    (folder / "scores.json").write_text(json.dumps([other]))  # dci has other scores
    table.read()
    damaged = by_name(table.look())
    assert damaged["state"][0] == "damaged"
    assert damaged["state"][1] == "finished"
    shutil.rmtree(folder)
    table.read()
    assert table.look()["rows"] == 1


def test_a_table_is_read_in_the_background(store: Path, until: Until) -> None:
    table = Table(find_selection(None, store=store))
    table.look()
    until(lambda: table.look()["read"] == 2)


def test_a_study_has_its_own_settings_and_runs_that_were_not_started(tmp_path: Path) -> None:
    (tmp_path / "tiny.toml").write_text(SPEC)
    table = Table(find_selection(str(tmp_path / "tiny.toml"), store=tmp_path / "runs", trusted=True))
    table.read()
    values = by_name(table.look())
    assert sorted(values["recipe"]) == ["ae", "ae", *["beta_vae"] * 4]
    assert set(values["state"]) == {"not started"}
    assert values["beta"].count(4) == 2


@pytest.mark.parametrize("content", ["", "[]", "{", '{"data": 3, "terms": [1]}', '{"terms": [{"term": {}}]}', "\udcff"])
def test_a_damaged_run_does_not_hide_the_others(store: Path, tmp_path: Path, content: str) -> None:
    shutil.copytree(store, tmp_path / "store")
    folder = tmp_path / "store" / "0123456789abcdef"
    folder.mkdir()
    (folder / "configuration.json").write_text(content, errors="surrogateescape")
    os.utime(folder / "configuration.json", (0, 0))  # the oldest comes first
    table = Table(find_selection(str(tmp_path / "store")))
    table.read()
    found = table.look()
    assert found["rows"] == 3
    assert by_name(found)["state"][0] in ("damaged", "not started")
    json.dumps(found, allow_nan=False)


def test_values_are_numbers_or_texts() -> None:
    rows = [
        {"run": "a", "scores": {"mig": float("nan")}, "settings": {"x": [1, 2]}},
        {"run": "b", "settings": {"x": 3}},
    ]
    found = {column["name"]: column for column in columns(rows)}
    score = {"name": "mig", "kind": "score", "title": "MIG", "best": "higher", "values": [None, None]}
    assert found["mig"] == score
    assert found["x"] == {"name": "x", "kind": "setting", "values": ["[1, 2]", 3]}
    assert read_row(Path("nowhere"))["state"] == "not started"
