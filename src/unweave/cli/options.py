"""What commands share: the console, their options, how settings are read and pictures saved."""

from __future__ import annotations

import ast
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from unweave.errors import InputError

# names are the user's, and may have brackets; what is piped is not cut to the width of a screen
console = Console(markup=False, width=None if sys.stdout.isatty() else 160)

Out = Annotated[Path | None, typer.Option(help="Where to write the picture.", show_default="NAME….png")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Seed of everything random.")]


def parse(settings: list[str] | None, option: str = "--set") -> dict[str, Any]:
    """KEY=VALUE words as a dictionary, values as Python would read them, or else as words."""
    options = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"{option} takes KEY=VALUE, got {setting!r}.")
        if value.lower() in ("true", "false"):
            value = value.capitalize()
        try:
            options[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[key] = value
    return options


def save(figure: Any, path: Path) -> None:
    """Write a figure, and say where."""
    path = path if path.suffix else path.with_name(f"{path.name}.png") if path.name else path
    if not path.name or path.is_dir():
        raise InputError(f"cannot write a picture to {str(path)!r}: name a file.")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write {path}: {error}") from error
    console.print(f"wrote {path}", soft_wrap=True)
