"""``unweave cite``: BibTeX of everything that a run, a recipe, a metric or a data set is made from."""

from __future__ import annotations

import difflib
import inspect
from pathlib import Path
from typing import Annotated, Any

import typer

from unweave.cli.options import Store, console, find_one_run
from unweave.errors import InputError

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Recipes, metrics, data sets or runs.")]


def cite(names: Names, store: Store = None) -> None:
    """Print BibTeX of the works behind recipes, metrics, data sets and runs; of a run, all that it used."""
    from unweave.bibliography import bibtex, works_in

    if not (works := works_in("\n".join(text for name in names for text in _texts(name, store)))):
        raise InputError(f"no work to cite is known for {', '.join(names)}.")
    console.print(bibtex(works), markup=False, highlight=False, soft_wrap=True)


def _texts(name: str, store: str | None) -> list[str]:
    """Return the texts that name the sources of a part or of a run."""
    from unweave.data import SETS
    from unweave.metrics import METRICS
    from unweave.recipes import RECIPES, compose
    from unweave.settings import key_in
    from unweave.written import parse_data

    if (recipe := key_in(RECIPES, name)) in RECIPES:
        terms: list[Any] = [weighted.term for weighted in compose(recipe, {}, factors=5).terms]
        return [inspect.getdoc(RECIPES[recipe]) or "", *(str(type(term).paper) for term in terms)]
    if (metric := key_in(METRICS, name)) in METRICS:
        return [inspect.getdoc(METRICS[metric].function) or ""]
    if (data := key_in(SETS, parse_data(name)[0])) in SETS:
        return [SETS[data].card.citation]
    try:
        return _of_run(find_one_run(name, store))
    except InputError as error:
        near = difflib.get_close_matches(name, [*RECIPES, *METRICS, *SETS], n=3)
        meant = f"Did you mean {' or '.join(near)}?" if near else "It is no recipe, metric or data set either."
        raise InputError(f"{error} {meant}") from error


def _of_run(folder: Path) -> list[str]:
    """Return the texts that name the sources of the recipe, latent, terms, metrics and data of a run."""
    from unweave.data import SETS
    from unweave.latents import LATENTS
    from unweave.metrics import METRICS
    from unweave.recipes import RECIPES
    from unweave.store.record import read_record
    from unweave.terms import TERMS

    record = read_record(folder)
    recipe, latent = str(record.fields["recipe"]).partition("+")[0], LATENTS.get(record.fields["latent"]["name"])
    terms = [TERMS.get(weighted["term"]["name"]) for weighted in record.fields["terms"]]
    texts = [inspect.getdoc(RECIPES[recipe]) or ""] if recipe in RECIPES else []
    texts += [inspect.getdoc(inspect.getmodule(latent)) or "", inspect.getdoc(latent) or ""] if latent else []
    texts += [str(term.paper) for term in terms if term]
    measured = {each.metric for each in record.measured if each.metric in METRICS}
    texts += [inspect.getdoc(METRICS[metric].function) or "" for metric in sorted(measured)]
    used = record.fields["data"]["name"]
    return texts + ([SETS[used].card.citation] if used in SETS else [])
