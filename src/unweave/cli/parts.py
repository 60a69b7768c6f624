"""``unweave recipes``, ``terms``, ``latents`` and ``nets``: list the parts of methods, and show one of them."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.table import Table

from unweave.cli.listings import listing, row_of
from unweave.cli.options import Json, console, print_json

Name = Annotated[str, typer.Argument(metavar="NAME", help="A name from the list, or module:name for your own.")]


def _group(kind: str, about: str) -> typer.Typer:
    """Return the commands ``list`` and ``show`` of one kind of part."""
    group = typer.Typer(help=about, no_args_is_help=True, rich_markup_mode=None)

    @group.command("list", help=f"List all {kind} with their settings and defaults.")
    def list_all(as_json: Json = False) -> None:
        rows = listing(kind)
        if as_json:
            print_json(rows)
            return
        table = Table("name", "description", "settings", box=None, pad_edge=False)
        for row in rows:
            table.add_row(row["name"], row["summary"], _pairs(row["settings"]))
        console.print(table)
        if kind == "recipes":
            console.print(
                "\nThe parts of recipes: unweave terms list, unweave latents list, unweave nets list. Combine them:\n"
                "unweave train ae DATA --latent fsq --term kernel_multiinformation=1e-4 --term jacobian_l1=0.1"
            )

    @group.command("show", help=f"Describe one of the {kind}, with every setting, its default and its accepted values.")
    def show(name: Name, as_json: Json = False) -> None:
        row = row_of(kind, name)
        if as_json:
            print_json(row)
            return
        table = Table(box=None, show_header=False, pad_edge=False)
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
        table.add_row(name, row["about"])
        for key, value in row["facts"]:
            if value:
                table.add_row(key, value)
        for setting, facts in row["settings"].items():
            table.add_row(setting, f"{facts['default']!r}    {facts['type']}")
        console.print(table)

    return group


recipes_app = _group("recipes", "Recipes: the methods with their terms and published settings.")
terms_app = _group("terms", "Terms: the parts of a loss.")
latents_app = _group("latents", "Latents: how an encoder's outputs become codes.")
nets_app = _group("nets", "Nets: encoders and decoders.")


def _pairs(settings: dict[str, dict[str, Any]]) -> str:
    return ", ".join(f"{name}={facts['default']}" for name, facts in settings.items())
