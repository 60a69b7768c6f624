"""A run folder made by somebody else can run no code through the page."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

import httpx
import pytest

from tests.explore.conftest import served
from tests.training.hostile import CHANGES, make_hostile
from unweave import Run
from unweave.errors import InputError
from unweave.explore import find_selection
from unweave.explore.open_runs import OpenRuns


@pytest.fixture(params=CHANGES)
def hostile(request: pytest.FixtureRequest, tmp_path: Path, smooth: Run, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A run folder that names a module beside it, which would leave a trace if it were imported."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    return make_hostile(smooth, tmp_path / "store", request.param, tmp_path)


def test_a_hostile_configuration_imports_nothing(hostile: Path, tmp_path: Path) -> None:
    with (
        served(find_selection(None, store=hostile.parent)) as address,
        httpx.Client(base_url=address, timeout=60) as client,
    ):
        client.get("/api/table")
        for path in ("", "/progress", "/reconstructions"):
            client.get(f"/api/runs/{hostile.name}{path}")
        answer = client.get(f"/api/runs/{hostile.name}")
        decoded = client.post(f"/api/runs/{hostile.name}/decode", content=b"\0" * 16)
    assert answer.status_code == decoded.status_code == 400
    assert "hostile_module:net" in answer.json()["error"]
    assert "--trust" in answer.json()["error"]
    assert not (tmp_path / "trace").exists()
    assert "hostile_module" not in sys.modules


def test_the_second_wall_holds_alone(hostile: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("unweave.training.configuration.check_own_code", lambda *given: None)
    runs = OpenRuns(find_selection(None, store=hostile.parent))
    if json.loads((hostile / "configuration.json").read_text())["data"]["name"] == "own":
        with pytest.raises((InputError, OSError), match="hostile_module"):
            runs.open(hostile.name)
    else:  # only the data is hostile, and it is opened later
        opened = runs.open(hostile.name)
        assert opened.data is None
        assert "hostile_module" in opened.no_data
    assert not (tmp_path / "trace").exists()


def test_with_trust_the_code_is_imported(
    tmp_path: Path, smooth: Run, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest
) -> None:
    folder = tmp_path / "store" / smooth.folder.name
    shutil.copytree(smooth.folder, folder)
    fields = json.loads((folder / "configuration.json").read_text())
    fields["net"]["name"] = "trusted_module:net"
    (folder / "configuration.json").write_text(json.dumps(fields))
    trace = tmp_path / "trace"
    (tmp_path / "trusted_module.py").write_text(f"open({str(trace)!r}, 'w').close()\nnet = None\n")
    monkeypatch.chdir(tmp_path)
    request.addfinalizer(lambda: sys.modules.pop("trusted_module", None))
    with pytest.raises((InputError, OSError), match="trusted_module"):  # it is imported, but has no net
        OpenRuns(find_selection(None, store=folder.parent, trusted=True)).open(folder.name)
    assert trace.exists()


def test_weights_that_are_a_pickle_are_refused(tmp_path: Path, smooth: Run) -> None:
    folder = tmp_path / "store" / smooth.folder.name
    shutil.copytree(smooth.folder, folder)
    trace = tmp_path / "trace"
    hostile = b"cbuiltins\nexec\n(S\"open('" + str(trace).encode() + b"', 'w')\"\ntR."
    (folder / "model.safetensors").write_bytes(hostile)
    with pytest.raises(OSError, match="not a safetensors file"):
        OpenRuns(find_selection(None, store=folder.parent)).open(folder.name)
    assert not trace.exists()
