from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from tests.cli.running import run
from unweave.data.files.factor_tables import read_matrix
from unweave.metrics import METRICS, infomec


@pytest.fixture
def matrices(tmp_path: Path) -> tuple[Path, Path]:
    """Codes and factors on disk, one latent per factor."""
    factors = np.random.default_rng(0).integers(0, 4, (300, 2))
    np.save(tmp_path / "codes.npy", factors * 2.0)
    (tmp_path / "factors.csv").write_text("a,b\n" + "\n".join(f"{a},{b}" for a, b in factors))
    return tmp_path / "codes.npy", tmp_path / "factors.csv"


def test_score_prints_a_table_or_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], matrices: tuple[Path, Path]
) -> None:
    codes, factors = map(str, matrices)
    words = ("score", "--codes", codes, "--factors", factors, "--metric", "mig", "--metric", "dci")
    assert run(monkeypatch, *words) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["dci.disentanglement", "1.0000", "higher", "0", "to", "1"] in rows
    assert run(monkeypatch, *words, "--json") == 0
    assert json.loads(capsys.readouterr().out)["mig"] == pytest.approx(0.996, abs=1e-3)


def test_what_is_not_computed_is_printed_with_the_reason(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], matrices: tuple[Path, Path]
) -> None:
    codes, _ = map(str, matrices)
    continuous = Path("continuous.npy")
    np.save(continuous, np.random.default_rng(1).uniform(size=(300, 1)))
    assert run(monkeypatch, "score", "--codes", codes, "--factors", str(continuous)) == 0
    computed, _, left_out = capsys.readouterr().out.partition("not computed:")
    assert {"mcc", "mig", "dci.completeness"} <= set(computed.split())
    reasons = dict(line.strip().split(": ", 1) for line in left_out.strip().splitlines())
    named = next(names for names, why in reasons.items() if why.startswith("needs images and their reconstructions"))
    assert {"psnr", "reconstruction_error"} <= set(named.split(", "))
    assert run(monkeypatch, "score", "--codes", codes, "--factors", str(continuous), "--metric", "mcc") == 0
    assert "not computed" not in capsys.readouterr().out


def test_discrete_codes_are_scored_as_classes(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], matrices: tuple[Path, Path]
) -> None:
    codes, factors = map(str, matrices)
    words = ("score", "--codes", codes, "--factors", factors, "--metric", "infomec", "--json")
    found = []
    for more in ((), ("--discrete",)):
        assert run(monkeypatch, *words, *more) == 0
        found.append(json.loads(capsys.readouterr().out))
    result = infomec(np.load(codes), read_matrix(Path(factors)), discrete=True)
    assert found[1]["infomec.explicitness"] == result.explicitness != found[0]["infomec.explicitness"]


def test_metrics_of_ones_own_are_scored_by_module_and_name(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], matrices: tuple[Path, Path]
) -> None:
    codes, factors = map(str, matrices)
    Path("my_metrics.py").write_text("def twice(codes, factors):\n    return float(codes.max() / factors.max())\n")
    monkeypatch.syspath_prepend(".")
    words = ("score", "--codes", codes, "--factors", factors, "--metric", "my_metrics:twice", "--metric", "mcc")
    assert run(monkeypatch, *words) == 0
    rows = [line.split() for line in capsys.readouterr().out.splitlines()]
    assert ["my_metrics:twice", "2.0000"] in rows


def test_infinite_scores_are_strings_in_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    codes = np.random.default_rng(0).normal(size=(40, 1)) * 1e9
    np.save("codes.npy", np.hstack([codes, codes]))
    assert run(monkeypatch, "score", "--codes", "codes.npy", "--metric", "total_correlation", "--json") == 0
    assert json.loads(capsys.readouterr().out) == {"total_correlation": "Infinity"}


def test_metrics_are_listed_and_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "metrics", "list") == 0
    shown = capsys.readouterr().out
    assert all(name in shown for name in METRICS)
    assert run(monkeypatch, "metrics", "show", "dci") == 0
    shown = capsys.readouterr().out
    for words in ("importance='svm', completeness='mean'", "higher is better", "Eastwood & Williams 2018", "weakness"):
        assert words in shown
    assert run(monkeypatch, "metrics", "list", "--json") == 0
    listed = json.loads(capsys.readouterr().out)
    assert [metric["name"] for metric in listed] == list(METRICS)
    assert run(monkeypatch, "metrics", "show", "sap", "--json") == 0
    sap = json.loads(capsys.readouterr().out)
    assert sap in listed
    assert "standardise=True" in sap["published"]["Locatello et al. 2019, appendix B"]
    assert sap["settings"] == ["groups", "kinds", "method", "seed", "standardise", "test"]


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["score", "--codes", "nowhere.npy"], "there is no file nowhere.npy"),
        (["score", "--codes", "codes.txt"], "there is no file"),
        (["score"], "give either runs (or encoders as module:name), or --codes FILE"),
        (["metrics", "show", "migg"], "did you mean 'mig'"),
        (["score", "--codes", "codes.npy", "--metric", "irs"], "irs: needs factors, but no factors were given"),
        (["score", "--codes", "codes.npy", "--metric", "psnr"], "psnr: needs images and their reconstructions"),
        (["score", "--codes", "codes.npy", "--metric", "mig"], "mig: needs factors, but no factors were given"),
        (["score", "--codes", "codes.npy", "--metric", "nowhere:gap"], "the module 'nowhere' cannot be imported"),
        (["score", "--codes", "codes.npy", "--threads", "0"], "Invalid value for '--threads'"),
    ],
)
def test_wrong_words_to_the_metrics_are_a_sentence(
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    matrices: tuple[Path, Path],
    words: list[str],
    message: str,
) -> None:
    assert run(monkeypatch, *words) == 2
    assert message in capsys.readouterr().err


def test_every_score_has_its_own_range(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    line = np.random.default_rng(0).normal(size=(200, 1))
    np.save("codes.npy", np.hstack([line] * 16))  # 2 - 2 / √16
    assert run(monkeypatch, "score", "--codes", "codes.npy", "--metric", "wasserstein_correlation") == 0
    rows = {line.split()[0]: line for line in capsys.readouterr().out.splitlines()}
    assert rows["wasserstein_correlation.score"].endswith("in squared units of the codes")
    assert rows["wasserstein_correlation.normalised"].split()[1:] == ["1.5000", "lower", "0", "to", "2"]
    assert run(monkeypatch, "metrics", "show", "wasserstein_correlation") == 0
    assert "range of .normalised" in capsys.readouterr().out
