"""The user's own code, named as ``package.module:name``: import it, hash it, and refuse it where it is not trusted.

A run folder may come from somebody else, so code that a configuration names may need permission to run.
"""

from __future__ import annotations

import hashlib
import importlib
import inspect
import sys
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, nullcontext
from contextvars import ContextVar
from pathlib import Path
from typing import Any

from unweave.errors import NOT_ALLOWED, NOT_FOUND, InputError

HERE = "__main__"  # the module of a notebook or script, which other processes cannot import
IN_A_FILE = "In a notebook, write it to a file: begin its cell with %%writefile my_part.py, then import my_part."
_ALLOWED: ContextVar[frozenset[str] | None] = ContextVar("own_code_that_is_imported", default=None)  # None for all


def imported(what: str, name: str) -> Any:
    """Import the object at ``package.module:name``; modules of the working directory are found as well."""
    if (allowed := _ALLOWED.get()) is not None and name not in allowed:
        raise InputError(
            f"{what} {name!r} is code outside of Unweave, which is not run here.", value=name, code=NOT_ALLOWED
        )
    module, _, attribute = name.partition(":")
    if not module or not attribute:
        raise InputError(f"{what} {name!r}: write your own as package.module:name.", value=name)
    found = _module_of(what, name)
    for part in attribute.split("."):
        found = getattr(found, part, None)
    if found is None and module == HERE:
        raise InputError(
            f"{what} {attribute!r} was defined in a notebook or script, and only that process can find it. {IN_A_FILE}",
            value=name,
            code=NOT_FOUND,
        )
    if found is None:
        raise InputError(f"{what} {name!r}: the module {module!r} has no {attribute!r}.", value=name, code=NOT_FOUND)
    return found


def _module_of(what: str, name: str) -> Any:
    """Import the module of ``package.module:name``."""
    module = name.partition(":")[0]
    try:
        return _module(module)
    except (Exception, SystemExit) as error:  # the user's module may raise anything
        reason = f"{what} {name!r}: the module {module!r} cannot be imported ({error})."
        raise InputError(reason, value=name, code=NOT_FOUND) from error


def _module(name: str) -> Any:
    if name in sys.modules:
        return sys.modules[name]
    here = str(Path.cwd())
    if here in sys.path or "" in sys.path:
        return importlib.import_module(name)
    sys.path.append(here)  # last, so that a user's file cannot hide an installed module
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(here)


def source_hash(name: str) -> str:
    """Return 16 digits of the hash of the source of ``package.module:name``.

    The source is the file of the module and those of the user's other modules that it uses, but not installed ones. Of
    what is defined in a notebook or script, it is the source of the object itself.
    """
    digest = hashlib.sha256()
    if name.partition(":")[0] == HERE:
        try:
            return hashlib.sha256(_source_here(imported("part", name)).encode()).hexdigest()[:16]
        except (OSError, TypeError) as error:
            raise InputError(f"the source of {name!r} cannot be read, so it cannot name a run. {IN_A_FILE}") from error
    for path in sorted(_own_files(_module_of("part", name), {})):
        digest.update(Path(path).read_bytes())
    return digest.hexdigest()[:16]


def _source_here(thing: Any) -> str:
    """Return the source of a function or class of a notebook; of a class, it is that of its methods, and its fields.

    The source of a whole class cannot be read in a notebook, whose module has no file.
    """
    if not inspect.isclass(thing):
        return inspect.getsource(thing)
    plain = {key: value for key, value in vars(thing).items() if isinstance(value, str | int | float | bool | tuple)}
    fields = getattr(thing, "model_fields", {})
    described = [thing.__qualname__, *(base.__qualname__ for base in thing.__bases__), repr(sorted(fields.items()))]
    described += [f"{key} = {value!r}" for key, value in sorted(plain.items()) if not key.startswith("__")]
    return "\n".join(
        [*described, *(inspect.getsource(each) for each in vars(thing).values() if inspect.isfunction(each))]
    )


def _own_files(module: Any, seen: dict[str, None]) -> dict[str, None]:
    """Return the source files of a module and, through its names, of the modules of the user's that it uses."""
    path = getattr(module, "__file__", None)
    if not path or path in seen or not Path(path).exists():
        return seen
    seen[path] = None
    for value in list(vars(module).values()):
        name = value.__name__ if inspect.ismodule(value) else getattr(value, "__module__", None)
        other = sys.modules.get(name) if isinstance(name, str) else None
        if other is not None and other is not module and not _is_installed(other):
            _own_files(other, seen)
    return seen


def _is_installed(module: Any) -> bool:
    """Return whether a module belongs to Python, to Unweave, or to an installed package."""
    path = getattr(module, "__file__", None) or ""
    places = (sys.prefix, sys.base_prefix, str(Path(__file__).parent))
    return not path or path.startswith(places) or "site-packages" in path


def defined_here(names: Iterable[str]) -> list[str]:
    """Return those of ``package.module:name`` that are defined in a notebook or script."""
    return [name for name in names if name.partition(":")[0] == HERE]


@contextmanager
def only_own_code(names: Iterable[str]) -> Iterator[None]:
    """Refuse to import any ``package.module:name`` but these inside the block, for configurations from files."""
    allowed, outer = frozenset(names), _ALLOWED.get()
    token = _ALLOWED.set(allowed if outer is None else allowed & outer)
    try:
        yield
    finally:
        _ALLOWED.reset(token)


def without_own_code() -> AbstractContextManager[None]:
    """Refuse to import any ``package.module:name`` inside the block, for configurations that are not trusted."""
    return only_own_code(())


def check_own_code(fields: Mapping[str, Any], title: str = "this run") -> None:
    """Raise an InputError if a configuration names code outside of Unweave, as ``package.module:name``."""
    if names := own_code_of(fields):
        raise InputError(
            f"{title} needs code outside of Unweave ({', '.join(names)}), which could do anything on this machine. "
            "If you trust the author of the run, add --trust (trust=True in Python), which imports that code."
        )


def own_code_of(fields: Mapping[str, Any]) -> list[str]:
    """Return the code outside of Unweave that a configuration, which may be damaged, names."""
    return sorted({name for name in _part_names(fields) if ":" in name})


def guarded(trust: bool) -> AbstractContextManager[None]:
    """Import no code that a configuration names inside the block, unless it is trusted."""
    return nullcontext() if trust else without_own_code()


def _part_names(fields: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names of all parts of a configuration that may be damaged, and what its terms name."""
    terms = fields.get("terms")
    entries = [entry for entry in terms if isinstance(entry, Mapping)] if isinstance(terms, list) else []
    for part in (
        fields.get("net"),
        fields.get("latent"),
        fields.get("data"),
        fields.get("groups"),
        *(entry.get("term") for entry in entries),
        *(value for entry in entries if isinstance(entry.get("term"), Mapping) for value in entry["term"].values()),
    ):
        name = part.get("name") if isinstance(part, Mapping) else part
        if isinstance(name, str):
            yield name
