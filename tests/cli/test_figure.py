from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pandas
import pytest
from PIL import Image

import unweave
from tests.cli.running import run
from tests.training.small import trained
from unweave.questions import all_figures


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("store")
    data = unweave.load("xysquares", size=16)
    for recipe in ("beta_vae", "qlae"):
        trained(folder, recipe, data=data, steps=2, latents=3).label = recipe
    return folder


def words(*more: str, store: Path) -> list[str]:
    return ["figure", *more, "--store", str(store)]


def test_all_figures_are_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "figure", "list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in all_figures())
    assert run(monkeypatch, "figure", "list", "--json") == 0
    rows = {row["name"]: row for row in json.loads(capsys.readouterr().out)}
    assert list(rows) == list(all_figures())
    assert rows["traversals"]["moves"] is True
    assert rows["mutual_information"]["needs"] == ["a finished run", "data with known factors"]


@pytest.mark.parametrize("name", ["picture.png", "picture.svg", "picture.pdf", "moving.gif", "moving.mp4"])
def test_traversals_are_written_in_every_format(name: str, store: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, *words("traversals", "qlae", "--out", name, "--set", "most=2", store=store)) == 0
    content = Path(name).read_bytes()
    suffix = Path(name).suffix
    starts = {".png": b"\x89PNG", ".svg": b"<?xml", ".pdf": b"%PDF", ".gif": b"GIF8"}
    assert content.startswith(starts.get(suffix, content[:4]))
    if suffix == ".gif":
        with Image.open(name) as image:
            assert getattr(image, "n_frames", 1) == 18  # ten levels, there and back
    if suffix == ".mp4":
        assert content[4:8] == b"ftyp"


