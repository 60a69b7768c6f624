"""The worked examples of docs/extending.md, used from outside the package as a user would."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
EXAMPLES = sorted((ROOT / "examples" / "extending").glob("*.py"))
PAGE = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
COMMANDS = [line for block in re.findall(r"```sh\n(.*?)```", PAGE, re.DOTALL) for line in block.splitlines()]


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.name)
def test_the_page_shows_the_files(path: Path) -> None:
    assert f"`{path.name}`:\n\n```py\n{path.read_text(encoding='utf-8')}```" in PAGE


@pytest.mark.parametrize("command", COMMANDS)
def test_the_commands_of_the_page_work_in_the_folder_of_the_files(command: str, tmp_path: Path) -> None:
    for path in EXAMPLES:
        shutil.copy(path, tmp_path)
    _, *words = shlex.split(command)
    quick = ["--threads", "1", "--set", "steps=4"] if words[0] == "train" else []
    words = [word for word in words if word not in ("--steps", "50")]
    program = str(Path(sys.executable).with_name("unweave"))
    done = subprocess.run([program, *words, *quick], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    if "best_correlation" in command:
        assert "my_metric:best_correlation" in done.stdout


def test_five_lines_wrap_a_model_that_was_trained_elsewhere(tmp_path: Path) -> None:
    for path in EXAMPLES:
        shutil.copy(path, tmp_path)
    lines = re.findall(r"```py\n(class Mine:.*?)```", PAGE, re.DOTALL)[0]
    wrapper = lines.partition("mine =")[0]
    assert sum(map(bool, wrapper.splitlines())) == 5
    before = "import torch, unweave, my_model\ndata = unweave.load('my_data:Crosses')\ntrained = my_model.Trained()\n"
    after = (
        "images = data.sample(3, torch.Generator()).images\n"
        "assert mine.decode(mine.encode(images)).shape == images.shape\n"
    )
    done = subprocess.run([sys.executable, "-c", before + lines + after], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_a_model_that_was_trained_elsewhere_is_adopted(tmp_path: Path) -> None:
    """The lines of the page, in the folder of the files, and then a figure of the run by the command line."""
    for path in EXAMPLES:
        shutil.copy(path, tmp_path)
    lines = re.findall(r"```py\n(trained = .*?)```", PAGE, re.DOTALL)[0]
    before = (
        "import torch, unweave, my_model, my_data\n"
        "torch.save(my_model.Trained().state_dict(), 'trained.pt')\n"
        "data = unweave.load('my_data:Crosses')\n"
    )
    after = "images = data.sample(3, torch.Generator()).images\nassert run.reconstruct(images).shape == images.shape\n"
    done = subprocess.run([sys.executable, "-c", before + lines + after], cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    program = str(Path(sys.executable).with_name("unweave"))
    words = ["figure", "traversals", "mine", "--trust", "--store", "runs", "--out", "mine.png"]
    drawn = subprocess.run([program, *words], cwd=tmp_path, capture_output=True, text=True)
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "mine.png").exists()
