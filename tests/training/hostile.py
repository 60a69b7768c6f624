"""Run folders that name a module which leaves a trace when it is imported."""

from __future__ import annotations

import contextlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from unweave import Run
from unweave.errors import InputError
from unweave.own_code import without_own_code
from unweave.training.checkpoint import load_tensors, save_tensors
from unweave.training.configuration import read_configuration

MODULE, TRACE = "hostile_module", "trace"
CHANGES: dict[str, Callable[[dict[str, Any]], None]] = {
    "net": lambda fields: fields["net"].update(name="hostile_module:net"),
    "net as text": lambda fields: fields.update(net="hostile_module:net"),
    "latent": lambda fields: fields["latent"].update(name="hostile_module:net"),
    "term": lambda fields: fields["terms"][0]["term"].update(name="hostile_module:net"),
    "term as text": lambda fields: fields["terms"][0].update(term="hostile_module:net"),
    "data": lambda fields: fields["data"].update(name="hostile_module:net"),
}


def make_hostile(run: Run, store: Path, change: str, modules: Path) -> Path:
    """Copy a run into a store with a configuration that names the module, which is written into another folder."""
    folder = store / run.folder.name
    shutil.copytree(run.folder, folder)
    rewrite(folder, change, modules)
    with contextlib.suppress(InputError, OSError), without_own_code():  # weights that fit, where nothing else stops it
        tensors, _ = load_tensors(folder / "model.safetensors", run.name)
        save_tensors(folder / "model.safetensors", tensors, {"run": read_configuration(folder).name})
    return folder


def rewrite(folder: Path, change: str, modules: Path) -> None:
    """Name the module in the configuration of a folder; it is imported afresh, if it is imported."""
    sys.modules.pop(MODULE, None)
    path = folder / "configuration.json"
    fields = json.loads(path.read_text())
    CHANGES[change](fields)
    path.write_text(json.dumps(fields))
    (modules / f"{MODULE}.py").write_text(f"open({str(modules / TRACE)!r}, 'w').close()\nnet = None\n")
