"""The pages of the docs site that are made from the code."""

from __future__ import annotations

import importlib.util
import inspect
import re
import sys
from pathlib import Path
from types import ModuleType
from xml.etree import ElementTree

import markdown
import pytest

from unweave.metrics import METRICS
from unweave.papers import FINDINGS, overview, page, write_document
from unweave.recipes import RECIPES, compose

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def site() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_hooks", ROOT / "docs" / "site.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.path.insert(0, str(ROOT / "docs"))  # as MkDocs does
    try:
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(ROOT / "docs"))
    return module


@pytest.fixture
def generated(site: ModuleType) -> ModuleType:
    return sys.modules[site.reference_page.__module__]


@pytest.mark.parametrize("name", RECIPES)
def test_the_page_of_a_method_has_its_terms_and_its_command(site: ModuleType, name: str) -> None:
    text = site.method_page(name)
    assert f"unweave train {name} dsprites" in text
    headings = [line for line in text.splitlines() if line.startswith("## ")]
    assert {"## Idea", "## Where Unweave differs", "## Command"} <= set(headings)
    measured = f"| {name} |" in (ROOT / "benchmarks" / "recipes.md").read_text(encoding="utf-8")
    assert ("## Numbers" in headings) == measured
    assert {"## Loss", "## Formula"} & set(headings)
    for weighted in compose(name, {}, factors=5).terms:
        assert f"| {weighted.weight:g} | {weighted.name} |" in text


@pytest.mark.parametrize("name", RECIPES)
def test_the_formulas_of_terms_are_set(site: ModuleType, name: str) -> None:
    terms = compose(name, {}, factors=5).terms
    shown = site.on_page_content(markdown.markdown(site.method_page(name), extensions=["tables"]))
    formulas = [formula for weighted in terms for formula in re.findall(r"\$(.+?)\$", weighted.term.formula)]
    found = re.findall(r"<math.*?</math>", shown)
    assert len(found) >= len(formulas)
    for formula, math in zip(formulas, found, strict=False):
        text = "".join(ElementTree.fromstring(math).itertext())
        assert not set("\\_$") & set(text), formula  # no command was left as text
        assert text.count("‖") == formula.count(r"\|"), formula
        assert text.count("|") == formula.replace(r"\|", "").count("|"), formula


def test_the_page_of_a_method_lists_where_it_differs_and_nothing_else(site: ModuleType) -> None:
    text = site.method_page("factor_vae")
    assert "| FactorVAE's shuffled codes |" in text
    assert "| initial weights |" in text  # of all methods
    assert "Ada-GVAE" not in text
    rows = [line for line in (ROOT / "docs" / "training.md").read_text().splitlines() if "`start=balanced`" in line]
    assert [row.rsplit("|", 2)[1].strip() for row in rows] == ["all"]


@pytest.mark.parametrize("name", FINDINGS)
def test_the_page_of_a_finding_is_what_its_table_says(name: str) -> None:
    finding = FINDINGS[name]
    if (stored := finding.stored()) is None:
        return
    written = (ROOT / "docs" / "papers" / f"{name}.md").read_text(encoding="utf-8")
    document = write_document(finding, stored, draw=False)
    assert written == page(document), "run: unweave paper pages docs/papers"
    for picture in document.pictures:
        assert (ROOT / "docs" / "papers" / f"{name}-{picture.name}.png").is_file(), "run: unweave paper run"


def test_the_overview_counts_the_claims_of_the_stored_tables() -> None:
    tables = {name: finding.stored() for name, finding in FINDINGS.items()}
    answers = {name: FINDINGS[name].answer(table) for name, table in tables.items() if table is not None}
    written = (ROOT / "docs" / "papers" / "index.md").read_text(encoding="utf-8")
    assert written == overview(answers), "run: unweave paper pages docs/papers"
    assert "| [impossibility](impossibility.md) |" in written


@pytest.mark.parametrize(("name", "finding"), [("jl1_vae", "local-disentanglement"), ("tripod", "tripod")])
def test_the_numbers_of_a_method_are_those_of_the_finding(site: ModuleType, name: str, finding: str) -> None:
    written = (ROOT / "docs" / "papers" / f"{finding}.md").read_text(encoding="utf-8")
    rows = [line for line in written.splitlines() if f"| {name} | " in line and " ± " in line]
    assert rows
    assert set(rows) <= set(site.method_page(name).splitlines())


