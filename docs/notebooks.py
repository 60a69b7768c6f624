"""Make the notebooks of the tutorials from their text: ``python docs/notebooks.py`` executes and writes them."""

from __future__ import annotations

import base64
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

DOCS = Path(__file__).parent
TUTORIALS = ("tutorial", "tutorial-score", "tutorial-compare")
CODE = re.compile(r"^```python\n(.*?)^```\n(?:\n```text\n.*?^```\n)?", re.DOTALL | re.MULTILINE)  # and what it prints
ITSELF = re.compile(r"^As a notebook, .*?\n\n", re.MULTILINE)
KERNEL = {"name": "python3", "display_name": "Python 3"}


def notebook(name: str) -> Any:
    """Return the notebook of a tutorial without outputs: its Python as cells of code, the rest as text.

    Printed output stands in the text of the page only, because a notebook has its own.
    """
    text = ITSELF.sub("", (DOCS / f"{name}.md").read_text(encoding="utf-8"))
    cells: list[Any] = []
    for at, part in enumerate(CODE.split(text)):
        new: Any = nbformat.v4.new_code_cell if at % 2 else nbformat.v4.new_markdown_cell
        if part.strip():
            cells.append(new(part.strip(), id=f"cell-{len(cells)}"))
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": KERNEL})


def execute(made: Any, folder: Path) -> Any:
    """Execute a notebook in a folder and return it with its outputs; a cell that fails is an error."""
    where = {"metadata": {"path": str(folder)}}
    done = NotebookClient(made, resources=where, record_timing=False).execute()
    done.metadata.pop("language_info", None)  # depends on the version of Python
    for cell in done.cells:
        if cell.cell_type == "code":  # lines of progress depend on the machine
            cell.outputs = [output for output in cell.outputs if output.output_type != "display_data"]
    return done


def stored(name: str) -> Any:
    """Return the notebook of a tutorial as it was last executed."""
    return nbformat.read(DOCS / f"{name}.ipynb", as_version=4)


def pictures(made: Any) -> dict[int, bytes]:
    """Return the PNG pictures in a notebook by the number of their cell of code."""
    code = [cell for cell in made.cells if cell.cell_type == "code"]
    found = ((at, output.get("data", {})) for at, cell in enumerate(code) for output in cell.outputs)
    return {at: base64.b64decode(data["image/png"]) for at, data in found if "image/png" in data}


def with_pictures(name: str, markdown: str) -> str:
    """Return the text of a tutorial with each picture of its notebook below the code that draws it."""
    numbers = iter(range(len(CODE.findall(markdown))))
    have = pictures(stored(name))

    def shown(block: re.Match[str]) -> str:
        number = next(numbers)
        return f"{block[0]}\n![What this code draws]({name}-{number}.png)\n" if number in have else block[0]

    return CODE.sub(shown, markdown)


def main() -> None:
    """Execute the tutorials that are named, or all, each in an empty folder."""
    for name in sys.argv[1:] or TUTORIALS:
        with tempfile.TemporaryDirectory() as folder:
            nbformat.write(execute(notebook(name), Path(folder)), DOCS / f"{name}.ipynb")


if __name__ == "__main__":
    main()
