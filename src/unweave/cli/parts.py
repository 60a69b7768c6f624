"""``unweave recipes``, ``terms``, ``latents``, ``nets`` and ``metrics``: list the parts of methods, and show one."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Callable, Mapping
from typing import Annotated, Any

import typer

from unweave.cli.command import Commands
from unweave.cli.options import Json, pairs, print_json, print_line, print_table
from unweave.errors import InputError, first_line

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from the list, or module:name for your own.")]
Row = dict[str, Any]
SYMBOLS = {  # LaTeX to characters of a terminal
    "|": "‖",
    "mid": "|",
    "sum": "Σ",
    "prod": "Π",
    "partial": "∂",
    "beta": "β",
    "mu": "μ",
    "sigma": "σ",
    "Phi": "Φ",
    "ne": "≠",
    "approx": "≈",
    "sim": "~",
    "cdot": "·",
    "frac12": "½",
    "top": "ᵀ",
}


def _group(kind: str, about: str) -> typer.Typer:
    """Return the commands ``list`` and ``show`` of one kind of part."""
    group = Commands(about)

    @group.command("list", help=f"List all {kind} with their settings and defaults.")
    def list_all(as_json: Json = False) -> None:
        rows = part_rows(kind)
        if as_json:
            print_json(rows)
            return
        cells = ((row["name"], row["summary"], _defaults(row["settings"])) for row in rows)
        print_table(("name", "description", "settings"), cells)
        if kind == "recipes":
            print_line(
                "\nThe parts of recipes: unweave terms list, unweave latents list, unweave nets list. Combine them:\n"
                "unweave train ae DATA --latent fsq --term kernel_multiinformation=1e-4 --term jacobian_l1=0.1"
            )

    @group.command("show", help=f"Describe one of the {kind}, with every setting, its default and its accepted values.")
    def show(name: Name, as_json: Json = False) -> None:
        row = part_row(kind, name)
        if as_json:
            print_json(row)
            return
        facts = [(key, value) for key, value in row["facts"] if value]
        settings = [(name, f"{of['default']!r}    {of['type']}") for name, of in row["settings"].items()]
        print_table((), [(row["name"], row["about"]), *facts, *settings])

    return group


recipes_app = _group("recipes", "Recipes: the methods with their terms and published settings.")
terms_app = _group("terms", "Terms: the parts of a loss.")
latents_app = _group("latents", "Latents: how an encoder's outputs become codes.")
nets_app = _group("nets", "Nets: encoders and decoders.")
metrics_app = Commands("List the metrics, and describe one of them.")


@metrics_app.command("list")
def list_metrics(as_json: Json = False) -> None:
    """List every metric with the question it answers and what it needs."""
    rows = part_rows("metrics")
    if as_json:
        print_json(rows)
        return
    needs = (row["needs"] + (", only by name" if row["only_by_name"] else "") for row in rows)
    cells = ((row["name"], row["question"], need, row["better"]) for row, need in zip(rows, needs, strict=True))
    print_table(("name", "question", "needs", "better"), cells)


@metrics_app.command("show")
def show_metric(name: Name, as_json: Json = False) -> None:
    """Describe a metric: its definition, range, needs, published settings and weakness."""
    row = part_row("metrics", name)
    if as_json:
        print_json(row)
        return
    better = "" if row["better"] == "neither" else f"; {row['better']} is better"
    facts = [
        (row["name"], row["question"]),
        ("range", row["range"] and f"{row['range']}{better}"),
        *((f"range of .{score}", limits) for score, limits in row["ranges"].items()),
        ("needs", row["needs"]),
        ("continuous factors", row["continuous"]),
        *(("published", f"{who}: {how}") for who, how in row["published"].items()),
        ("weakness", row["weakness"]),
        ("call", row["call"]),
    ]
    print_table((), [(name, text) for name, text in facts if text])
    print_line(f"\n{row['about']}")


def part_rows(kind: str) -> list[Row]:
    """Return one row for each recipe, term, latent, net or metric."""
    return [_ROWS[kind](name, part) for name, part in _known(kind).items()]


def part_row(kind: str, name: str) -> Row:
    """Return the row of one recipe, term, latent, net or metric; ``module:name`` is the user's own."""
    from unweave.settings import key_in, named

    known = _known(kind)
    return _ROWS[kind](key_in(known, name), named(kind.removesuffix("s"), name, known))


def _known(kind: str) -> Mapping[str, Any]:
    if kind == "metrics":
        from unweave.metrics import METRICS

        return {name: metric.function for name, metric in METRICS.items()}
    from unweave.latents import LATENTS
    from unweave.nets import NETS
    from unweave.recipes import RECIPES
    from unweave.terms import TERMS

    known: dict[str, Mapping[str, Any]] = {"recipes": RECIPES, "terms": TERMS, "latents": LATENTS, "nets": NETS}
    return known[kind]


def _recipe_row(name: str, recipe: Any) -> Row:
    from unweave.recipes import Recipe
    from unweave.settings import keyword_settings

    try:
        facts = _recipe_facts(name)
    except InputError:
        raise
    except Exception as error:  # the user's function may raise anything
        raise InputError(f"recipe {name!r} failed: {first_line(error, named=True)}.") from error
    if isinstance(recipe, Recipe):
        about = f"The recipe {recipe.recipe}."
        return {"name": name, "summary": about, "about": about, "facts": facts, "settings": {}}
    return {**_described(name, recipe), "facts": facts, "settings": _fields(keyword_settings(recipe, name))}


