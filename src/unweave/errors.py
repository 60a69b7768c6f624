"""The errors that Unweave raises for its users, and helpers that word them."""

from __future__ import annotations

import difflib
import errno
import importlib
import re
from collections.abc import Iterable
from numbers import Integral
from typing import Any

UNKNOWN = "unknown name"
LONG_WORD = re.compile(r"\S{1000,}")  # a number of thousands of digits, for example, which would hide the sentence
NOT_ALLOWED = "code that may not be imported"
NOT_FOUND = "code that cannot be imported"
OF_A_MACHINE = {  # the disk, its permissions, memory and open files
    errno.EACCES, errno.EDQUOT, errno.EIO, errno.EMFILE, errno.ENFILE, errno.ENODEV, errno.ENOLCK, errno.ENOMEM,
    errno.ENOSPC, errno.ENXIO, errno.EPERM, errno.EROFS, errno.ESTALE,
}  # fmt: skip
OUT_OF_MEMORY = ("OutOfMemoryError", "DefaultCPUAllocator: can't allocate memory")  # of torch, on a GPU and elsewhere


def shortened(message: str) -> str:
    """Return a message in which words of thousands of characters are cut."""
    return LONG_WORD.sub(lambda word: f"{word[0][:40]}… ({len(word[0]):,} characters)", message)


class InputError(ValueError):
    """An argument, setting or input cannot be used; the message says what was expected.

    Args:
        message: The sentence for the user.
        setting: The name of the setting that the error is about, if it is about one.
        value: The value that was refused.
        known: The names that would have been accepted.
        meant: Those of them that were probably meant.
        code: The kind of error, where callers distinguish it: one of the constants of this module.
    """

    def __init__(
        self,
        message: str = "",
        *,
        setting: str = "",
        value: object = None,
        known: Iterable[str] = (),
        meant: Iterable[str] = (),
        code: str = "",
    ) -> None:
        super().__init__(shortened(message))
        self.setting, self.value, self.known, self.meant, self.code = setting, value, tuple(known), tuple(meant), code

    def reworded(self, message: str, *, setting: str | None = None) -> InputError:
        """Return the same error with another message or setting."""
        setting = self.setting if setting is None else setting
        fields: dict[str, Any] = {"value": self.value, "known": self.known, "meant": self.meant, "code": self.code}
        return InputError(message, setting=setting, **fields)


class Unavailable(OSError):
    """A file is missing, damaged, or cannot be fetched or written; the message says what to do about it."""


class Refused(Unavailable):
    """A store does not let this machine read or write; the message says what to check."""


class Away(Unavailable):
    """A store cannot be reached for a reason that may pass; it was waited for in vain."""


class Stopped(Unavailable):
    """A study cannot go on; the message says why."""


class Damaged(Unavailable):
    """A file of a run cannot be read.

    ``reason`` is the message without the suggested fix, for callers that add their own.
    """

    def __init__(self, reason: str, advice: str) -> None:
        super().__init__(f"{reason}: {advice}")
        self.reason = reason


class OtherVersion(Unavailable):
    """A file was written by another version of Unweave and cannot be read; the message names both versions."""


class MissingExtra(ImportError):
    """An optional dependency is not installed; the message has the command that installs it."""


class Diverged(RuntimeError):
    """Training reached a value that is not finite; the message names the step and the term."""


def first_line(error: BaseException, *, named: bool = False) -> str:
    r"""Return the first line of an error's message without a full stop, or the name of its class if it has none.

    With ``named``, the name of the class always stands in front.

    >>> first_line(ValueError("wrong.\nMore.")), first_line(KeyError()), first_line(OSError("full"), named=True)
    ('wrong', 'KeyError', 'OSError: full')
    """
    name, line = type(error).__name__, str(error).strip().partition("\n")[0].rstrip(" .")
    return f"{name}: {line}" if named and line else line or name


def is_of_machine(error: BaseException) -> bool:
    """Return whether an error is one of the machine, and not of what it was asked to do.

    These are failures of its disk, permissions or memory, and a store at an address that it cannot use.
    """
    if isinstance(error, Refused | Away | MemoryError | PermissionError):
        return True
    if isinstance(error, OSError) and error.errno in OF_A_MACHINE:
        return True
    if isinstance(error, RuntimeError) and any(text in f"{type(error).__name__} {error}" for text in OUT_OF_MEMORY):
        return True
    return error.__cause__ is not None and is_of_machine(error.__cause__)


def unknown(what: str, name: str, known: Iterable[str], *, setting: str = "") -> InputError:
    """Return the error for an unknown name: with the closest matches, or else with all known names.

    Args:
        what: What the name should be, as in "metric".
        name: The name that was given.
        known: The names that are accepted.
        setting: The setting that the error is about, if the name is that of a setting.

    Returns:
        The error, to be raised.
    """
    known = sorted(known)
    plain = {_plain(each): each for each in known}
    near = difflib.get_close_matches(name, known, n=3, cutoff=0.6)
    if not any("." in each for each in near):  # dci.disentanglement: dci
        near = [each for each in known if name.startswith(f"{each}.")] or near
    near = [plain[_plain(name)]] if _plain(name) in plain else near
    names = f"expected one of {', '.join(known)}." if known else "there are none."
    rest = f"did you mean {' or '.join(map(repr, near))}?" if near else names
    message = f"unknown {what} {name!r}: {rest}"
    return InputError(message, setting=setting, value=name, known=known, meant=near, code=UNKNOWN)


def _plain(name: str) -> str:
    """Return a name in small letters without punctuation: MIG, beta-VAE and betavae are mig, betavae and betavae."""
    return re.sub(r"[\W_]+", "", name.lower())


def extra(module: str, extra: str) -> Any:
    """Import an optional dependency, or raise an error that says which extra of Unweave installs it."""
    try:
        return importlib.import_module(module)
    except ModuleNotFoundError as error:
        package = module.partition(".")[0]
        how = f"in the clone of Unweave: pip install -e '.[{extra}]'"
        raise MissingExtra(f"this needs {package}, which is not installed; {how}") from error


def whole(what: str, value: object, *, at_least: int | None = 0, at_most: int | None = None) -> int:
    """Return an integer, Python's or numpy's, as an int; raise an InputError if it is not one or is out of range.

    Args:
        what: How the error names it.
        value: The value that was given.
        at_least: The smallest number that is accepted; None for no limit.
        at_most: The largest number that is accepted; None for no limit.

    Returns:
        The number.
    """
    if isinstance(value, Integral) and not isinstance(value, bool):
        number = int(value)
        if (at_least is None or at_least <= number) and (at_most is None or number <= at_most):
            return number
    limits = [f"of at least {at_least}"] if at_least is not None else []
    limits += [f"of at most {at_most}"] if at_most is not None else []
    raise InputError(f"{what} must be a whole number{' ' if limits else ''}{' and '.join(limits)}, got {value!r}.")
