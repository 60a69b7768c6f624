"""The tutorial, as a new user follows it: the Python, then the commands in the same folder."""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run

BY = 0.2  # scores may differ from the printed ones on another machine, where sums are rounded differently
PAGE = (Path(__file__).parents[1] / "docs" / "tutorial.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, flags=re.DOTALL | re.MULTILINE)


def test_the_commands_of_the_tutorial_work_on_its_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, object] = {}
    for block in blocks("python"):
        exec(compile(block.replace("steps=2000", "steps=5"), "tutorial", "exec"), names)
    (name,) = (path.name for path in Path("runs").iterdir() if path.is_dir() and not path.name.startswith("."))
    commands = [line for block in blocks("sh") for line in block.splitlines() if line.startswith("unweave ")]
    assert [command.split()[1] for command in commands] == ["runs", "figure", "report", "explore"]
    for command in commands[:3]:  # the last one serves until it is stopped
        words = shlex.split(command.replace("RUN", name[:6]), comments=True)[1:]
        assert run(monkeypatch, *words) == 0, command
    assert Path("traversals.png").is_file()
    page = Path("report.html").read_text(encoding="utf-8")
    assert "data:image/" in page
    assert "measured with 128 samples, and 64 more to test" in page  # of 192 images


@pytest.mark.slow
def test_the_tutorial_ends_in_the_scores_that_it_prints(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks("python"):
        exec(compile(block, "tutorial", "exec"), names)
    printed = {
        name: float(value) for name, value in re.findall(r"^(mig|dci\S+) +([\d.]+) \(", PAGE, flags=re.MULTILINE)
    }
    assert len(printed) == 4
    assert {name: names["scores"].table[name] for name in printed} == pytest.approx(printed, abs=BY)
    assert names["scores"]["follows"].unfollowed == ()
