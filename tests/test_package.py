"""The package as a whole: documented, typed, and true to its own pages."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave.lazy_imports import lazy

ROOT = Path(__file__).parents[1]
FOUND = list(pkgutil.walk_packages(unweave.__path__, "unweave."))
MODULES = ["unweave", *(m.name for m in FOUND)]
PACKAGES = ["unweave", *(m.name for m in FOUND if m.ispkg)]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]


@pytest.mark.parametrize("name", MODULES)
def test_every_module_and_public_name_is_documented(name: str) -> None:
    module = importlib.import_module(name)
    assert module.__doc__
    for public, thing in vars(module).items():
        if not public.startswith("_") and getattr(thing, "__module__", None) == name and callable(thing):
            assert thing.__doc__, f"{name}.{public} has no docstring"


@pytest.mark.parametrize("name", PACKAGES)
def test_the_arguments_of_long_signatures_are_listed(name: str) -> None:
    module = importlib.import_module(name)
    for function in _functions(getattr(module, public) for public in getattr(module, "__all__", ())):
        names = [parameter for parameter in inspect.signature(function).parameters if parameter != "self"]
        if len(names) > 3:
            section = (inspect.getdoc(function) or "").partition("\nArgs:\n")[2].partition("\nReturns:")[0]
            listed = re.findall(r"^    \**(\w+): ", section, re.MULTILINE)
            assert listed == names, f"{function.__module__}.{function.__qualname__} needs one line per argument"


def _functions(things: Iterator[Any]) -> Iterator[Callable[..., Any]]:
    """Yield the functions of the package among these, and the public methods that no base of their class has."""
    for thing in things:
        if inspect.isclass(thing):
            names = vars(thing).keys() - {name for base in thing.__mro__[1:] for name in vars(base)}
            yield from _functions(getattr(thing, name) for name in sorted(names) if not name.startswith("_"))
        elif inspect.isroutine(thing) and str(thing.__module__).startswith("unweave"):
            yield thing


def test_every_package_has_tests() -> None:
    packages = {
        path.parent.relative_to(ROOT / "src" / "unweave").parts[0]
        for path in _modules()
        if path.parent.name != "unweave"
    }
    assert packages <= {path.name for path in (ROOT / "tests").iterdir() if any(path.glob("test_*.py"))}


def _modules() -> list[Path]:
    return sorted((ROOT / "src" / "unweave").rglob("*.py"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_python_on_a_page_runs(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    blocks = re.findall(r"^```python\n(.*?)^```", page.read_text(), flags=re.DOTALL | re.MULTILINE)
    names: dict[str, object] = {}
    for block in blocks:
        exec(compile(block, str(page), "exec"), names)


def test_importing_is_light() -> None:
    """Extras and slow imports wait until they are needed."""
    late = ("matplotlib", "h5py", "sklearn", "numba")
    script = f"import sys, unweave, unweave.cli; print([m for m in {late} if m in sys.modules])"
    shown = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert shown.stdout.strip() == "[]"


def test_names_are_imported_when_they_are_asked_for() -> None:
    get = lazy("package", {"dumps": "json:dumps", "json": "json"})
    assert get("dumps")([1]) == "[1]"
    assert get("json").dumps is get("dumps")
    with pytest.raises(AttributeError, match="module 'package' has no attribute 'loads'"):
        get("loads")
