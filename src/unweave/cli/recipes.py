"""``unweave recipes``: list the methods, and show what one is made of."""

from __future__ import annotations

import inspect
from typing import Annotated

import typer
from rich.table import Table

from unweave.cli.options import console
from unweave.latents import LATENTS
from unweave.nets import NETS
from unweave.recipes import RECIPES, Weighted, compose, parameters_of
from unweave.schedules import Schedule
from unweave.settings import Settings, name_in
from unweave.terms import TERMS

recipes_app = typer.Typer(
    help="Recipes: the methods, their formulas, terms and published settings.",
    no_args_is_help=True,
    rich_markup_mode=None,
)


@recipes_app.command("list")
def list_recipes() -> None:
    """List every recipe, and the latents, terms and nets that new ones are composed of."""
    table = Table("name", "method", "settings", box=None, pad_edge=False)
    for name, recipe in RECIPES.items():
        first = (inspect.getdoc(recipe) or "").partition("\n")[0]
        table.add_row(name, first, _pairs(parameters_of(name)))
    console.print(table)
    console.print(f"\nlatents  {', '.join(LATENTS)}", soft_wrap=True)
    console.print(f"terms    {', '.join(TERMS)}", soft_wrap=True)
    console.print(f"nets     {', '.join(NETS)}", soft_wrap=True)
    console.print(
        "\nCompose: unweave train ae DATA --latent fsq --term kernel_multiinformation=1e-4 --term jacobian_l1=0.1"
    )


@recipes_app.command("show")
def show_recipe(name: Annotated[str, typer.Argument(metavar="NAME", help="A recipe's name.")]) -> None:
    """Describe a recipe: formula, terms, defaults, paper and table."""
    parameters = parameters_of(name)
    recipe = compose(name, {})
    table = Table(box=None, show_header=False, pad_edge=False)
    table.add_column(no_wrap=True)
    table.add_column(overflow="fold")
    table.add_row(name, inspect.getdoc(RECIPES[name]) or "")
    table.add_row("settings", _pairs(parameters))
    table.add_row("latent", f"{name_in(LATENTS, type(recipe.latent))}: {_pairs(recipe.latent)}")
    for weighted in recipe.terms:
        table.add_row(f"+ {_weight(weighted)} ×", f"{weighted.name}: {weighted.term.formula}")
        table.add_row("", f"{_pairs(weighted.term)} {weighted.term.paper}".strip())
    if recipe.grouping is not None:
        table.add_row("grouping", _pairs(recipe.grouping))
    if recipe.linear is None:
        table.add_row("optimiser", _pairs(recipe.optimiser))
        table.add_row("training", f"net={recipe.net}, batch={recipe.batch}, steps={recipe.steps:,}")
    table.add_row("likelihood", recipe.likelihood)
    console.print(table)


def _weight(weighted: Weighted) -> str:
    if weighted.schedule == Schedule():
        return f"{weighted.weight:g}"
    return f"{weighted.weight:g} ({weighted.schedule.kind} over {weighted.schedule.over:.3g})"


def _pairs(settings: Settings | dict[str, object]) -> str:
    values = settings.model_dump() if isinstance(settings, Settings) else settings
    return ", ".join(f"{key}={value}" for key, value in values.items())
