"""Comparisons with stored results, against the same numbers taken from results.csv by hand."""

from __future__ import annotations

import json
import math
import statistics
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas
import pytest
import torch
from scipy import sparse
from torch import Tensor

import unweave
from tests.cli.running import run
from unweave.errors import InputError
from unweave.papers import comparison, find
from unweave.papers.comparison import compare

SQUARES: dict[str, Any] = {"size": 32, "spacing": 4}  # of which two findings have stored results
STORED = [find(name).stored() for name in ("adversarial-squares", "combinations")]
QUANTILE = {2: 12.706, 3: 4.3027, 5: 2.7764}  # of Student's t, 97.5 %, by the number of runs


def corners(images: Tensor) -> Tensor:
    """The place of each square, from its own colour: all six factors, one latent each."""
    rows, columns = images.amax(3).argmax(2), images.amax(2).argmax(2)
    return torch.cat([columns, rows], dim=1).float()


def blurred(images: Tensor) -> Tensor:
    return corners(images) @ torch.ones(6, 6).tril()


@pytest.fixture(scope="module")
def squares() -> unweave.FactorData:
    return unweave.load("xysquares", **SQUARES)


def stored_values(score: str) -> dict[str, list[float]]:
    """The values of every stored setting on these squares, by hand, from the files."""
    found: dict[str, list[float]] = {}
    for table in STORED:
        assert table is not None
        rows = table[(table["data"] == "xysquares") & (table["data.spacing"] == 4) & (table["data.size"] == 32)]
        rows = rows.drop_duplicates("run")  # some belong to two figures
        settings = ["recipe", *(key for key in ("blur", "beta", "grouping", "terms", "latent") if key in rows)]
        for _, part in rows.groupby(settings, dropna=False, sort=False):
            found[f"{len(found)}"] = part[score].tolist()
    return found


def test_stored_rows_are_means_intervals_and_ranks_of_the_files(squares: unweave.FactorData) -> None:
    found = compare({"places": corners, "sums": blurred}, squares, metrics=["mig"], bootstrap=4)
    table = found.table[found.table["score"] == "mig"]
    stored = table[table["origin"] != "here"]
    expected = sorted(stored_values("mig").values(), key=statistics.mean)
    measured = stored.sort_values("mean")
    assert len(expected) == len(measured) > 3
    for values, row in zip(expected, measured.itertuples(), strict=True):
        half = QUANTILE[len(values)] * statistics.stdev(values) / math.sqrt(len(values))
        assert row.runs == len(values)
        assert row.mean == pytest.approx(statistics.mean(values))
        assert row.high - row.mean == pytest.approx(half, rel=1e-3)
        assert row.mean - row.low == pytest.approx(half, rel=1e-3)
    given = table[table["origin"] == "here"].set_index("method")
    assert list(given.index) == ["places", "sums"]  # one row for each
    alone = unweave.score(corners, squares, metrics=["mig"], samples=5_000, test_samples=2_500, bootstrap=4)
    assert given.loc["places", "mean"] == alone.table["mig"]
    assert given.loc["places", "low"] == alone.worth["mig"].low
    assert given.loc["places", "high"] == alone.worth["mig"].high
    every = sorted([*given["mean"], *map(statistics.mean, expected)], reverse=True)
    assert [*table["rank"]] == [every.index(pytest.approx(mean)) + 1 for mean in table["mean"]]
    assert set(table["of"]) == {len(expected) + 2}
    assert given.loc["places", "rank"] == 1
    assert found.notes == (
        "XYSquares, 32 × 32, spacing 4: measured with 5,000 samples, 2,500 more to test and the seed 0, as the stored "
        "results of adversarial-squares, combinations.",
    )


def test_what_is_printed_has_the_numbers_of_the_table(squares: unweave.FactorData) -> None:
    found = compare(unweave.Encoder(corners, squares, name="places"), metrics=["mig"], bootstrap=0)
    row = found.table[found.table["origin"] == "here"].iloc[0]
    cell = f"{row['mean']:.3f} (1/{row['of']:.0f})"
    (grid,) = found.grids()
    assert grid.rows[0] == ["→ places", "here", "1", cell]
    assert grid.best == [(0, 3)]
    assert f"| → places | here | 1 | **{cell}** |" in found.write("md")
    assert rf"$\to$ places & here & 1 & \textbf{{{cell}}} \\" in found.write("latex")
    assert found.write("csv").splitlines()[0] == ",".join(comparison.COLUMNS)
    assert cell in repr(found)
    assert f"<b>{cell}</b>" in found._repr_html_()
    assert "the rank among all rows" in found._repr_html_()
    with pytest.raises(InputError, match="written as text, md, latex, csv"):
        found.write("html")  # type: ignore[arg-type]


