"""``unweave cite``: BibTeX of everything that a run, a recipe, a metric or a data set is made from."""

from __future__ import annotations

import inspect
from typing import Annotated, Any

import typer

from unweave.cli.options import Store, console, find_one_run

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Recipes, metrics, data sets or runs.")]


def cite(names: Names, store: Store = None) -> None:
    """Print BibTeX of the works behind recipes, metrics, data sets and runs; of a run, all that it used."""
    from unweave.bibliography import bibtex, works_in

    texts = [text for name in names for text in _texts(name, store)]
    console.print(bibtex(works_in("\n".join(texts))), markup=False, highlight=False, soft_wrap=True)


def _texts(name: str, store: str | None) -> list[str]:
    """Return the texts that name the sources of a part or of a run."""
    from unweave.data import SETS
    from unweave.metrics import METRICS
    from unweave.recipes import RECIPES
    from unweave.settings import key_in
    from unweave.store.record import read_record
    from unweave.written import parse_data

    if (recipe := key_in(RECIPES, name)) in RECIPES:
        return _of_recipe(recipe)
    if (metric := key_in(METRICS, name)) in METRICS:
        return [inspect.getdoc(METRICS[metric].function) or ""]
    if (data := key_in(SETS, parse_data(name)[0])) in SETS:
        return [SETS[data].card.citation]
    record = read_record(find_one_run(name, store))
    texts = _of_recipe(str(record.fields["recipe"])) if record.fields["recipe"] in RECIPES else []
    measured = {each.metric for each in record.measured if each.metric in METRICS}
    texts += [inspect.getdoc(METRICS[metric].function) or "" for metric in sorted(measured)]
    used = record.fields["data"]["name"]
    return texts + ([SETS[used].card.citation] if used in SETS else [])


def _of_recipe(name: str) -> list[str]:
    from unweave.recipes import RECIPES, compose

    terms: list[Any] = [weighted.term for weighted in compose(name, {}, factors=5).terms]
    return [inspect.getdoc(RECIPES[name]) or "", *(str(type(term).paper) for term in terms)]
