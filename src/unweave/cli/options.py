"""Shared by all commands: the console, common options, reading settings, printing JSON and saving pictures."""

from __future__ import annotations

import ast
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console

from unweave.errors import InputError, extra
from unweave.plain_json import to_plain
from unweave.progress import Level, set_level

# Names are chosen by users and may contain brackets; piped output is not cut to the width of a screen.
console = Console(markup=False, width=None if sys.stdout.isatty() else 160)


def _be_quiet(context: typer.Context, value: bool) -> bool:
    return _choose_level(context, value, "quiet", "verbose")


def _be_verbose(context: typer.Context, value: bool) -> bool:
    return _choose_level(context, value, "verbose", "quiet")


def _choose_level(context: typer.Context, value: bool, level: Level, other: Level) -> bool:
    """Set how much progress is shown; the options may stand before or after the command, but not contradict."""
    if value:
        at: Any = context
        while at is not None:
            if at.params.get(other):
                raise InputError("--quiet cannot be combined with --verbose: give one of them.")
            at = at.parent
        set_level(level)
    return value


def parse_folder(value: str | Path) -> Path:
    """Read the path of a folder; an empty one is refused, because it would mean the working directory."""
    if not str(value).strip():
        raise typer.BadParameter("expected a folder, got an empty path; write . for the working directory.")
    return Path(value)


Out = Annotated[Path | None, typer.Option(help="File to write the picture to.", show_default="NAME….png")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=_be_quiet, help="Show no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", callback=_be_verbose, help="Show progress more often.")]
Store = Annotated[str | None, typer.Option(help="The folder of runs.", show_default="UNWEAVE_STORE or ./runs")]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Import code outside of Unweave that a run names; only for runs that you trust."),
]
RunName = Annotated[
    str, typer.Argument(metavar="RUN", help="A run: its name or first digits, its label, or the path of its folder.")
]


def parse(settings: list[str] | None, option: str = "--set") -> dict[str, Any]:
    """Read KEY=VALUE words as a dictionary; values are Python literals, or else strings."""
    options: dict[str, Any] = {}
    for setting in settings or []:
        key, equals, value = setting.partition("=")
        if not equals or not key:
            raise InputError(f"{option} takes KEY=VALUE, got {setting!r}.")
        if key in options:
            raise InputError(f"{option} {key} is given twice: give it once.")
        if value.lower() in ("true", "false"):
            value = value.capitalize()
        try:
            options[key] = ast.literal_eval(value)
        except (ValueError, SyntaxError):
            options[key] = value
    return options


def print_json(value: Any) -> None:
    """Print a value as JSON that other programs can read: what is not finite is a string, such as "NaN"."""
    text = json.dumps(to_plain(value), indent=2, ensure_ascii=False, allow_nan=False)
    console.print(text, soft_wrap=True, highlight=False)


def save(figure: Any, path: Path, *, report: bool = True) -> None:
    """Write a figure to a file and, with ``report``, print its path."""
    path = _picture_path(path)
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        figure.savefig(path)
    except (OSError, ValueError) as error:
        raise InputError(f"cannot write {path}: {error}") from error
    if report:
        console.print(f"wrote {path}", soft_wrap=True)


def check_picture(path: Path) -> None:
    """Refuse a file for a picture that cannot be written, before anything is computed."""
    extra("matplotlib", "figures")
    from matplotlib.backend_bases import FigureCanvasBase

    path = _picture_path(path)
    formats = FigureCanvasBase.get_supported_filetypes()
    if path.suffix[1:].lower() not in formats:
        raise InputError(f"cannot write {path}: expected a name that ends in one of {', '.join(sorted(formats))}.")
    new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):  # leaves a file that exists as it is
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}.") from error


def _picture_path(path: Path) -> Path:
    """Return the path of a picture, with the suffix .png if it has none."""
    path = path if path.suffix else path.with_name(f"{path.name}.png") if path.name else path
    if not path.name or path.is_dir():
        raise InputError(f"cannot write a picture to {str(path)!r}: give the name of a file.")
    return path


def check_writable(option: str, folder: Path) -> None:
    """Refuse a folder for pictures that cannot be written to, before anything is computed."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option} takes a folder, but {folder} is a file.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".unweave"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{option}: cannot write to {folder}: {error.strerror or error}.") from error
