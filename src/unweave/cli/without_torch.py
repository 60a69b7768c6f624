"""Commands that only read: they use classes and signatures whose modules import torch, but compute nothing with it.

Importing torch takes longer than planning 12,600 runs. While such a command runs, ``import torch`` finds placeholders
that can be named and subclassed. If one of them is used for anything else, the command starts again with torch.
"""

from __future__ import annotations

import importlib.abc
import importlib.machinery
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any, TypeVar

T = TypeVar("T")
DECORATORS = ("torch.no_grad", "torch.inference_mode")  # called when a module is imported


def without_torch(function: Callable[[], T], *, own: bool = False) -> T:
    """Return what a function returns, without importing torch if it does not need it.

    The modules of Unweave that it imports have no torch afterwards, so this is for the last work of a process. Torch is
    used if it is imported already, or if the user's ``own`` code is imported.
    """
    if own or "torch" in sys.modules:
        return function()
    before = set(sys.modules)
    finder = _Finder()
    sys.meta_path.insert(0, finder)
    try:
        return function()
    except _NeedsTorch:
        sys.meta_path.remove(finder)
        for name in set(sys.modules) - before:
            if name.partition(".")[0] in ("torch", "unweave"):
                del sys.modules[name]
        return function()


class _NeedsTorch(BaseException):
    """A placeholder was used for a computation; not an Exception, so that nothing handles it on its way."""


class _Placeholder(type):
    """The class of placeholders, which are classes, so that they can be subclassed and named in annotations."""

    def __getattr__(cls, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return _placeholder(f"{cls.__qualname__}.{name}")

    def __call__(cls, *given: Any, **settings: Any) -> Any:
        if cls.__qualname__ in DECORATORS and not given:
            return lambda function: function
        raise _NeedsTorch(cls.__qualname__)

    def __getitem__(cls, item: Any) -> Any:
        return cls

    def __or__(cls, other: Any) -> Any:
        return Any

    def __ror__(cls, other: Any) -> Any:
        return Any


def _placeholder(name: str) -> _Placeholder:
    return _Placeholder(name.rpartition(".")[2], (), {"__qualname__": name, "__init_subclass__": _subclass})


@classmethod  # type: ignore[misc]
def _subclass(cls: type, **settings: Any) -> None:
    """Accept the keywords of any class of torch."""


class _Module(ModuleType):
    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        found = _placeholder(f"{self.__name__}.{name}")
        setattr(self, name, found)
        return found


class _Finder(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    def find_spec(self, name: str, path: Any = None, target: Any = None) -> importlib.machinery.ModuleSpec | None:
        if name.partition(".")[0] != "torch":
            return None
        return importlib.machinery.ModuleSpec(name, self, is_package=True)

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> ModuleType:
        return _Module(spec.name)

    def exec_module(self, module: ModuleType) -> None:
        """There is nothing to execute."""
