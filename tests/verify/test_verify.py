"""Rows of what others published: how they are judged, what they need, and how they are shown."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from tests.cli.running import run as typed
from unweave.data.check import Constants
from unweave.errors import InputError, Unavailable
from unweave.verify import (
    CHECKS,
    Check,
    Pair,
    Row,
    checks_named,
    data_statistics,
    public_models,
    reference_scores,
    verify,
)
from unweave.verify.protocols import wrapped
from unweave.verify.public_models import PUBLISHED, their_decomposition, their_log_weights
from unweave.verify.row import Material, page
from unweave.zoo.public import PUBLIC

GENUINE = Path(__file__).parents[3] / "shared" / "genuine"


@pytest.fixture
def genuine() -> Path:
    if not GENUINE.exists():
        pytest.skip("the shared folder with genuine models is not beside the project")
    return GENUINE


def rows(*names: str, source: Path | None = None) -> list[Row]:
    return [row for name in names for row in verify(name, source=source)]


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("a", "a", "b", theirs=1.0, ours=1.0 + 1e-8, tolerance=1e-7), "agrees"),
        (Row("a", "a", "b", theirs=1.0, ours=1.0 + 1e-6, tolerance=1e-7), "differs"),
        (Row("a", "a", "b", theirs=10.0, ours=10.5, tolerance=0.06, relative=True), "agrees"),
        (Row("a", "a", "b", theirs=10.0, ours=11.0, tolerance=0.06, relative=True), "differs"),
        (Row("a", "a", "b", theirs=1.0, ours=1.0, details=(Pair("c", 2.0, 3.0),)), "differs"),
        (Row("a", "a", "b", theirs="0 to 1", ours=5.0, details=(Pair("c", None, 3.0),)), "explained"),
        (Row("a", "a", "b", theirs="0 to 1", ours=5.0, details=(Pair("c", 0.0, 1.0),)), "differs"),
        (Row("a", "a", "b", missing="a file"), "missing"),
        (Row("a", "a", "b", theirs=math.nan, ours=1.0, tolerance=1.0), "differs"),
    ],
)
def test_verdicts(row: Row, verdict: str) -> None:
    assert row.verdict == verdict


def test_every_public_model_has_published_losses() -> None:
    assert PUBLISHED.keys() == {model.label for model in PUBLIC.values()}
    for losses in PUBLISHED.values():
        assert sum(losses.per_latent) == pytest.approx(losses.kl, abs=1e-8)  # as published, the KL is their sum
        if losses.mutual_information is not None:
            assert losses.total_correlation is not None
            assert losses.total_correlation * public_models.BATCHES < -50


@pytest.mark.parametrize("once", [False, True])
def test_their_estimator_by_a_loop(once: bool) -> None:
    """log q(z) and its marginals of a few posteriors, image by image and latent by latent, as their code reads."""
    generator = torch.Generator().manual_seed(0)
    mean, logvar = torch.randn(5, 3, generator=generator).double(), torch.randn(5, 3, generator=generator).double()
    dataset, others = 100, 4
    weights = [[1 / others] * 5 for _ in range(5)]
    flat = [(i, j) for i in range(5) for j in range(5)]
    for position in range(0, 25, others + 1):
        weights[flat[position][0]][flat[position][1]] = 1 / dataset
    second = (dataset - others) / (dataset * others)
    for position in range(1, 25, others + 1):
        weights[flat[position][0]][flat[position][1]] = second
    weights[others - 1][0] = second
    torch.testing.assert_close(their_log_weights(5, dataset).exp(), torch.tensor(weights, dtype=torch.float64))

    def density(z: float, m: float, v: float) -> float:
        return -0.5 * (math.log(2 * math.pi) + v + (z - m) ** 2 / math.exp(v))

    mutual = total = dimensions = 0.0
    for i in range(5):
        own = sum(density(float(mean[i, d]), float(mean[i, d]), float(logvar[i, d])) for d in range(3))
        prior = sum(density(float(mean[i, d]), 0.0, 0.0) for d in range(3))
        table = [
            [density(float(mean[i, d]), float(mean[j, d]), float(logvar[j, d])) for d in range(3)] for j in range(5)
        ]
        logs = [math.log(weights[i][j]) for j in range(5)]
        power = 1 if once else 3
        joint = math.log(sum(math.exp(sum(table[j]) + power * logs[j]) for j in range(5)))
        product = sum(math.log(sum(math.exp(table[j][d] + logs[j]) for j in range(5))) for d in range(3))
        mutual, total, dimensions = mutual + own - joint, total + joint - product, dimensions + product - prior
    expected = (mutual / 5, total / 5, dimensions / 5)
    assert their_decomposition(mean, logvar, dataset, once=once) == pytest.approx(expected)


@pytest.mark.parametrize("label", ["VAE_dsprites", "betaB_dsprites", "btcvae_dsprites", "factor_dsprites"])
def test_the_published_losses_are_recomputed(label: str, genuine: Path) -> None:
    found = {row.name: row for row in rows(f"{label}/reconstruction", f"{label}/kl", source=genuine)}
    assert {row.verdict for row in found.values()} == {"agrees"}
    assert all((row.difference or 0) < 1e-7 for row in found.values())


def test_a_negative_total_correlation_is_reproduced_and_explained(genuine: Path) -> None:
    (row,) = rows("btcvae_dsprites/total_correlation", source=genuine)
    assert row.verdict == "agrees"
    numbers = {pair.label: pair.ours for pair in row.details}
    assert numbers["total correlation in nats, as published"] == pytest.approx(-60.48, abs=0.01)
    assert numbers["total correlation in nats, log-weight added once"] == pytest.approx(1.69, abs=0.01)
    assert "+1.69 nats" in row.why


def test_matrices_and_codes(genuine: Path) -> None:
    found = rows("qlae", "codes/mig", "codes/modularity", "codes/total_correlation", source=genuine)
    assert {row.verdict for row in found} == {"agrees"}


def test_a_published_matrix_that_does_not_give_its_score(tmp_path: Path) -> None:
    """Two factors, three latents: shares of the best factor 0.8, 0.75 and 1 (mean 0.85), rescaled from a half to 1."""
    nmi = [[0.8, 0.1, 0.0], [0.2, 0.3, 0.5]]
    infom = (0.85 - 0.5) / 0.5
    (tmp_path / "qlae").mkdir()
    file = tmp_path / "qlae" / "shapes3d.json"
    file.write_text(json.dumps({"trial0": {"infom": infom, "infoc": 0.5, "nmi": nmi}}), encoding="utf-8")
    (modularity, compactness) = rows("qlae", source=tmp_path)
    assert modularity.verdict == "agrees"
    assert compactness.verdict == "differs"
    file.write_text("{}{", encoding="utf-8")
    assert rows("qlae/infom", source=tmp_path)[0].verdict == "missing"


@pytest.mark.parametrize("said", ["[ True False  True]", [True, False, True]], ids=["printed", "listed"])
def test_inactive_latents_of_a_published_matrix_are_left_out(said: object, tmp_path: Path) -> None:
    nmi = [[0.8, 0.3, 0.1], [0.2, 0.3, 0.9]]  # two factors; the second latent is inactive
    infom, infoc = (0.85 - 0.5) / 0.5, ((0.8 / 0.9 + 0.9 / 1.1) / 2 - 0.5) / 0.5
    (tmp_path / "qlae").mkdir()
    trials = {"first": {"infom": infom, "infoc": infoc, "nmi": nmi, "active_latents": said}}
    (tmp_path / "qlae" / "cars3d.json").write_text(json.dumps(trials), encoding="utf-8")
    assert [row.verdict for row in rows("qlae", source=tmp_path)] == ["agrees", "agrees"]
    (tmp_path / "qlae" / "mpi3d.json").write_text("{}", encoding="utf-8")
    assert rows("qlae/infom", source=tmp_path)[0].verdict == "agrees"
    (tmp_path / "qlae" / "cars3d.json").write_text("{}", encoding="utf-8")
    assert "has no trials" in rows("qlae/infom", source=tmp_path)[0].missing


def test_codes_of_a_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Codes that equal the factors: MIG is 1 by definition."""
    factors = np.random.default_rng(0).integers(0, 4, (reference_scores.FIT + reference_scores.TEST, 3))
    (tmp_path / "codes").mkdir()
    np.savez(tmp_path / "codes" / "shapes3d_vae.npz", mean=factors.astype(np.float32), factors=factors)
    reference = reference_scores.REFERENCES["mig"]._replace(values={"mean": {"score": 1.0}})
    monkeypatch.setitem(reference_scores.REFERENCES, "mig", reference)
    (row,) = rows("codes/mig/mean", source=tmp_path)
    assert row.ours == pytest.approx(1.0, abs=0.01)
    (other,) = rows("codes/mig/sampled", source=tmp_path)
    assert other.verdict == "missing"
    assert "arrays mean, sampled and factors" in other.missing