def test_data_of_which_nothing_is_stored_are_named() -> None:
    small = unweave.load("xysquares", size=16)
    found = compare({"one": corners, "two": blurred}, small, metrics=["mig"], bootstrap=0)
    assert len(found.notes) == 1
    assert found.notes[0].startswith("Nothing stored is comparable: no stored run is on XYSquares, 16 × 16")
    assert "XYSquares (size 32, spacing 4)" in found.notes[0]
    assert "dSprites (size 32)" in found.notes[0]
    assert sorted(found.table["rank"]) == [1, 2]  # among each other


def test_codes_are_drawn_as_the_stored_results_were(squares: unweave.FactorData) -> None:
    factors = squares.space.sample(8_000, torch.Generator().manual_seed(3))
    values = corners(squares.images(factors)).double().numpy()
    codes = unweave.Codes(values, factors.numpy(), name="mine")
    found = compare(codes, squares, metrics=["mig"], bootstrap=0).table
    mean = found.loc[found["origin"] == "here", "mean"].item()
    again = unweave.score_codes(values[:5_000], factors[:5_000], metrics="mig").table["mig"]
    assert mean == pytest.approx(again, abs=0.01)
    assert found["of"].max() > 3
    thin = unweave.Codes(sparse.csr_array(values), factors.numpy(), name="thin")
    found = compare(thin, squares, metrics=["mig"], bootstrap=0).table
    assert found.loc[found["origin"] == "here", "mean"].item() == pytest.approx(mean, abs=1e-9)
    few = compare(unweave.Codes(values[:1_000], factors[:1_000].numpy(), name="few"), squares, metrics=["mig"])
    assert few.notes[0] == "few: MIG is left out: it needs 7,500 rows as the stored results have, got 1,000."
    assert "few" not in set(few.table["method"])
    unsaid = compare(codes, metrics=["mig"], bootstrap=0)
    assert "codes do not say which data they belong to" in unsaid.notes[0]
    assert len(unsaid.table) == 1
    with pytest.raises(InputError, match="take 8, 8 values, and those of xysquares 8, 8, 8, 8, 8, 8"):
        compare(unweave.Codes(values, factors[:, :2].numpy()), squares, metrics=["mig"])


def fabricated(monkeypatch: pytest.MonkeyPatch, protocols: dict[str, list[float]], **more: Any) -> pandas.DataFrame:
    """Replace the stored results by runs on small squares, and return their table."""
    rows = [
        {"run": f"{place}{seed}", "state": "finished", "recipe": "vae", "seed": seed, "data": "xysquares"}
        | {"data.size": 8, "beta": place, "mig": value, "protocol": protocol, **more}
        for place, (protocol, values) in enumerate(protocols.items())
        for seed, value in enumerate(values)
    ]
    table = pandas.DataFrame(rows)
    monkeypatch.setattr(comparison, "FINDINGS", {"mine": SimpleNamespace(stored=lambda: table)})
    return table


def protocol(**more: Any) -> str:
    return json.dumps({"samples": 300, "test_samples": 100, "seed": 5, "settings": {}, **more})


def test_the_protocol_with_the_most_runs_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    other = protocol(settings={"mig": {"bins": 5}})
    fabricated(monkeypatch, {other: [0.9, 0.8], protocol(): [0.1, 0.2, 0.3]})
    small = unweave.load("xysquares", size=8)
    found = compare({"places": corners}, small, bootstrap=0)
    stored = found.table[found.table["origin"] == "mine"]
    assert stored["mean"].tolist() == [pytest.approx(0.2)]
    assert "XYSquares, 8 × 8, spacing 1: 2 stored runs have MIG of another protocol." in found.notes
    expected = unweave.score(corners, small, metrics="mig", samples=300, test_samples=100, seed=5).table["mig"]
    assert found.table.loc[found.table["origin"] == "here", "mean"].item() == expected


def test_a_metric_of_which_nothing_is_stored_and_one_that_does_not_apply(monkeypatch: pytest.MonkeyPatch) -> None:
    fabricated(monkeypatch, {protocol(): [0.1, 0.2]}, reconstruction_error=0.5, kl_per_latent=3.0)
    small = unweave.load("xysquares", size=8)
    found = compare({"places": corners}, small, bootstrap=0)
    assert set(found.table["score"]) == {"mig"}  # reconstructions need a decoder, and the KL has no better end
    assert any(note.startswith("places: reconstruction error is left out: it needs recon") for note in found.notes)
    found = compare({"places": corners}, small, metrics=["mig", "modularity"], bootstrap=0)
    assert set(found.table["score"]) == {"mig", "modularity"}
    assert any("nothing is stored of modularity" in note for note in found.notes)


STUDY = """
name = "small"
metrics = ["mig"]
[score]
samples = 300
test_samples = 100
seed = 5
[fixed]
data = "xysquares"
"data.size" = 8
seeds = 2
[[grid]]
recipe = "pca"
latents = [2, 3]
"""


