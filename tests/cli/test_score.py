from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy import sparse

import unweave
from tests.cli.running import run
from tests.training.small import trained
from unweave.metrics import Scores
from unweave.metrics.scoring.scores import Value

SMALL = ["--metric", "mig", "--metric", "psnr", "--samples", "60", "--test-samples", "30"]


def test_runs_are_scored_by_name_and_keep_their_scores(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data = unweave.load("xysquares", size=16)
    first, second = (trained(tmp_path / "runs", "ae", data=data, steps=1, seed=seed) for seed in (0, 1))
    assert run(monkeypatch, "score", first.name[:8], *SMALL, "--threads", "1", "--json") == 0
    scores = json.loads(capsys.readouterr().out)
    assert scores == {first.name: first.scores.table}
    assert set(scores[first.name]) == {"mig", "psnr"}
    assert run(monkeypatch, "score", first.name[:8], f"./runs/{second.name}", *SMALL) == 0
    shown = capsys.readouterr().out
    assert first.name[:8] in shown
    assert f"{first.scores['mig'].score:.4f}" in shown
    assert f"{second.scores['mig'].score:.4f}" in shown
    settings = ["--metric", "mig", "--set", "mig.bins=5", "--samples", "60"]
    assert run(monkeypatch, "score", first.name[:8], *settings) == 0
    assert len(first.scores.entries) == 3
    listed = ["--data", "xysquares", "--set", "data.size=16", "--set", "metrics=mig,psnr", *SMALL[4:], "--json"]
    capsys.readouterr()
    assert run(monkeypatch, "score", first.name[:8], *listed) == 0
    assert json.loads(capsys.readouterr().out) == scores
    assert run(monkeypatch, "score", first.name[:8], "--metric", "mig,psnr", *SMALL[4:], "--json") == 0
    assert json.loads(capsys.readouterr().out) == scores
    assert len(first.scores.entries) == 3


def test_several_runs_list_what_was_not_computed_and_name_runs_that_differ(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    table = {"mig": Value(0.5)}
    scored = {
        "encoders:first": Scores(table, {"udr": "needs several runs", "elbo": "no posterior"}),
        "encoders:second": Scores(table, {"udr": "needs several runs"}, notes={"mig": "a note"}),
    }
    opened = [SimpleNamespace(name=name) for name in scored]
    monkeypatch.setattr("unweave.cli.score.open_representations", lambda *_, **__: opened)
    monkeypatch.setattr("unweave.training.score", lambda each, *_, **__: scored[each.name])
    assert run(monkeypatch, "score", *scored) == 0
    printed, _, left_out = capsys.readouterr().out.partition("not computed:\n")
    first, second = scored
    assert printed.split() == ["mig", first, "0.5000", second, "0.5000", "mig:", "a", "note", f"({second})"]
    assert left_out == "  udr: needs several runs\n  elbo: no posterior (encoders:first)\n"
    assert run(monkeypatch, "score", *scored, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {name: {"mig": 0.5} for name in scored}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["abc", "--set", "size=16"], "got 'size': did you mean --set data.size=16?"),
        (["abc", "--metric", "mig", "--set", "bins=5"], "got 'bins': did you mean --set mig.bins=5?"),
        (["abc", "--metric", "mig", "--bins", "5"], "there is no option --bins: did you mean --set mig.bins=5?"),
        (["abc", "--metric", "mig,dci", "--importance=forest"], "did you mean --set dci.importance=forest?"),
        (["abc", "--bins", "5"], "did you mean --set METRIC.bins=5, where METRIC is follows, mig, "),
        (["abc", "--nothing", "5"], "there is no option --nothing."),
        (["abc", "--metric", "sap", "--set", "bins=5"], "as in mig.bins=5, got 'bins'."),
        (["abc", "--set", "data.size=16"], "--set data.size is an option of a data set: name it with --data."),
        ([], "give either runs (or encoders as module:name), or --codes FILE"),
        (["abc", "--codes", "codes.npy"], "give either runs (or encoders as module:name), or --codes FILE"),
        (["abc", "--discrete"], "--discrete can be used with --codes only"),
        (
            ["--codes", "codes.npy", "--samples", "3"],
            "--samples, --test-samples and --source can be used with runs only",
        ),
        (["abc", "--threads", "99999"], "--threads must be at most the number of cores of this machine, "),
        (["abc"], "there is no run 'abc' in the store"),
    ],
)
def test_wrong_words_are_a_sentence(
    words: list[str], message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "score", *words) == 2
    assert message in capsys.readouterr().err


@pytest.mark.parametrize("form", [sparse.csr_array, sparse.csc_matrix])
def test_sparse_codes_from_a_file_of_scipy_score_as_dense_ones(
    form: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    factors = rng.integers(0, (3, 4), (300, 2))
    codes = np.where(rng.uniform(size=(300, 20)) < 0.1, rng.exponential(size=(300, 20)), 0)
    codes[:, 3], codes[:, 4] = factors[:, 0] == 1, 0
    np.save("factors.npy", factors)
    np.save("codes.npy", codes)
    sparse.save_npz("codes.npz", form(codes))
    names = ["--factors", "factors.npy", "--metric", "mig", "--metric", "single_latents"]
    assert run(monkeypatch, "score", "--codes", "codes.npy", *names, "--json") == 0
    expected = json.loads(capsys.readouterr().out)
    assert run(monkeypatch, "score", "--codes", "codes.npz", *names, "--json") == 0
    assert json.loads(capsys.readouterr().out) == pytest.approx(expected, abs=1e-9)
    assert run(monkeypatch, "score", "--codes", "codes.npz", *names) == 0
    assert "latents that are never active: 1 of 20" in capsys.readouterr().out
    np.savez("wrong.npz", format=b"csr", shape=[3, 3], data=np.ones(2))
    assert run(monkeypatch, "score", "--codes", "wrong.npz", *names) == 2
    assert "wrong.npz cannot be read as a sparse matrix of scipy" in capsys.readouterr().err


def test_json_has_chance_levels_and_intervals(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    factors = np.random.default_rng(0).integers(0, 3, (200, 2))
    np.save(tmp_path / "codes.npy", factors + 0.1)
    np.save(tmp_path / "factors.npy", factors)
    given = ["--codes", str(tmp_path / "codes.npy"), "--factors", str(tmp_path / "factors.npy"), "--metric", "mig"]
    assert run(monkeypatch, "score", *given, "--json", "--null", "9", "--bootstrap", "5") == 0
    plain = json.loads(capsys.readouterr().out)
    expected = unweave.score_codes(factors + 0.1, factors, metrics="mig", null=9, bootstrap=5)
    assert plain["mig"] == expected.table["mig"]
    assert plain["worth"] == {"mig": asdict(expected.worth["mig"])}
    assert run(monkeypatch, "score", *given, "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"mig": plain["mig"]}