def test_distances_and_constants_of_a_drawn_set() -> None:
    found = {row.name: row for row in rows("xysquares")}
    assert {row.verdict for row in found.values()} == {"agrees"}
    assert found["xysquares/constants"].ours == pytest.approx(0.015625)  # 64 of 4,096 pixels


def test_a_wrong_published_number_differs(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    wrong = data_statistics.Published({}, Constants((0.5,) * 3, (0.124034734589209,) * 3))
    monkeypatch.setitem(data_statistics.SETS, "xysquares", wrong)
    assert typed(monkeypatch, "verify", "xysquares/constants") == 1
    assert "differs: largest difference 4.8e-01" in capsys.readouterr().out


def test_numbers_that_need_no_material() -> None:
    found = rows("psnr", "grid/adversarial-squares", "grid/tripod", "theorem-1/jacobian")
    assert {row.verdict for row in found} == {"agrees"}
    assert wrapped(100) == pytest.approx(20 * math.log10(255) - 10 * math.log10(16))  # 10,000 = 39 · 256 + 16
    assert wrapped(16) == math.inf


def test_missing_material_is_no_failure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert typed(monkeypatch, "verify", "betaH_dsprites", "--from", str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "expected disentangling-vae/betaH_dsprites.npz" in shown
    assert "0 differ" in shown
    assert typed(monkeypatch, "verify", "qlae", "--json") == 0
    printed: list[dict[str, Any]] = json.loads(capsys.readouterr().out)
    assert [row["verdict"] for row in printed] == ["missing", "missing"]
    assert "needs the file qlae/shapes3d.json" in printed[0]["missing"]


def test_damaged_weights_do_not_stop_the_other_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    np.savez(tmp_path / "betaH_dsprites.npz", other=np.zeros(3))
    assert typed(monkeypatch, "verify", "betaH_dsprites", "--from", str(tmp_path)) == 0
    shown = capsys.readouterr().out
    assert "not those of disentangling-vae's Burgess net: it has no 'decoder.convT1.bias'" in shown
    assert "3 lack material, 0 differ" in shown


def test_a_failed_download_is_tried_once(empty_data_root: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tried: list[str] = []

    def fail(model: Any) -> Path:
        tried.append(model.name)
        raise Unavailable("no network")

    monkeypatch.setattr("unweave.verify.row.public_run", fail)
    material = Material()
    with pytest.raises(Unavailable, match="no network"):
        material.model(PUBLIC["disentangling-vae/VAE_dsprites"])
    with pytest.raises(
        Unavailable, match=r"betaH_dsprites/model.pt was not downloaded, because another download failed"
    ):
        material.model(PUBLIC["disentangling-vae/betaH_dsprites"])
    assert tried == ["disentangling-vae/VAE_dsprites"]


def test_names_of_rows() -> None:
    assert len(checks_named(None)) == len(CHECKS)
    assert [check.name for check in checks_named("psnr")] == ["psnr/wrapped", "psnr/thresholds"]
    expected = [f"btcvae_dsprites/{kind}" for kind in ("reconstruction", "kl", "total_correlation", "mig")]
    for name in ("btcvae_dsprites", "btcvae-dsprites/", "public:disentangling-vae/btcvae_dsprites"):
        assert [check.name for check in checks_named(name)] == expected
    assert {check.name.partition("/")[0] for check in checks_named("disentangling-vae")} == set(PUBLISHED)
    with pytest.raises(InputError, match=r"unknown row 'codes/mgi': did you mean 'codes/mig/mean'"):
        checks_named("codes/mgi")
    with pytest.raises(InputError, match=r"unknown row 'zzz': expected one of VAE_dsprites, betaB_dsprites, betaH"):
        checks_named("zzz")
    with pytest.raises(InputError, match="did you mean 'psnr'"):
        checks_named("psnrr")
    with pytest.raises(InputError, match="there is no folder"):
        verify(source=Path("nowhere"))


def test_the_page_shows_every_row_and_no_path(tmp_path: Path) -> None:
    def measured(row: Row, material: Material) -> Row:
        raise Unavailable(f"{tmp_path} has no weights")

    missing = Check("a/b", "a number", "a paper", measured).run(Material(tmp_path))
    text = page([missing, Row("psnr/c", "another", "a paper", theirs=1.0, ours=1.5, why="a reason")], tmp_path)
    assert str(tmp_path) not in text
    assert "Missing: the folder has no weights" in text
    assert "Of 2 rows: 0 agrees, 0 explained, 1 differs, 1 missing." in text
    assert "| `psnr/c` | another | 1 | 1.5 | 5.0e-01 | differs |" in text


def test_the_page_of_the_documentation_has_every_row() -> None:
    text = (Path(__file__).parents[2] / "docs" / "verified.md").read_text(encoding="utf-8")
    assert [line.split("`")[1] for line in text.splitlines() if line.startswith("| `")] == sorted(
        CHECKS, key=lambda name: [check.name for check in checks_named(None)].index(name)
    )
    assert "| differs |" not in text
