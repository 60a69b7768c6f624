from __future__ import annotations

from pathlib import Path

import pandas
import pytest
import torch

import unweave
from tests.training.small import pictures, trained
from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures import FIGURES, applicable_figures
from unweave.figures.figure import check_scored, method_column, records_of, table_of_runs


def test_what_is_lacking_is_said(linear: Run, gaussian: Run, data: FactorData) -> None:
    assert FIGURES["mutual_information"].refusal(gaussian, data) is None
    bare = unweave.load(pictures())
    assert FIGURES["mutual_information"].refusal(gaussian, bare) == (
        "mutual_information needs data with known factors."
    )
    assert "a training log" in str(FIGURES["training_curves"].refusal(linear, data))
    with pytest.raises(InputError, match="needs data with known factors"):
        FIGURES["mutual_information"].of_runs([gaussian], [bare], torch.Generator())


def test_a_run_that_has_not_finished_shows_less(tmp_path: Path, data: FactorData) -> None:
    run = trained(tmp_path, steps=2, latents=3)
    (run.folder / "summary.json").unlink()  # written when a run ends
    assert FIGURES["traversals"].refusal(run, data) == "traversals needs a finished run."
    assert {figure.name for figure in applicable_figures(run, data)} >= {"reconstructions", "training_curves"}


def test_runs_are_counted(gaussian: Run, quantised: Run, data: FactorData, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="traversals shows one run at a time, got 2"):
        FIGURES["traversals"].of_runs([gaussian, quantised], [data, data], generator)
    sets = FIGURES["perceived_distances"].of_runs([gaussian, quantised], [data, data], generator, traversals=1).sets
    assert len(sets) == 1  # of the same data


def test_settings_are_checked() -> None:
    traversals = FIGURES["traversals"]
    assert traversals.check_settings({"steps": 5, "over": "prior"}) == {"steps": 5, "over": "prior"}
    with pytest.raises(InputError, match="unknown setting of traversals 'step': did you mean 'steps'"):
        traversals.check_settings({"step": 5})
    with pytest.raises(InputError, match="steps"):
        traversals.check_settings({"steps": "many"})
    assert traversals.settings["starts"].default == 1


def test_numbers_of_a_figure_are_rows(gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    figure = FIGURES["jacobian"]
    rows = records_of(figure, figure.of_runs([gaussian], [data], generator, most=2))
    assert [set(row) for row in rows] == [{"run", "latent", "norm", "area"}] * 2
    assert records_of(figure, pandas.DataFrame({"a": [1, 2]})) == [{"a": 1}, {"a": 2}]
    images = FIGURES["traversals"]
    with pytest.raises(InputError, match=r"shows images, not numbers"):
        records_of(images, images.of_runs([gaussian], [data], generator))


def test_a_table_has_settings_and_the_last_scores(tmp_path: Path) -> None:
    data = unweave.load("xysquares", size=16)
    run = trained(tmp_path, data=data, steps=2)
    unweave.score(run, data, metrics=["mig"], samples=50)
    last = unweave.score(run, data, metrics=["mig"], samples=60)["mig"].score
    table = table_of_runs([run])
    row = table.iloc[0]
    assert (row["recipe"], row["data"], row["seed"], row["data.size"]) == ("beta_vae", "xysquares", 0, 16)
    assert row["mig"] == pytest.approx(last)
    assert check_scored("a figure", table, ()) == ["mig"]
    assert method_column(table, None) == "method"
    assert method_column(table.drop(columns="method"), None) == "recipe"
    assert method_column(table, "seed") == "seed"
    with pytest.raises(InputError, match="Scores of runs are measured by: unweave score"):
        check_scored("a figure", table.drop(columns="mig"), ())
