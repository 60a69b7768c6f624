"""Shared by all tests and by the examples in docstrings: folders of their own for data and runs."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch

torch.set_num_threads(1)  # pytest runs one worker a core


@pytest.fixture(scope="session", autouse=True)
def data_root(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """``UNWEAVE_DATA`` for the whole run: drawn grids are made once for all workers, in no folder of the user's."""
    base = tmp_path_factory.getbasetemp()
    root = (base.parent if "PYTEST_XDIST_WORKER" in os.environ else base) / "unweave-data"
    root.mkdir(exist_ok=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("UNWEAVE_DATA", str(root))
        yield root


@pytest.fixture(autouse=True)
def own_folder(request: pytest.FixtureRequest) -> None:
    """Run the examples of a docstring in an empty folder, where their runs and figures stay."""
    if isinstance(request.node, pytest.DoctestItem):
        request.getfixturevalue("monkeypatch").chdir(request.getfixturevalue("tmp_path"))