def test_names_may_have_hyphens_and_data_its_options(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    small = ["--set", "traversals=2", "--out"]
    command = words("perceived-distances", "--data", "xysquares,size=16", *small, "one.png", store=store)
    assert run(monkeypatch, *command) == 0
    command = words(
        "perceived_distances", "--data", "xysquares", "--set", "data.size=16", *small, "other.png", store=store
    )
    assert run(monkeypatch, *command) == 0
    assert Path("one.png").read_bytes() == Path("other.png").read_bytes()
    assert run(monkeypatch, *words("perceived_distances", "--data", "xysquares", "--set", "size=16", store=store)) == 2
    assert "unknown setting of perceived_distances 'size': did you mean 'data.size'?" in capsys.readouterr().err


def test_several_runs_and_numbers(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, *words("reconstructions", "beta_vae", "qlae", store=store)) == 0
    assert Path("reconstructions.png").exists()
    command = words("jacobian", "beta_vae", "qlae", "--out", "areas.csv", "--set", "most=2", store=store)
    assert run(monkeypatch, *command) == 0
    rows = list(csv.DictReader(Path("areas.csv").read_text().splitlines()))
    assert [row["run"] for row in rows] == ["beta_vae", "beta_vae", "qlae", "qlae"]
    assert all(0 < float(row["area"]) <= 1 for row in rows)
    capsys.readouterr()
    assert run(monkeypatch, *words("jacobian", "qlae", "--json", "--set", "most=1", store=store)) == 0
    (printed,) = json.loads(capsys.readouterr().out)
    assert printed["norm"] == pytest.approx(float(rows[2]["norm"]))
    assert not Path("jacobian.png").exists()


def test_data_sets_and_tables_take_the_place_of_runs(monkeypatch: pytest.MonkeyPatch) -> None:
    data = [word for spacing in (1, 2) for word in ("--data", f"xysquares,size=16,spacing={spacing}")]
    assert run(monkeypatch, "figure", "perceived_distances", *data, "--set", "traversals=1") == 0
    assert Path("perceived_distances.png").exists()
    random = np.random.default_rng(0)
    rows = [
        {"data": "dsprites", "recipe": recipe, "strength": 1, "seed": seed, "mig": random.uniform()}
        for recipe in ("beta_vae", "ada_gvae")
        for seed in range(4)
    ]
    pandas.DataFrame(rows).to_csv("runs.csv", index=False)
    for name in ("score_strips", "paired_densities", "score_ranges"):
        assert run(monkeypatch, "figure", name, "--table", "runs.csv", "--out", f"{name}.svg") == 0
        assert Path(f"{name}.svg").read_bytes().startswith(b"<?xml")


def test_a_study_takes_the_place_of_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    Path("small.toml").write_text(
        'name = "small"\nmetrics = ["mig"]\n[score]\nsamples = 50\n[fixed]\ndata = "xysquares"\n"data.size" = 16\n'
        'net = "conv16"\nsteps = 2\nbatch = 8\nlatents = 2\n[[grid]]\nrecipe = "beta_vae"\nseeds = 1\n'
    )
    command = ["figure", "score_by_spacing", "--study", "small.toml", "--store", str(tmp_path / "runs")]
    assert run(monkeypatch, *command) == 2
    assert "no run of small.toml is finished: unweave study run small.toml" in capsys.readouterr().err
    assert run(monkeypatch, "study", "run", "small.toml", "--store", str(tmp_path / "runs"), "-q") == 0
    assert run(monkeypatch, *command[:1], "score_strips", *command[2:]) == 0
    assert Path("score_strips.png").exists()
    assert run(monkeypatch, *command[:1], "score_strips", *command[2:], "--where", "recipe=ae,vae") == 2
    assert "no run of small.toml is finished among those with {'recipe': ['ae', 'vae']}" in capsys.readouterr().err
    table = ["study", "table", *command[3:], "--out", "small.csv", "--where", "data.size=16"]
    assert run(monkeypatch, *table, "--where", "kl.weight=4") == 0
    assert "1 rows" in capsys.readouterr().out


def test_where_chooses_the_runs_of_a_table(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [
        {"data": data, "recipe": recipe, "strength": 1, "seed": seed, "mig": seed / 10, "tag": f"figure {tag}"}
        for tag, data in ((6, "dsprites"), (6, "xysquares"), (9, "xysquares"))
        for recipe in ("beta_vae", "ada_gvae")
        for seed in range(3)
    ]
    pandas.DataFrame(rows).to_csv("runs.csv", index=False)
    command = ["figure", "paired_densities", "--table", "runs.csv", "--json"]
    counts = []
    for words in ([], ["tag=figure 6"], ["tag=figure 6", "data=xysquares"], ["seed=[0,1]"]):
        assert run(monkeypatch, *command, *(each for word in words for each in ("--where", word))) == 0
        counts.append(len(json.loads(capsys.readouterr().out)))
    assert counts == [18, 12, 6, 12]
    assert run(monkeypatch, *command, "--where", "seed=9") == 2
    assert "no run of the table has {'seed': 9}." in capsys.readouterr().err


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (["traversal", "qlae"], "unknown figure 'traversal': did you mean 'traversals'?"),
        (["traversals"], "traversals needs one run, encoder or table of codes: unweave figure traversals RUN"),
        (["traversals", "qlae", "beta_vae"], "traversals shows one run at a time, got 2."),
        (["traversals", "qlae", "--out", "a.bmp"], "expected a name that ends in .png, .svg, .pdf, .gif, .mp4, .csv."),
        (["samples", "qlae", "--out", "a.gif"], "samples does not move, so it cannot be .gif"),
        (["samples", "qlae", "--out", "/proc/no/a.png"], "cannot write /proc/no/a.png"),
        (["samples", "qlae", "--out", "."], "it is a folder"),
        (["samples", "qlae", "--out", "a.csv"], "samples shows images, not numbers"),
        (["samples", "qlae", "--study", "a.toml"], "give runs, or --study, or --table: one of them."),
        (
            ["samples", "--table", "a.csv"],
            "samples shows one or several runs, encoders or tables of codes; it takes no --study and no --table.",
        ),
        (["samples", "qlae", "--colums", "3"], "there is no option --colums: did you mean --set columns=3?"),
        (["samples", "qlae", "--set", "colums=3"], "unknown setting of samples 'colums': did you mean 'columns'?"),
        (["samples", "nobody"], "nobody"),
        (["samples", "qlae", "--set", "columns=0"], "columns must be a whole number of at least 1, got 0."),
        (["reconstructions", "qlae", "--set", "columns=-1"], "columns must be a whole number of at least 1"),
        (["distances", "qlae", "--set", "factors=['x9']"], "x9"),
        (["distances", "qlae", "--set", "loss=msee"], "unknown distance 'msee': did you mean 'mse'"),
        (["two_latents", "qlae", "--set", "latents=(0,0)"], "two different numbers from 0 to 2"),
        (["samples", "qlae", "--where", "seed=0"], "--where chooses runs of --study or --table"),
        (["score_strips"], "score_strips needs several runs, --study SPEC or --table FILE."),
        (["score_strips", "qlae", "beta_vae"], "needs at least one column of scores"),
        (["score_strips", "qlae", "--data", "xysquares"], "it takes no --data"),
        (["score_strips", "--table", "a.txt"], "--table must end in .csv, .parquet or .json"),
        (["score_strips", "--table", "missing.csv"], "cannot read missing.csv"),
        (["local_scores", "qlae"], "none of these runs has local scores."),
        (["perceived_distances"], "perceived_distances needs runs, whose data it shows, or --data NAME"),
        (["perceived_distances", "--data", "xysquare"], "did you mean 'xysquares'"),
        (["traversals", "beta_vae", "--set", "over=levels"], "over=levels needs quantised latents"),
    ],
)
def test_what_cannot_be_drawn_is_one_sentence(
    given: list[str],
    message: str,
    store: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert run(monkeypatch, *words(*given, store=store)) == 2
    error = capsys.readouterr().err
    assert error.startswith("unweave: ")
    assert message in error
    assert "Traceback" not in error
    assert not list(Path.cwd().glob("*.png"))


def test_a_figure_of_factors_is_refused_for_images_alone(
    store: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    np.save("images.npy", unweave.load("xysquares", size=16).rows(range(8)).numpy())
    command = words("mutual_information", "qlae", "--data", "./images.npy", store=store)
    assert run(monkeypatch, *command) == 2
    assert "mutual_information needs data with known factors." in capsys.readouterr().err
