"""Commands and groups of them: options that do not exist or are given twice are refused with what was meant."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import typer
from typer.core import TyperCommand

from unweave.cli.options import is_data_option
from unweave.errors import InputError, shortened
from unweave.key_values import SYNONYMS

HELP = {"help_option_names": ["-h", "--help"]}


class Command(TyperCommand):
    """A command that refuses a repeated option, of which otherwise the last one would win, and suggests ``--set``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Check the words before they are parsed."""
        options = {word: option for option in self.get_params(ctx) for word in (*option.opts, *option.secondary_opts)}
        given: dict[str, list[str]] = {}  # the values of each option
        unknown: tuple[str, str] | None = None
        arguments = []
        words = iter(args)
        for word in words:
            name, equals, value = word.partition("=")
            option: Any = options.get(name)
            if word == "--":
                break
            if option is None:
                if not name.startswith("--"):
                    arguments.append(word)
                elif "--set" in options and unknown is None:
                    unknown = (name, value if equals else next(words, ""))
                continue
            if option.name in given and not option.multiple:
                raise InputError(f"{name} is given twice: give it once.")
            value = value if equals or option.is_flag else next(words, "")
            given.setdefault(option.name, []).append(value)
        if unknown is not None:
            raise _no_option(*unknown, options, self.name or "", arguments, given.get("metrics", ()))
        try:
            return super().parse_args(ctx, args)
        except Exception as error:
            if isinstance(message := getattr(error, "message", None), str):  # it repeats what was typed, however long
                error.message = shortened(message)  # type: ignore[attr-defined]
            raise


class Commands(typer.Typer):
    """A group of commands."""

    def __init__(self, about: str) -> None:
        super().__init__(help=about, no_args_is_help=True, rich_markup_mode=None, pretty_exceptions_enable=False)

    def command(  # type: ignore[override]
        self, name: str | None = None, **options: Any
    ) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
        """Return the decorator that adds a command."""
        return super().command(name, **{"cls": Command, "context_settings": HELP, **options})


def _no_option(
    name: str, value: str, known: Iterable[str], command: str, arguments: Sequence[str], metrics: Sequence[str]
) -> InputError:
    """Return the error for an option that a command with ``--set`` does not have, with what was meant.

    Args:
        name: The option.
        value: The word behind it.
        known: The options of the command.
        command: The command.
        arguments: Its arguments, such as a recipe.
        metrics: The values of its ``--metric``.
    """
    value = value if value and value[0] != "-" else "VALUE"
    setting = name[2:].replace("-", "_")
    setting = SYNONYMS.get(setting, f"data.{setting}" if is_data_option(setting) else setting)
    near = difflib.get_close_matches(name, known, n=1, cutoff=0.75)
    if f"--{setting}" in known or near:
        meant = f"--{setting} {value}" if f"--{setting}" in known else near[0]
    elif command == "score" and "." not in setting:
        meant = meant_of_metrics(setting, value, metrics)
    elif command == "report" and "." not in setting:  # its --set has options of data only
        meant = ""
    else:
        meant = f"--set {setting}={value}"
        if "." not in setting and arguments and (error := _refusal(command, arguments[0], setting, value)):
            if len(error.meant) == 1:
                return InputError(f"there is no option {name}: did you mean --set {error.meant[0]}={value}?")
            return InputError(f"there is no option {name}; settings are given as {meant}, but {error}")
    return InputError(f"there is no option {name}: did you mean {meant}?" if meant else f"there is no option {name}.")


def meant_of_metrics(setting: str, value: Any, metrics: Sequence[str]) -> str:
    """Return how ``--set`` takes a setting of metrics: of those that were named, or else of all that have it."""
    from unweave.metrics import METRICS
    from unweave.settings import key_in

    named = {key_in(METRICS, each) for words in metrics for each in words.split(",")}
    having = [each for each, metric in METRICS.items() if setting in metric.takes and (each in named or not named)]
    if len(having) < 2:
        return f"--set {having[0]}.{setting}={value}" if having else ""
    return f"--set METRIC.{setting}={value}, where METRIC is {', '.join(having[:-1])} or {having[-1]}"


def _refusal(command: str, name: str, setting: str, value: str) -> InputError | None:
    """Return why the recipe of ``train`` or the figure of ``figure`` does not take a setting; None if it may."""
    from unweave.data import described
    from unweave.key_values import parse
    from unweave.questions import figure_named
    from unweave.training import configure

    try:
        given = parse([f"{setting}={value}"])
        if command == "train":
            configure(name, described("xysquares"), given)
        elif command == "figure":
            figure_named(name).check_settings(given)
    except InputError as error:
        return error if error.setting == setting else None
    return None
