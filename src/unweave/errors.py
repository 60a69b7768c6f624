"""How Unweave says that something it was given cannot be used."""

from __future__ import annotations

import difflib
import importlib
from collections.abc import Iterable
from numbers import Integral
from typing import Any


class InputError(ValueError):
    """The caller gave something unusable; the message is one sentence written for them."""


class Unavailable(OSError):
    """A file is not here, cannot be fetched or is damaged; the message says what to do about it."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message is the line to type."""


class Diverged(RuntimeError):
    """Training came to a number that is not finite; the message names the step and the term."""


def unknown(what: str, name: str, known: Iterable[str]) -> InputError:
    """The error for a name that does not exist: the nearest right ones, or else all of them."""
    known = sorted(known)
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if near:
        return InputError(f"unknown {what} {name!r}: did you mean {' or '.join(map(repr, near))}?")
    return InputError(f"unknown {what} {name!r}: there are {', '.join(known) or 'none'}.")


def extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or say which extra of Unweave brings it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        raise MissingExtra(f"this needs {package}, which is not installed: pip install 'unweave[{extra}]'") from error


def whole(what: str, value: object, *, at_least: int | None = 0, at_most: int | None = None) -> int:
    """A whole number, Python's or numpy's, as an int; or the error that says what it should have been."""
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if (at_least is None or at_least <= number) and (at_most is None or number <= at_most):
            return number
    limits = [f"of at least {at_least}"] if at_least is not None else []
    limits += [f"of at most {at_most}"] if at_most is not None else []
    raise InputError(f"{what} must be a whole number{' ' if limits else ''}{' and '.join(limits)}, got {value!r}.")
