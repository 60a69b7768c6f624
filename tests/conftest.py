"""What tests share: a data folder of their own, and the genuine data beside the project where it is present."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
import torch
from hypothesis import settings

SHARED = Path(__file__).parents[2] / "shared" / "data"

# Two noisy cores: how long an example takes says nothing. Derandomised, so that a red run is red again.
settings.register_profile("unweave", deadline=None, derandomize=True, max_examples=60)
settings.load_profile("unweave")
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


@pytest.fixture
def empty_data_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A data folder with nothing in it."""
    monkeypatch.setenv("UNWEAVE_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def generator() -> torch.Generator:
    return torch.Generator().manual_seed(0)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The genuine data beside the project."""
    if not SHARED.exists():
        pytest.skip("the shared folder with genuine data is not beside the project")
    return SHARED
