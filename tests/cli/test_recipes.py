from __future__ import annotations

import pytest

from tests.cli.running import run
from unweave.latents import LATENTS
from unweave.recipes import RECIPES
from unweave.terms import TERMS


def test_every_recipe_and_part_is_listed(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(monkeypatch, "recipes", "list") == 0
    shown = capsys.readouterr().out.split()
    for name in (*RECIPES, *LATENTS, *TERMS):
        assert name in shown or f"{name}," in shown


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_shows_formula_terms_defaults_and_paper(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "recipes", "show", name) == 0
    shown = capsys.readouterr().out
    assert name in shown
    assert "latents=" in shown


def test_jl1_shows_its_published_numbers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(monkeypatch, "recipes", "show", "jl1_vae")
    shown = capsys.readouterr().out
    for word in ("beta=4.0, gamma=0.1", "+ 0.1 (linear over 0.333) ×", "∂g / ∂z", "Rhodes & Lee 2021", "steps=300,000"):
        assert word in shown


def test_an_unknown_recipe_names_the_nearest(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "recipes", "show", "betavae") == 2
    assert "unknown recipe 'betavae': did you mean 'beta_vae'" in capsys.readouterr().err
