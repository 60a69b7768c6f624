"""Hooks of the docs site: navigation, links to other folders of the project, formulas, and live pages."""

from __future__ import annotations

import html
import logging
import re
import tempfile
from pathlib import Path
from typing import Any

import latex2mathml.converter
from generated import (
    METHODS,
    REFERENCE,
    ROOT,
    benchmarks,
    cost,
    evidence,
    linked,
    method_name,
    method_page,
    metric_name,
    metric_page,
    reference_page,
    relinked,
)
from links import broken_links
from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from notebooks import TUTORIALS, pictures, stored, with_pictures

import unweave
from unweave.explore import export_page
from unweave.metrics import METRICS
from unweave.papers import FINDINGS
from unweave.recipes import RECIPES
from unweave.zoo import PREFIX

LOG = logging.getLogger("mkdocs.hooks.links")  # whose warnings end a strict build
EVIDENCE = "<!-- evidence -->"  # on the page about metrics
COST = "<!-- cost -->"  # on the page about machines
ICON = ROOT / "src" / "unweave" / "explore" / "static" / "icon.svg"
LIVE = ("qlae-shapes3d-drawn", "ada-gvae-xysquares")  # models of the zoo whose page is part of the site
MATH = re.compile(r":math:<code>(.+?)</code>", re.DOTALL)
ROLE = re.compile(r":(?:func|class|meth|mod|attr|data):<code>(?:~[\w.]*\.)?(\w[\w.]*)</code>")


def on_config(config: MkDocsConfig) -> MkDocsConfig:
    """Add the generated pages to the sections of the navigation."""
    sections = {name: part for entry in config["nav"] for name, part in entry.items()}
    found = [name for name in FINDINGS if (ROOT / "docs" / "papers" / f"{name}.md").is_file()]
    papers = [
        {"Overview": "papers/index.md"},
        {"Figures and tables": "papers/figures.md"},
        *({name: f"papers/{name}.md"} for name in found),
    ]
    sections["Explanation"].append({"The papers' findings": papers})
    sections["Reference"] += [
        {"Methods": [{method_name(name): f"methods/{name}.md"} for name in RECIPES]},
        {"Metrics": [{metric_name(name): f"metrics/{name}.md"} for name in METRICS]},
        {"Python": [{name: f"reference/{name}.md"} for name in REFERENCE]},
        {"Benchmarks": [{path.stem: f"benchmarks/{path.name}"} for path in benchmarks()]},
    ]
    return config


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the benchmarks, a page for each method and metric, the reference, and the pictures of notebooks."""
    pages = {f"methods/{name}.md": method_page(name) for name in RECIPES}
    pages |= {f"metrics/{name}.md": metric_page(name) for name in METRICS}
    pages |= {f"reference/{name}.md": reference_page(name) for name in REFERENCE}
    for path, content in pages.items():
        files.append(File.generated(config, path, content=content))
    for source in [*benchmarks(), *(ROOT / "benchmarks").glob("*.png")]:
        files.append(File.generated(config, f"benchmarks/{source.name}", abs_src_path=str(source)))
    for name in TUTORIALS:
        for number, picture in pictures(stored(name)).items():
            files.append(File.generated(config, f"{name}-{number}.png", content=picture))
    files.append(File.generated(config, "icon.svg", abs_src_path=str(ICON)))
    for name in LIVE:
        files.append(File.generated(config, f"live/{name}.html", content=live_page(name)))
    return files


def live_page(name: str) -> bytes:
    """Return the page of a model of the zoo, which a reader opens in the browser."""
    run = unweave.open(f"{PREFIX}{name}")
    with tempfile.TemporaryDirectory() as folder:
        return export_page(run, Path(folder) / "page.html", data=run.data()).path.read_bytes()


def on_page_markdown(markdown: str, page: Any, **rest: Any) -> str:
    """Point links to where the site has them, and insert what is computed from stored results."""
    uri = page.file.src_uri
    if (name := uri.removesuffix(".md")) in TUTORIALS:
        markdown = with_pictures(name, markdown)
    if page.file.abs_src_path is not None:  # otherwise the page was made for the site
        markdown = relinked(markdown, str(Path(page.file.abs_src_path).relative_to(ROOT).as_posix()), uri)
    markdown = markdown.replace(EVIDENCE, evidence()).replace(COST, cost())
    return linked(markdown) if uri == METHODS.name else markdown


def on_page_content(content: str, **rest: Any) -> str:
    """Set the formulas of docstrings, and show references such as ``:func:`~unweave.load``` as names."""
    content = MATH.sub(lambda found: latex2mathml.converter.convert(html.unescape(found[1])), content)
    return ROLE.sub(r"<code>\1</code>", content)


def on_post_build(config: MkDocsConfig) -> None:
    """Walk every link of the site."""
    for sentence in broken_links(Path(config["site_dir"])):
        LOG.warning(sentence)
