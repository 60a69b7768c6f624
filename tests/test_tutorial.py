"""The tutorials and their notebooks, as a new user follows them: the Python, then the commands in the same folder."""

from __future__ import annotations

import importlib.util
import re
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import run

pytest.importorskip("nbclient")

DOCS = Path(__file__).parents[1] / "docs"
BY = 0.2  # scores may differ from the printed ones on another machine, where sums are rounded differently
BYTES = 400_000  # of a notebook
SPEC = importlib.util.spec_from_file_location("notebooks", DOCS / "notebooks.py")
assert SPEC is not None
assert SPEC.loader is not None
NOTEBOOKS = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(NOTEBOOKS)


def executed(name: str, folder: Path, monkeypatch: pytest.MonkeyPatch, **replaced: str) -> Any:
    """Execute the notebook of a tutorial with other settings, in a kernel that imports this source."""
    monkeypatch.setenv("PYTHONPATH", ":".join(path for path in sys.path if path))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    made = NOTEBOOKS.notebook(name)
    for cell in made.cells:
        for old, new in replaced.items():
            cell.source = re.sub(rf"\b{old}( ?= ?)[\d_]+", rf"{old}\g<1>{new}", cell.source)
    return NOTEBOOKS.execute(made, folder)


def printed(cell: Any) -> str:
    """Return the text that a cell printed or showed."""
    return "".join(output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.outputs)


@pytest.mark.parametrize("name", NOTEBOOKS.TUTORIALS)
def test_a_notebook_has_the_text_of_its_tutorial_and_pictures(name: str) -> None:
    stored = NOTEBOOKS.stored(name)
    made = NOTEBOOKS.notebook(name)
    again = f"run: python docs/notebooks.py {name}"
    assert [(cell.cell_type, cell.source) for cell in stored.cells] == [(c.cell_type, c.source) for c in made.cells], (
        again
    )
    pictures = NOTEBOOKS.pictures(stored)
    assert pictures
    assert all(content.startswith(b"\x89PNG") for content in pictures.values())
    assert (DOCS / f"{name}.ipynb").stat().st_size < BYTES


@pytest.mark.parametrize("name", NOTEBOOKS.TUTORIALS)
def test_a_tutorial_shows_what_its_notebook_printed(name: str) -> None:
    page = (DOCS / f"{name}.md").read_text(encoding="utf-8")
    both = r"^```python\n((?:(?!^```).)*)^```\n\n```text\n(.*?)^```"  # code, and what it prints
    shown = re.findall(both, page, re.DOTALL | re.MULTILINE)
    assert shown
    cells = {cell.source: cell for cell in NOTEBOOKS.stored(name).cells if cell.cell_type == "code"}
    for code, text in shown:
        assert printed(cells[code.strip()]).strip() == text.strip()


def test_the_tutorial_and_its_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = executed("tutorial", tmp_path, monkeypatch, steps="5", null="0")
    assert len(NOTEBOOKS.pictures(done)) == 1
    monkeypatch.chdir(tmp_path)
    (name,) = (path.name for path in Path("runs").iterdir() if path.is_dir() and not path.name.startswith("."))
    page = (DOCS / "tutorial.md").read_text(encoding="utf-8")
    commands = re.findall(r"^unweave .*$", page, flags=re.MULTILINE)
    assert [command.split()[1] for command in commands] == ["runs", "figure", "report", "explore"]
    for command in commands[:3]:  # the last one serves until it is stopped
        words = shlex.split(command.replace("RUN", name[:6]), comments=True)[1:]
        assert run(monkeypatch, *words) == 0, command
    assert Path("traversals.png").is_file()
    report = Path("report.html").read_text(encoding="utf-8")
    assert "data:image/" in report
    assert "measured with 128 samples, and 64 more to test" in report  # of 192 images


@pytest.mark.parametrize(
    ("name", "replaced"),
    [("tutorial-score", {"samples": "300", "null": "0"}), ("tutorial-compare", {"steps": "3"})],
)
def test_the_other_tutorials_work(
    name: str, replaced: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    done = executed(name, tmp_path, monkeypatch, **replaced)
    assert len(NOTEBOOKS.pictures(done)) == 2


@pytest.mark.slow
@pytest.mark.parametrize("name", NOTEBOOKS.TUTORIALS)
def test_a_tutorial_ends_in_the_scores_that_it_prints(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scores(made: Any) -> list[tuple[str, float]]:
        text = "\n".join(printed(cell) for cell in made.cells if cell.cell_type == "code")
        found = re.findall(r"^(mig|dci\S+) +([\d.]+)", text, flags=re.MULTILINE)
        return [(score, float(value)) for score, value in found]

    stored = scores(NOTEBOOKS.stored(name))
    again = scores(executed(name, tmp_path, monkeypatch))
    assert [score for score, _ in again] == [score for score, _ in stored]
    assert [value for _, value in again] == pytest.approx([value for _, value in stored], abs=BY)
