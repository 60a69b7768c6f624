"""``unweave cite``: BibTeX of everything that a run, a recipe, a metric or a data set is made from."""

from __future__ import annotations

import difflib
import inspect
from typing import Annotated, Any

import typer

from unweave.cli.options import Store, find_one_run, print_line
from unweave.errors import InputError

Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Recipes, metrics, data sets or runs.")]


def cite(names: Names, store: Store = None) -> None:
    """Print BibTeX of the works behind recipes, metrics, data sets and runs; of a run, all that it used."""
    from unweave.bibliography import bibtex, works_in

    if not (works := works_in("\n".join(text for name in names for text in _texts(name, store)))):
        raise InputError(f"no work to cite is known for {', '.join(names)}.")
    print_line(bibtex(works))


def _texts(name: str, store: str | None) -> list[str]:
    """Return the texts that name the sources of a part or of a run."""
    from unweave.data import SETS
    from unweave.key_values import parse_data
    from unweave.metrics import METRICS
    from unweave.recipes import RECIPES, compose
    from unweave.reports.facts import sources_of
    from unweave.settings import key_in
    from unweave.store.record import read_record

    if (recipe := key_in(RECIPES, name)) in RECIPES:
        terms: list[Any] = [weighted.term for weighted in compose(recipe, {}, factors=5).terms]
        return [inspect.getdoc(RECIPES[recipe]) or "", *(str(type(term).paper) for term in terms)]
    if (metric := key_in(METRICS, name)) in METRICS:
        return [inspect.getdoc(METRICS[metric].function) or ""]
    if (data := key_in(SETS, parse_data(name)[0])) in SETS:
        return [SETS[data].card.citation]
    try:
        return sources_of(read_record(find_one_run(name, store)))
    except InputError as error:
        near = difflib.get_close_matches(name, [*RECIPES, *METRICS, *SETS], n=3)
        meant = f"Did you mean {' or '.join(near)}?" if near else "It is no recipe, metric or data set either."
        raise InputError(f"{error} {meant}") from error
