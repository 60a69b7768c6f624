"""The contents of the command line's lists, stored as JSON so that they can be shown without importing torch.

``python -m unweave.cli.listings`` writes ``listings.json`` from the code; a test fails when the two differ.
"""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from unweave.errors import InputError, unknown

PATH = Path(__file__).with_suffix(".json")


def listing(kind: str) -> list[dict[str, Any]]:
    """Return the rows of one list: recipes, terms, latents, nets, metrics, data or figures."""
    return _stored()[kind]


def row_of(kind: str, name: str) -> dict[str, Any]:
    """Return the row of one recipe, term, latent, net or metric; ``module:name`` describes the user's own."""
    if ":" in name:
        from unweave.settings import imported

        return _rows()[kind](name, imported(kind.removesuffix("s"), name))
    rows = {row["name"]: row for row in listing(kind)}
    if name not in rows:
        raise unknown(kind.removesuffix("s"), name, rows)
    return rows[name]


@cache
def _stored() -> dict[str, list[dict[str, Any]]]:
    stored: dict[str, list[dict[str, Any]]] = json.loads(PATH.read_text(encoding="utf-8"))
    return stored


def make_listings() -> dict[str, list[dict[str, Any]]]:
    """Make all lists from the code."""
    from unweave.cli.data import data_rows
    from unweave.cli.figure import figure_rows
    from unweave.latents import LATENTS
    from unweave.metrics import METRICS
    from unweave.nets import NETS
    from unweave.recipes import RECIPES
    from unweave.terms import TERMS

    known: dict[str, Mapping[str, Any]] = {
        "recipes": RECIPES,
        "terms": TERMS,
        "latents": LATENTS,
        "nets": NETS,
        "metrics": {name: metric.function for name, metric in METRICS.items()},
    }
    rows = _rows()
    listed = {kind: [rows[kind](name, part) for name, part in parts.items()] for kind, parts in known.items()}
    return {**listed, "data": data_rows(), "figures": figure_rows()}


def _rows() -> dict[str, Callable[[str, Any], dict[str, Any]]]:
    """Return the function that makes the row of one part, by the kind of part."""
    from unweave.cli.metrics import metric_row

    return {
        "recipes": _recipe_row,
        "terms": _term_row,
        "latents": _latent_row,
        "nets": _net_row,
        "metrics": metric_row,
    }


def _recipe_row(name: str, recipe: Any) -> dict[str, Any]:
    from unweave.recipes import Recipe
    from unweave.signatures import keyword_settings

    try:
        facts = _recipe_facts(name)
    except InputError:
        raise
    except Exception as error:  # the user's function may raise anything
        raise InputError(f"recipe {name!r} failed: {type(error).__name__}: {error}") from error
    if isinstance(recipe, Recipe):
        about = f"The recipe {recipe.recipe}."
        return {"name": name, "summary": about, "about": about, "facts": facts, "settings": {}}
    return {**_described(name, recipe), "facts": facts, "settings": _fields(keyword_settings(recipe, name))}


def _term_row(name: str, term: Any) -> dict[str, Any]:
    from unweave.terms import Term

    _check_subclass("term", name, term, Term)
    facts = [["formula", term.formula], ["paper", term.paper], ["latents", _latents(term)]]
    return {**_described(name, term), "facts": facts, "settings": _fields(term)}


def _latent_row(name: str, latent: Any) -> dict[str, Any]:
    from unweave.latents import Latent

    _check_subclass("latent", name, latent, Latent)
    return {**_described(name, latent), "facts": [], "settings": _fields(latent)}


def _net_row(name: str, net: Any) -> dict[str, Any]:
    from unweave.signatures import keyword_settings

    if not callable(net):
        raise InputError(f"net {name!r} must be a function, got {type(net).__name__}.")
    return {**_described(name, net), "facts": [], "settings": _fields(keyword_settings(net, name, skip=3))}


def _check_subclass(what: str, name: str, part: Any, base: type) -> None:
    if not (isinstance(part, type) and issubclass(part, base)):
        raise InputError(f"{what} {name!r} must be a subclass of {base.__module__}.{base.__name__}, got {part!r}.")


def _described(name: str, thing: Any) -> dict[str, Any]:
    about = inspect.getdoc(thing) or ""
    return {"name": name, "summary": about.partition("\n")[0], "about": about}


def _fields(settings: Any) -> dict[str, dict[str, Any]]:
    """Return the default and the type of every field of a Settings class."""
    return {
        name: {"default": _default(field), "type": _type(field.annotation)}
        for name, field in settings.model_fields.items()
    }


def _default(field: Any) -> Any:
    """Return the default of a field; one that JSON does not have is written as text."""
    if field.is_required():
        return "required"
    default = field.get_default(call_default_factory=True)
    try:
        json.dumps(default)
    except (TypeError, ValueError):
        return str(default)
    return default


def _type(annotation: Any) -> str:
    text = inspect.formatannotation(annotation)
    for module in ("typing.", "unweave.", "builtins."):
        text = text.replace(module, "")
    return text.replace("Literal[", "one of [")


def _recipe_facts(name: str) -> list[list[str]]:
    from unweave.recipes import compose

    recipe = compose(name, {})
    facts = [["latent", _pairs(recipe.model_dump(mode="json")["latent"])]]
    for weighted in recipe.terms:
        schedule = weighted.schedule
        over = "" if schedule.kind == "constant" else f", {schedule.kind} over {schedule.over:.3g} of the run"
        facts.append([f"+ {weighted.weight:g} ×", f"{weighted.name}: {weighted.term.formula}{over}"])
    if recipe.grouping is not None:
        facts.append(["pairs", _pairs(recipe.grouping.model_dump())])
    if recipe.linear is None:
        optimiser = recipe.optimiser.model_dump(exclude={"schedule"})
        facts.append(["optimiser", _pairs({key: value for key, value in optimiser.items() if value is not None})])
        facts.append(["training", f"batch={recipe.batch}, steps={recipe.steps:,}, start={recipe.start}"])
        facts.append(["net", _pairs(recipe.net.model_dump())])
    facts.append(["likelihood", recipe.likelihood])
    return facts


def _pairs(values: dict[str, Any]) -> str:
    return ", ".join(f"{key}={value}" for key, value in values.items())


def _latents(term: Any) -> str:
    from unweave.latents import LATENTS

    kinds = [name for name, latent in LATENTS.items() if issubclass(latent, term.latents)]
    return "all" if len(kinds) == len(LATENTS) else ", ".join(kinds)


def main() -> None:
    """Write the lists beside this file."""
    PATH.write_text(json.dumps(make_listings(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
