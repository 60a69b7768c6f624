from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run
from unweave.latents import LATENTS
from unweave.nets import NETS
from unweave.recipes import RECIPES
from unweave.terms import TERMS

KINDS: dict[str, dict[str, Any]] = {"recipes": RECIPES, "terms": TERMS, "latents": LATENTS, "nets": NETS}
EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "extending").glob("*.py"))
MORE = """
from unweave.latents import Deterministic
from unweave.recipes import Recipe, term
from unweave.terms import Reconstruction, Term

READY = Recipe(recipe="ready", latent=Deterministic(size=3), terms=(term(Reconstruction()),))

class Demanding(Term):
    amount: int
    pairs: set[int] = {1}
"""


@pytest.mark.parametrize("kind", KINDS)
def test_every_part_is_listed_and_shown(
    kind: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, kind, "list") == 0
    shown = capsys.readouterr().out.split()
    assert set(KINDS[kind]) <= set(shown)
    assert run(monkeypatch, kind, "list", "--json") == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(KINDS[kind])
    for name in KINDS[kind]:
        assert run(monkeypatch, kind, "show", name) == 0
        assert name in capsys.readouterr().out
        assert run(monkeypatch, kind, "show", name, "--json") == 0
        assert json.loads(capsys.readouterr().out)["name"] == name


def test_jl1_shows_its_published_numbers(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(monkeypatch, "recipes", "show", "jl1_vae")
    shown = capsys.readouterr().out
    for word in ("beta", "+ 0.1 ×", "linear over 0.333 of the run", "∂g / ∂z", "Rhodes & Lee 2021", "steps=300,000"):
        assert word in shown


def test_settings_of_terms_are_shown(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    run(monkeypatch, "terms", "show", "jacobian_l1")
    shown = capsys.readouterr().out
    for word in ("columns", "share", "difference", "Rhodes & Lee 2021"):
        assert word in shown


def test_an_unknown_name_gets_the_closest_match(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "recipes", "show", "betavae") == 2
    assert "unknown recipe 'betavae': did you mean 'beta_vae'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("kind", "name", "words"),
    [
        ("terms", "my_term:Sparsity", ["Penalise large codes", "mean of max(0, |z| − margin)", "margin", "all"]),
        ("latents", "my_latent:Sphere", ["Codes of length 1.", "size"]),
        ("nets", "my_net:shallow", ["One hidden layer each way", "hidden", "64    int"]),
        ("recipes", "my_recipe:sparse_levels", ["+ 0.1 ×", "name=fsq, size=6, levels=8", "gamma"]),
        ("recipes", "more:READY", ["The recipe ready.", "name=deterministic, size=3"]),
        ("terms", "more:Demanding", ["amount", "'required'    int", "pairs"]),
        (
            "metrics",
            "my_metric:best_correlation",
            ["largest absolute correlation", "codes and factors", "power: int = 1"],
        ),
    ],
)
def test_a_part_of_ones_own_is_described(
    kind: str, name: str, words: list[str], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for path in EXAMPLES:
        shutil.copy(path, ".")
    Path("more.py").write_text(MORE)
    assert run(monkeypatch, kind, "show", name) == 0
    shown = capsys.readouterr().out
    assert all(word in shown for word in [name, *words])
    assert run(monkeypatch, kind, "show", name, "--json") == 0
    assert json.loads(capsys.readouterr().out)["name"] == name


@pytest.mark.parametrize(
    ("kind", "name", "message"),
    [
        ("terms", "nowhere:Sparsity", "term 'nowhere:Sparsity': the module 'nowhere' cannot be imported"),
        ("terms", "math:pi", "term 'math:pi' must be a subclass of unweave.terms.term.Term, got 3.14"),
        ("latents", "os:path", "latent 'os:path' must be a subclass of unweave.latents.latent.Latent"),
        ("nets", "math:pi", "net 'math:pi' must be a function, got float"),
        ("recipes", "os:getcwd", "the recipe os:getcwd must return a Recipe, got str"),
        ("recipes", "math:sqrt", "recipe 'math:sqrt' failed: TypeError: "),
        ("metrics", "math:pi", "metric 'math:pi' must be a function of codes and factors"),
    ],
)
def test_what_is_not_a_part_is_a_sentence(
    kind: str, name: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, kind, "show", name) == 2
    assert message in capsys.readouterr().err
