"""Every recipe and data set, and every metric that a paper defined, names works that the bibliography knows."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pytest

import unweave
from tests.cli.running import run
from unweave.bibliography import REFERENCE, WORKS, bibtex, works_in
from unweave.data import SETS
from unweave.metrics import METRICS
from unweave.recipes import RECIPES
from unweave.terms import TERMS

OURS = {"ae", "pca", "ica"}  # recipes without a paper of their own
# metrics without a paper of this field
PLAIN = {"follows", "reconstruction_error", "psnr", "kl_per_latent", "elbo", "single_latents", "sparsity"}
TEXTS = {
    **{name: inspect.getdoc(function) or "" for name, function in RECIPES.items() if name not in OURS},
    **{name: inspect.getdoc(metric.function) or "" for name, metric in METRICS.items() if name not in PLAIN},
    **{name: data.card.citation for name, data in SETS.items()},
    **{name: str(term.paper) for name, term in TERMS.items()},
}


@pytest.mark.parametrize("name", TEXTS)
def test_all_works_that_a_part_refers_to_are_known(name: str) -> None:
    text = " ".join(TEXTS[name].split())
    found = works_in(text)
    assert found
    for authors, year in REFERENCE.findall(text):
        assert f"{authors.replace(' and ', ' & ')} {year}" in WORKS


def test_an_entry_is_complete_and_keys_are_unique() -> None:
    assert bibtex(["Kim & Mnih 2018", "Kim & Mnih 2018"]) == (
        "@inproceedings{kim2018disentangling,\n"
        "  author = {Hyunjik Kim and Andriy Mnih},\n"
        "  title = {{Disentangling by Factorising}},\n"
        "  booktitle = {International Conference on Machine Learning},\n"
        "  year = {2018},\n"
        "}"
    )
    assert len({work.key for work in WORKS.values()}) == len(WORKS)
    for name, work in WORKS.items():
        assert str(work.year) in name
        assert name.split()[0] in work.authors.split(" and ")[0]
        assert work.proceedings or work.journal or work.address


def test_cite_prints_all_that_was_used(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "cite", "tripod", "dci", "shapes3d") == 0
    shown = capsys.readouterr().out
    for key in ("hsu2024tripod", "eastwood2018framework", "burgess2018shapes"):
        assert f"{{{key}," in shown
    assert run(monkeypatch, "cite", "zoo:qlae-rooms3d") == 0
    shown = capsys.readouterr().out
    assert "hsu2023disentanglement" in shown  # its recipe
    assert "chen2018isolating" in shown  # a metric that it was scored by
    assert "burgess2018shapes" in shown  # its data


def test_cite_refuses_what_it_does_not_know(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name, said in (
        ("no-such-thing", "'no-such-thing' in the store runs. It is no recipe, metric or data set either"),
        ("dsprits", "Did you mean dsprites"),
        ("sparsity", "no work to cite is known for sparsity"),
    ):
        assert run(monkeypatch, "cite", name) == 2
        assert said in " ".join(capsys.readouterr().err.split())


def test_cite_of_a_run_names_the_terms_and_the_latent_that_were_put_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    images = unweave.load("xysquares", size=8, square=2, grid=3, squares=2, spacing=2)
    settings: dict[str, Any] = {"latent": "fsq", "terms": {"jacobian_l1": 0.1}, "net": "mlp", "steps": 1, "batch": 4}
    trained = unweave.train("ae", images, store=tmp_path, **settings)
    assert run(monkeypatch, "cite", str(trained.folder)) == 0
    shown = capsys.readouterr().out
    assert "{mentzer2023finite," in shown
    assert "{rhodes2021local," in shown
