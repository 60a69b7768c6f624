"""Planning without torch gives the same runs as with it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.study.test_spec import ISSUE
from unweave.cli.without_torch import without_torch
from unweave.data import SETS
from unweave.nets import NETS
from unweave.recipes import RECIPES, compose
from unweave.study import Study

READ = """
import json, sys
from unweave.cli.without_torch import without_torch

def names():
    from unweave.study import Study
    study = Study(sys.argv[1])
    return [run.name for run in study.planned], study.status()

found, states = without_torch(names)
print(json.dumps([found, states, type(sys.modules["torch"]).__name__]))
"""


def _read(text: str, folder: Path) -> tuple[list[str], dict[str, int], str]:
    (folder / "spec.toml").write_text(text)
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(Path(__file__).parents[2]), *sys.path])}
    command = [sys.executable, "-c", READ, str(folder / "spec.toml")]
    done = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    found, states, kind = json.loads(done.stdout)
    return found, states, kind


def _everything() -> str:
    """Return a study with every net and data set, and every recipe but those that ask a latent for a posterior."""
    nets = sorted(set(NETS) - {"linear", "conv16"})
    linear = [name for name in RECIPES if name in ("pca", "ica")]
    others = [name for name in RECIPES if name not in linear and compose(name, {}).grouping is None]
    data = sorted(SETS)
    return f"""
name = "everything"
metrics = ["mig", "dci", "infomec"]
[[grid]]
recipe = {json.dumps(others)}
data = "rooms3d"
seeds = 2
[[grid]]
recipe = {json.dumps(linear)}
data = "rooms3d"
seed = 2
[[grid]]
recipe = "vae"
net = {json.dumps(nets)}
data = "rooms3d"
seed = 3
[[grid]]
recipe = "vae"
data = {json.dumps(data)}
seed = 4
[[grid]]
recipe = "beta_vae"
data = "xysquares"
terms = {{ jacobian_l1 = 0.1 }}
"kl.schedule" = "linear"
"kl.over" = 0.5
"""


@pytest.mark.parametrize("text", [ISSUE, _everything()], ids=["issue", "everything"])
def test_the_same_runs_are_planned(text: str, tmp_path: Path) -> None:
    found, states, kind = _read(text, tmp_path)
    assert kind == "_Module"  # placeholders
    expected = [run.name for run in Study(text).planned]
    assert found == expected
    assert states == {"not started": len(expected)}


def test_a_computation_starts_again_with_torch(tmp_path: Path) -> None:
    text = ISSUE.replace('"beta_vae"', '"ada_gvae"')  # asks its latent for a posterior
    found, _, kind = _read(text, tmp_path)
    assert kind == "module"
    assert found == [run.name for run in Study(text).planned]


def test_the_users_own_code_is_imported_with_torch() -> None:
    import torch

    with pytest.MonkeyPatch.context() as patch:
        patch.delitem(sys.modules, "torch")
        assert without_torch(lambda: sys.modules.get("torch"), own=True) is None  # nothing stands in for it
    assert sys.modules["torch"] is torch


def test_torch_is_used_where_it_is_imported_already() -> None:
    import torch

    assert without_torch(lambda: sys.modules["torch"]) is torch