def test_a_method_names_the_tests_of_all_its_terms(site: ModuleType) -> None:
    assert "`tests/terms/test_jacobian.py`" in site.method_page("jl1_vae")


@pytest.mark.parametrize("name", ["mig", "dci", "infomec"])
def test_the_reference_shows_functions_rather_than_files_of_the_same_name(site: ModuleType, name: str) -> None:
    assert f"[{name}](../metrics/{name}.md#unweave.metrics.{name}.{name})" in site.reference_page("unweave.metrics")
    assert f"::: unweave.metrics.{name}.{name}\n" in site.metric_page(name)


def test_references_of_sphinx_are_shown_as_names(site: ModuleType) -> None:
    shown = site.on_page_content("<p>:func:<code>~unweave.data.load</code>, :class:<code>Run</code></p>")
    assert shown == "<p><code>load</code>, <code>Run</code></p>"


def test_formulas_of_docstrings_are_set(site: ModuleType) -> None:
    shown = site.on_page_content(r"<p>:math:<code>x_j &lt; \frac12</code></p>")
    assert "<msub><mi>x</mi><mi>j</mi></msub>" in shown
    assert "<mfrac>" in shown
    assert ":math:" not in shown


def test_links_lead_to_where_the_site_has_a_file(site: ModuleType) -> None:
    text = "[a](../../benchmarks/cost.md#rates), [b](../trust.md), [c](https://example.org/x), ![d](x.png)"
    moved = "[a](../benchmarks/cost.md#rates), [b](../trust.md), [c](https://example.org/x), ![d](x.png)"
    assert site.relinked(text, "docs/papers/tripod.md", "papers/tripod.md") == moved
    assert (
        site.relinked("[a](../benchmarks/cost.md)", "docs/training.md", "methods/qlae.md")
        == "[a](../benchmarks/cost.md)"
    )
    assert site.relinked("[a](../docs/data.md)", "benchmarks/data.md", "benchmarks/data.md") == "[a](../data.md)"


def test_the_walk_of_the_site_finds_what_is_broken(site: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "below").mkdir()
    (tmp_path / "index.html").write_text(
        '<a href="below/b.html#there">b</a><a href="gone.html">c</a><h1 id="top">t</h1>'
    )
    (tmp_path / "below" / "b.html").write_text('<a href="../index.html#top">a</a><img src="https://example.org/x.png">')
    assert sorted(site.broken_links(tmp_path)) == [
        "below/b.html loads https://example.org/x.png",
        "index.html links to below/b.html#there, but b.html has no such anchor",
        "index.html links to gone.html, which does not exist",
    ]


@pytest.mark.parametrize("name", ["mig", "kl_per_latent"])
def test_the_page_of_a_metric_says_what_to_know(site: ModuleType, name: str) -> None:
    text = site.metric_page(name)
    assert METRICS[name].question in text
    assert METRICS[name].weakness in text
    assert f"::: {METRICS[name].function.__module__}.{name}\n" in text


def test_the_reference_has_an_example_of_everything_that_it_describes(generated: ModuleType) -> None:
    things = {
        f"{name}.{key}": thing for name in generated.REFERENCE for key, thing in generated.described(name).items()
    }
    things |= {f"the metric {name}": metric.function for name, metric in METRICS.items()}
    texts = {name: inspect.cleandoc(thing.__doc__ or "") for name, thing in things.items()}
    assert [name for name, text in texts.items() if "Examples:\n    >>> " not in text] == []


def test_what_the_reference_leaves_out_is_exported(generated: ModuleType) -> None:
    for name, internal in generated.INTERNAL.items():
        assert set(internal) <= set(importlib.import_module(name).__all__)


def test_the_reference_describes_everything_once(site: ModuleType) -> None:
    described = [
        line for name in site.REFERENCE for line in site.reference_page(name).splitlines() if line[:4] == "::: "
    ]
    assert len(described) == len(set(described))
