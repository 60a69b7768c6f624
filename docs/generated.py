"""Pages of the docs site that are made from the code: methods, metrics, the reference and the gallery."""

from __future__ import annotations

import importlib
import inspect
import os
import re
from pathlib import Path, PurePosixPath
from typing import Any

from unweave.metrics import METRICS
from unweave.names import METHODS as METHOD_NAMES
from unweave.names import words
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
INTERNAL = {  # names that packages export for each other rather than for users, without a place in the reference
    "unweave.data": ("DataIdentity", "described", "identity_of", "open_data", "options_of", "prepared", "space_of"),
    "unweave.metrics": ("EncodedData", "check_metrics", "result_from_plain", "result_to_plain"),
    "unweave.recipes": ("known_settings", "parameters_of"),
    "unweave.figures": ("draw_distance_matrices", "make_order"),
    "unweave.papers": ("Document", "exhibits_page", "overview", "page", "report", "write_document"),
}
METHODS = ROOT / "docs" / "methods.md"
DEPARTURES = "\n## Where this differs from the papers and their code\n"  # in docs/training.md
FACTORS = 5  # of the data set for which a method's page shows the number of latents
LINK = re.compile(r"\]\((?![a-z]+:|#)([^)\s#]+)(#[^)\s]*)?\)")  # in Markdown, to a file


def relinked(markdown: str, source: str, page: str) -> str:
    """Return Markdown with its links to files of the project pointing to where the site has them.

    ``source`` is the file, relative to the project, that links are relative to, ``page`` the page of the site on which
    the text stands. The site has the content of docs/ at its top, and the benchmarks below it.
    """

    def moved(link: re.Match[str]) -> str:
        target = PurePosixPath(os.path.normpath(PurePosixPath(source).parent / link[1]))
        inside = target.relative_to("docs") if target.parts[0] == "docs" else target
        return f"]({os.path.relpath(inside, PurePosixPath(page).parent)}{link[2] or ''})"

    return LINK.sub(moved, markdown)


def reference_page(name: str) -> str:
    """Return the page of a module: its docstring, and every public function and class from the file that defines it.

    mkdocstrings would show a file in place of the function that has the same name, such as mig. What another
    page describes is linked.
    """
    module = importlib.import_module(name)
    elsewhere = _described_elsewhere(name)
    lines = [f"# {name}", "", inspect.getdoc(module) or "", ""]
    if elsewhere:
        lines += ["| name | |", "|---|---|"]
        for public, page in elsewhere.items():
            thing = getattr(module, public)
            lines.append(f"| [{public}]({page}#{_anchor(thing)}) | {_first(thing)} |")
        lines.append("")
    for public, thing in described(name).items():
        lines += [f"::: {_anchor(thing)}", "    options:", f"      heading: {public}", "      heading_level: 2", ""]
    return "\n".join(lines)


def described(name: str) -> dict[str, Any]:
    """Return the functions and classes that the page of a module describes, by their public names."""
    module = importlib.import_module(name)
    left_out = {*_described_elsewhere(name), *INTERNAL.get(name, ())}
    return {key: thing for key in module.__all__ if key not in left_out and _is_ours(thing := getattr(module, key))}


def _described_elsewhere(name: str) -> dict[str, str]:
    """Return the public names of a module that another page describes, each with the address of that page."""
    module = importlib.import_module(name)
    if name == "unweave.metrics":
        return {public: f"../metrics/{public}.md" for public in module.__all__ if public in METRICS}
    if name != REFERENCE[0]:
        return {}
    below = {}
    for other in REFERENCE[1:]:
        for thing in (
            getattr(importlib.import_module(other), public) for public in importlib.import_module(other).__all__
        ):
            if _is_ours(thing):
                below[_anchor(thing)] = f"{other}.md"
    ours = {public: getattr(module, public) for public in module.__all__ if _is_ours(getattr(module, public))}
    return {public: below[_anchor(thing)] for public, thing in ours.items() if _anchor(thing) in below}


def _is_ours(thing: Any) -> bool:
    return callable(thing) and str(getattr(thing, "__module__", "")).startswith("unweave")


def _anchor(thing: Any) -> str:
    return f"{thing.__module__}.{thing.__qualname__}"


def _first(thing: Any) -> str:
    return _cell((inspect.getdoc(thing) or "").partition("\n")[0])


def metric_page(name: str) -> str:
    """Return the page of a metric: its question, what to know about it, and its function."""
    metric = METRICS[name]
    better = {"higher": "; higher is better", "lower": "; lower is better", "neither": ""}[metric.best]
    lines = [f"# {metric_name(name)}", "", metric.question, "", "| | |", "|---|---|", f"| name | `{name}` |"]
    lines += [f"| range | {_cell(metric.range)}{better} |"]
    lines += [f"| published by {_cell(source)} | {_cell(settings)} |" for source, settings in metric.variants.items()]
    lines += [f"| weakness | {_cell(metric.weakness)} |", ""]
    function = metric.function
    lines += ["## Function", "", f"::: {function.__module__}.{function.__qualname__}", "    options:"]
    lines += [f"      heading: {name}", "      heading_level: 3", ""]
    return "\n".join(lines)


def method_name(name: str) -> str:
    """Return a recipe as its paper spells it."""
    return METHOD_NAMES.get(name, words(name))


def metric_name(name: str) -> str:
    """Return a metric in words, with a capital."""
    text = words(name)
    return text[:1].upper() + text[1:]


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
    lines = [f"# {method_name(name)}", "", title.replace("\n", " "), "", "## Idea", "", idea(name), ""]
    if recipe.linear is None:
        lines += ["## Loss", "", "| weight | term | formula |", "|---|---|---|"]
        for weighted in recipe.terms:
            formula = re.sub(r"\$(.+?)\$", _inline, weighted.term.formula)
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


def _inline(formula: re.Match[str]) -> str:
    """Return a formula for a cell of a table, whose bars would end the cell."""
    latex = formula[1].replace(r"\|", r"\Vert ").replace("|", r"\vert ")
    return f":math:`{latex}`"


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
    found = [f"{row}|" for row, of in rows if of.strip() in ("methods", "---", "all") or f"`{name}`" in of]
    return [relinked(row, "docs/training.md", f"methods/{name}.md") for row in found]


def benchmarks() -> list[Path]:
    """Return the pages of benchmarks."""
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
