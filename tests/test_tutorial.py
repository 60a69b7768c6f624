"""The tutorial, as a new user follows it: the Python, then the commands in the same folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.cli.running import run

PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_tutorial_work_on_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block.replace("steps=300", "steps=5"), "tutorial", "exec"), names)
    (name,) = (path.name for path in Path("runs").iterdir() if path.is_dir() and not path.name.startswith("."))
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("unweave ")]
    assert [command.split()[1] for command in commands] == ["runs", "figure", "report", "explore"]
    for command in commands[:3]:  # the last one serves until it is stopped
        words = shlex.split(command.replace("RUN", name[:6]), comments=True)[1:]
        assert run(monkeypatch, *words) == 0, command
    assert Path("traversals.png").is_file()
    assert "data:image/" in Path("report.html").read_text(encoding="utf-8")
