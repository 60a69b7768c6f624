"""Settings as people write them: KEY=VALUE words, and a data set with options, NAME,KEY=VALUE."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from unweave.errors import InputError

TOO_LONG = re.compile(r"(?<!\w)0[xob]\w{1000}", re.IGNORECASE)  # a number that Python reads but does not print

SYNONYMS = {  # names of settings in other libraries
    "learning_rate": "lr",
    "batch_size": "batch",
    "iterations": "steps",
    "max_steps": "steps",
    "num_steps": "steps",
    "training_steps": "steps",
    "latent_dim": "latents",
    "latent_size": "latents",
    "num_latents": "latents",
    "z_dim": "latents",
    "random_seed": "seed",
    "network": "net",
    "image_size": "data.size",
}


def parse(settings: Iterable[str] | None, option: str = "--set") -> dict[str, Any]:
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
        options[key] = _value(value)
    return options


def _value(text: str) -> Any:
    """Return a Python literal, a list for words with commas between them, or else the text."""
    if TOO_LONG.search(text):
        return text
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        pass
    if re.fullmatch(r"[\w.:+-]+(,[\w.:+-]+)+", text):
        return [_value(word) for word in text.split(",")]
    return text


def names_in(setting: str, value: Any) -> tuple[str, ...]:
    """Return the names of a setting that takes several, given as a list or as a text with commas between them."""
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) and name for name in names):
        raise InputError(f"{setting} takes names, as in {setting}=mig,sap, got {value!r}.", setting=setting)
    return tuple(names)


def split_data(given: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of the data set among settings, written as ``data.size``, and the other settings."""
    options = {key.removeprefix("data."): value for key, value in given.items() if key.startswith("data.")}
    return options, {key: value for key, value in given.items() if not key.startswith("data.")}


def parse_data(word: str, options: Mapping[str, Any] | None = None) -> tuple[str, dict[str, Any]]:
    """Read a data set, written as NAME or NAME,KEY=VALUE,…, and add options that were given elsewhere.

    A file or folder that has such a name is meant as it is.
    """
    name, *pairs = [word] if "=" not in word or Path(word).exists() else re.split(r",(?=\w+=)", word)
    own = parse(pairs, name)
    for key in own.keys() & (options or {}).keys():
        raise InputError(f"data.{key} is given twice, in {word} and beside it: give it once.", setting=key)
    return name, {**own, **(options or {})}
