"""Hooks of the docs site: pages that are made from the code and from other folders of the project."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files

from unweave.papers import FINDINGS, challenging_assumptions
from unweave.papers.document import markdown_table
from unweave.recipes import RECIPES, Recipe, compose

ROOT = Path(__file__).parents[1]
REFERENCE = (
    "unweave",
    "unweave.data",
    "unweave.metrics",
    "unweave.recipes",
    "unweave.training",
    "unweave.study",
    "unweave.questions",
    "unweave.figures",
    "unweave.reports",
    "unweave.papers",
)
METHODS = ROOT / "docs" / "methods.md"
EVIDENCE = "<!-- evidence -->"  # on the page about metrics
DEPARTURES = "\n## Where this differs from the papers and their code\n"  # in docs/training.md
COST = "<!-- cost -->"  # on the page about machines
FACTORS = 5  # of the data set for which a method's page shows the number of latents


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages to the navigation."""
    nav: list[Any] = config["nav"]
    nav.append({"Methods": [{"Overview": "methods.md"}, *({name: f"methods/{name}.md"} for name in RECIPES)]})
    found = [name for name in FINDINGS if (ROOT / "docs" / "papers" / f"{name}.md").is_file()]
    nav.append({"Papers": [{"Overview": "papers/index.md"}, *({name: f"papers/{name}.md"} for name in found)]})
    nav.append({"Benchmarks": [{path.stem: f"benchmarks/{path.name}"} for path in _benchmarks()]})
    nav.append({"Reference": [{name: f"reference/{name}.md"} for name in REFERENCE]})
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the benchmarks, a page for each method, and the reference."""
    for name in RECIPES:
        files.append(File.generated(config, f"methods/{name}.md", content=method_page(name)))
    for path in [*_benchmarks(), *(ROOT / "benchmarks").glob("*.png")]:
        files.append(File.generated(config, f"benchmarks/{path.name}", abs_src_path=str(path)))
    for name in REFERENCE:
        files.append(File.generated(config, f"reference/{name}.md", content=reference_page(name)))
    return files


def on_page_markdown(markdown: str, page: Any, **rest: Any) -> str:
    """Point links to other folders of the project to where the site has them."""
    markdown = markdown.replace("](../benchmarks/", "](benchmarks/")
    markdown = markdown.replace(EVIDENCE, evidence()).replace(COST, cost())
    if page.file.src_uri == METHODS.name:
        return linked(markdown)
    return markdown.replace("](../docs/", "](../") if page.file.src_uri.startswith("benchmarks/") else markdown


def on_page_content(html: str, page: Any, **rest: Any) -> str:
    """Show references of Sphinx such as ``:func:`~unweave.load``` as the last part of their name."""
    if not page.file.src_uri.startswith("reference/"):
        return html
    html = re.sub(r":(?:func|class|meth|mod|attr|data):<code>~[\w.]*\.(\w+)</code>", r"<code>\1</code>", html)
    return re.sub(r":(?:func|class|meth|mod|attr|data|math):<code>", "<code>", html)


def reference_page(name: str) -> str:
    """Return the page of a module: its docstring, and every public function and class from the file that defines it.

    mkdocstrings would show a file in place of the function that has the same name, such as mig.
    """
    module = importlib.import_module(name)
    lines = [f"# {name}", "", inspect.getdoc(module) or "", ""]
    for public in module.__all__:
        thing = getattr(module, public)
        if callable(thing) and str(getattr(thing, "__module__", "")).startswith("unweave"):
            lines += [f"::: {thing.__module__}.{thing.__qualname__}", "    options:", f"      heading: {public}"]
            lines += ["      heading_level: 2", ""]
    return "\n".join(lines)


def linked(markdown: str) -> str:
    """Link the methods of a table to their pages."""
    return re.sub(r"^\| `(\w+)` \|", r"| [\1](methods/\1.md) |", markdown, flags=re.MULTILINE)


def evidence() -> str:
    """Return what the stored study says about each metric, as Markdown; nothing if it is not there."""
    name = challenging_assumptions.FINDING.name
    if (table := challenging_assumptions.FINDING.stored()) is None:
        return ""
    parts = challenging_assumptions.answer(table).parts
    part = next(part for part in parts if part.title == challenging_assumptions.TRUST)
    return f"{part.note} From [{name}](papers/{name}.md).\n\n{markdown_table(part.measured)}"


def cost() -> str:
    """Return the section of the benchmarks about the 12,600 models, without its heading; nothing if it is not there."""
    path = ROOT / "benchmarks" / "cost.md"
    if not path.is_file():
        return ""
    return path.read_text(encoding="utf-8").split("\n## ")[1].partition("\n")[2].strip()


def method_page(name: str) -> str:
    """Return the page of a method: idea, formula, settings, differences, command and numbers."""
    function = RECIPES[name]
    recipe = compose(name, {}, factors=FACTORS)
    title, _, more = (inspect.getdoc(function) or "").partition("\n\n")
    lines = [f"# {name}", "", title.replace("\n", " "), "", "## Idea", "", idea(name), ""]
    if recipe.linear is None:
        lines += ["## Loss", "", "| weight | term | formula |", "|---|---|---|"]
        for weighted in recipe.terms:
            formula = getattr(type(weighted.term), "formula", "")
            lines.append(f"| {weighted.weight:g} | {weighted.name} | {_cell(formula)} |")
        lines.append("")
    lines += ["## Settings", "", "| setting | default |", "|---|---|"]
    for parameter in inspect.signature(function).parameters.values():
        lines.append(f"| {parameter.name} | {_cell(parameter.default)} |")
    lines.append("")
    if recipe.linear is None:
        lines += [f"Latent `{_named(recipe.latent)}`, net `{recipe.net.name}`, {recipe.optimiser.name} with a learning"]
        lines += [f"rate of {recipe.optimiser.lr:g}, {recipe.steps:,} steps of {recipe.batch}.", ""]
        lines += ["## What was matched", "", *([more, ""] if more else []), _tested(recipe), ""]
        lines += ["## Where Unweave differs", "", *_departures(name), ""]
    else:
        lines += ["## Formula", "", more, "", "## Where Unweave differs", ""]
        lines += ["The fit is scikit-learn's, to a random sample of the images; latents are not trained by steps.", ""]
    lines += ["## Command", "", "```sh", f"unweave train {name} dsprites", "```", ""]
    found, row = _in_studies(name), _numbers(name)
    if found or row:
        lines += ["## Numbers", ""]
    for study, table in found.items():
        lines += [f"Means and standard deviations over seeds in [{study}](../papers/{study}.md):", "", table, ""]
    if row:
        lines += ["One seed of the [comparison of all recipes](../benchmarks/recipes.md):", "", *row]
    return "\n".join(lines) + "\n"


def idea(name: str) -> str:
    """Return why a method should separate factors, from the page about all methods."""
    rows = (line.split(" | ", 1) for line in METHODS.read_text(encoding="utf-8").splitlines() if line[:3] == "| `")
    return {key.strip("| `"): text.rstrip(" |") for key, text in rows}[name]


def _tested(recipe: Recipe) -> str:
    """Return the sentence that names the tests of the terms of a method."""
    modules = (type(weighted.term).__module__.rpartition(".")[2] for weighted in recipe.terms)
    files = dict.fromkeys(f"tests/terms/test_{module}.py" for module in modules)
    found = ", ".join(f"`{file}`" for file in files if (ROOT / file).is_file())
    return f"The terms are compared with their formulas, computed in another way, in {found}."


def _departures(name: str) -> list[str]:
    """Return the rows about a method of the table of departures from the papers, with their header."""
    section = (ROOT / "docs" / "training.md").read_text(encoding="utf-8").partition(DEPARTURES)[2].partition("\n## ")[0]
    rows = [line.rsplit("|", 2)[:2] for line in section.splitlines() if line.startswith("|")]
    return [
        f"{row}|" for row, methods in rows if methods.strip() in ("methods", "---", "all") or f"`{name}`" in methods
    ]


def _benchmarks() -> list[Path]:
    return sorted((ROOT / "benchmarks").glob("*.md"))


def _numbers(name: str) -> list[str]:
    """Return the rows of the page of benchmarks that belong to a recipe, with their header."""
    rows = [
        line
        for line in (ROOT / "benchmarks" / "recipes.md").read_text(encoding="utf-8").splitlines()
        if line[:1] == "|"
    ]
    found = [line for line in rows if re.match(rf"\| {name} \|", line)]
    return [*rows[:2], *found] if found else []


def _in_studies(name: str) -> dict[str, str]:
    """Return the rows about a recipe of the tables with spreads over seeds on the pages of findings, by finding."""
    found: dict[str, str] = {}
    for finding in FINDINGS.values():
        if (stored := finding.stored()) is None:
            continue
        for part in finding.answer(stored).parts:
            table, key = part.measured, "recipe" if "recipe" in part.measured else "method"
            if "seeds" in table and key in table:
                own = table[table[key].str.split().str[0] == name]
                if len(own):
                    found[finding.name] = "\n\n".join(filter(None, [found.get(finding.name), markdown_table(own)]))
    return found


def _named(latent: Any) -> str:
    return type(latent).__name__.lower()


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|")