def _recipe_facts(name: str) -> list[list[str]]:
    from unweave.recipes import compose, known_settings
    from unweave.recipes.composition import PARTS
    from unweave.training.configuration import OWN_FIELDS, Execution

    recipe = compose(name, {})
    facts = [["latent", pairs(recipe.model_dump(mode="json")["latent"])]]
    for weighted in recipe.terms:
        schedule = weighted.schedule
        over = "" if schedule.kind == "constant" else f", {schedule.kind} over {schedule.over:.3g} of the run"
        facts.append([f"+ {weighted.weight:g} ×", f"{weighted.name}: {plain_formula(weighted.term.formula)}{over}"])
    if recipe.grouping is not None:
        facts.append(["pairs", pairs(recipe.grouping.model_dump())])
    if recipe.linear is None:
        optimiser = recipe.optimiser.model_dump(exclude={"schedule"})
        facts.append(["optimiser", pairs({key: value for key, value in optimiser.items() if value is not None})])
        facts.append(["training", f"batch={recipe.batch}, steps={recipe.steps:,}, start={recipe.start}"])
        facts.append(["net", pairs(recipe.net.model_dump())])
    facts.append(["likelihood", recipe.likelihood])
    settings = {*known_settings(recipe.model_dump(mode="json")), *PARTS, *OWN_FIELDS, *Execution.model_fields}
    facts.append(["--set", ", ".join(sorted(settings - {"sources"}))])
    return facts


def plain_formula(text: str) -> str:
    r"""Return a sentence with its LaTeX, which stands between dollar signs, in characters of a terminal.

    >>> plain_formula(r"$\sum_j (x_j - \hat{x}_j)^2$ over latents")
    'Σⱼ (xⱼ − x̂ⱼ)² over latents'
    """
    return re.sub(r"\$(.+?)\$", lambda found: _in_characters(found[1]), text)


def _in_characters(latex: str) -> str:
    text = re.sub(r"\\text\{(.+?)\}", r"\1", latex)
    text = re.sub(r"\\hat\{(\w)\}", "\\1\N{COMBINING CIRCUMFLEX ACCENT}", text)
    text = re.sub(r"\\(frac12|[A-Za-z]+|\|)", lambda found: SYMBOLS.get(found[1], found[1]), text)
    text = re.sub(r"∂ (\w)\b", r"∂\1", text)
    text = re.sub(r"\^ᵀ", "ᵀ", text).replace("'", "′").replace("-", "−").replace(" ≠ ", "≠")
    text = re.sub(r"\^(\d)", lambda found: found[1].translate(str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")), text)
    text = re.sub(
        r"_([0-9ijlpv])", lambda found: found[1].translate(str.maketrans("0123456789ijlpv", "₀₁₂₃₄₅₆₇₈₉ᵢⱼₗₚᵥ")), text
    )
    return re.sub(r"_\{(\w+)\}", r"_\1", text)


def _term_row(name: str, term: Any) -> Row:
    from unweave.latents import LATENTS
    from unweave.terms import Term

    _check_subclass("term", name, term, Term)
    kinds = [kind for kind, latent in LATENTS.items() if issubclass(latent, term.latents)]
    latents = "all" if len(kinds) == len(LATENTS) else ", ".join(kinds)
    facts = [["formula", plain_formula(term.formula)], ["paper", term.paper], ["latents", latents]]
    return {**_described(name, term), "facts": facts, "settings": _fields(term)}


def _latent_row(name: str, latent: Any) -> Row:
    from unweave.latents import Latent

    _check_subclass("latent", name, latent, Latent)
    return {**_described(name, latent), "facts": [], "settings": _fields(latent)}


def _net_row(name: str, net: Any) -> Row:
    from unweave.settings import keyword_settings

    if not callable(net):
        raise InputError(f"net {name!r} must be a function, got {type(net).__name__}.")
    return {**_described(name, net), "facts": [], "settings": _fields(keyword_settings(net, name, skip=3))}


def _metric_row(name: str, function: Callable[..., Any]) -> Row:
    from unweave.metrics.scoring.catalogue import NEEDS
    from unweave.metrics.scoring.request import find_metrics

    (metric,) = find_metrics(name)  # raises for what is not a metric
    called = name.replace(":", ".") if metric.own else f"unweave.metrics.{function.__name__}"
    return {
        "name": name,
        "question": metric.question,
        "needs": metric.given or NEEDS[metric.needs],
        "range": metric.range,
        "ranges": dict(metric.ranges),
        "better": metric.best,
        "continuous": metric.continuous,
        "scores": list(metric.scores),
        "only_by_name": bool(metric.only_by_name),
        "published": metric.variants,
        "weakness": metric.weakness,
        "settings": sorted(metric.takes),
        "call": f"{called}{_signature(metric.function)}",
        "about": inspect.getdoc(metric.function) or "",
    }


_ROWS: dict[str, Callable[[str, Any], Row]] = {
    "recipes": _recipe_row,
    "terms": _term_row,
    "latents": _latent_row,
    "nets": _net_row,
    "metrics": _metric_row,
}


def _check_subclass(what: str, name: str, part: Any, base: type) -> None:
    if not (isinstance(part, type) and issubclass(part, base)):
        raise InputError(f"{what} {name!r} must be a subclass of {base.__module__}.{base.__name__}, got {part!r}.")


def _described(name: str, thing: Any) -> Row:
    about = inspect.getdoc(thing) or ""
    return {"name": name, "summary": about.partition("\n")[0], "about": about}


def _signature(function: Callable[..., Any]) -> str:
    """Return the signature of a function; defaults that are functions are shown by their name."""
    return re.sub(r"<function (\w+) at 0x[0-9a-f]+>", r"\1", str(inspect.signature(function)))


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


def _defaults(settings: Mapping[str, Mapping[str, Any]]) -> str:
    return pairs({name: facts["default"] for name, facts in settings.items()})