def test_the_runs_of_a_study_are_compared_by_method(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    fabricated(monkeypatch, {protocol(source="pool"): [0.1, 0.2]})
    study = unweave.Study(STUDY, store=tmp_path)
    study.run(workers=1)
    found = compare([study, "latest"], store=tmp_path, bootstrap=0).table
    table = study.table()
    for latents in (2, 3):
        row = found[found["method"] == f"PCA, latents = {latents}"].iloc[0]
        assert row["mean"] == pytest.approx(table.loc[table["latents"] == latents, "mig"].mean())
        assert row["runs"] == 2
    assert set(found["of"]) == {4}
    shown = study._repr_html_()  # in a notebook
    assert f"{table.loc[table['latents'] == 2, 'mig'].mean():.3f} ± " in shown
    assert '<img alt="ranges of scores"' in shown
    latest = unweave.open("latest", store=tmp_path)
    assert f"PCA {latest.name[:8]}" in set(found["method"])


def test_runs_that_chose_the_settings_of_a_second_stage_are_not_compared(tmp_path: Path) -> None:
    study = unweave.Study(STUDY + '[select]\nby = "mig"\nper = ["recipe"]\nseeds = [7, 8, 9]\n', store=tmp_path)
    study.run(workers=1)
    found = compare(study, metrics=["mig"], bootstrap=0).table
    second = [each for each in study.runs() if each.configuration.seed >= 7]
    assert found["runs"].tolist() == [3]
    assert found["mean"][0] == pytest.approx(
        np.mean([unweave.score(each, metrics="mig").table["mig"] for each in second])
    )


def test_a_stored_run_is_not_compared_with_itself(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    mine = unweave.train("pca", unweave.load("xysquares", size=8), latents=2, store=tmp_path)
    table = fabricated(monkeypatch, {protocol(): [0.1, 0.2]})
    table.loc[0, "run"] = mine.name
    found = compare(mine, bootstrap=0).table
    assert found.loc[found["origin"] == "mine", "mean"].tolist() == [0.2]


def test_what_cannot_be_compared_is_refused(squares: unweave.FactorData, tmp_path: Path) -> None:
    with pytest.raises(InputError, match="give at least one run, encoder or codes"):
        compare([])
    with pytest.raises(InputError, match="pass the data as well"):
        compare(corners)
    with pytest.raises(InputError, match="two of them are called 'corners'"):
        compare([corners, corners], squares)
    with pytest.raises(InputError, match="nothing is stored of '<lambda>', a metric of your own"):
        compare(corners, squares, metrics=[lambda codes, factors: 0.0])  # type: ignore[list-item]
    with pytest.raises(InputError, match="unknown metric 'migg'"):
        compare(corners, squares, metrics="migg")


LAYERS = """
import torch

def places(images):
    rows, columns = images.amax(3).argmax(2), images.amax(2).argmax(2)
    return torch.cat([columns, rows], dim=1).float()

layers = {"first": places, "second": lambda images: places(images) @ torch.ones(6, 6).tril()}
"""


def test_the_command_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    fabricated(monkeypatch, {protocol(): [0.1, 0.2]})
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "compared_layers.py").write_text(LAYERS)
    words = ["compare", "compared_layers:layers", "--data", "xysquares,size=8", "--bootstrap", "0"]
    assert run(monkeypatch, *words) == 0
    text = capsys.readouterr().out
    assert text.index("→ first") < text.index("VAE") < text.index("→ second")  # by rank
    assert "in brackets, the rank" in text
    assert "note: XYSquares, 8 × 8, spacing 1: measured with 300 samples" in text
    assert run(monkeypatch, *words, "--format", "csv") == 0
    printed = capsys.readouterr()
    assert len(printed.out.splitlines()) == 4  # notes are elsewhere
    assert "note: XYSquares" in printed.err
    assert run(monkeypatch, *words, "--out", "t.tex") == 0
    assert r"\toprule" in (tmp_path / "t.tex").read_text()
    space = unweave.load("xysquares", size=8).space
    factors = space.at(np.arange(space.size) % space.size)
    np.save(tmp_path / "a.npy", factors.numpy().astype(float))
    np.save(tmp_path / "b.npy", factors.numpy() @ np.ones((factors.shape[1], 3)))
    np.save(tmp_path / "f.npy", factors.numpy())
    files = ["--codes", "a.npy", "--codes", "b.npy", "--factors", "f.npy"]
    assert run(monkeypatch, "compare", *files, "--data", "xysquares,size=8", "--format", "md", "--bootstrap", "0") == 0
    assert "| → a | here | 1 | **" in capsys.readouterr().out
    for wrong, reason in (
        ([], "give runs, encoders as module:name, --codes FILE"),
        (["--factors", "f.npy"], "--factors can be used with --codes only"),
        (["--codes", "a.npy"], "--codes needs --factors"),
        ([*files, "--format", "html"], "--format must be one of text, md, latex, csv"),
        ([*files, "--out", "t.html"], "--out must end in .md, .tex, .csv or .txt"),
    ):
        assert run(monkeypatch, "compare", *wrong) == 2
        assert reason in capsys.readouterr().err
