"""Parts that are defined in a cell of a notebook, whose module is ``__main__`` and has no file."""

from __future__ import annotations

import linecache
import sys
from pathlib import Path
from typing import Any

import pytest

import unweave
from tests.training.small import SMALL, bars
from unweave import Study
from unweave.errors import InputError
from unweave.own_code import imported, source_hash

CELL = """
from unweave.terms import Term

class Spread(Term):
    power: int = 2

    def __call__(self, forward):
        return forward.code.z.pow(self.power).mean()

def largest(codes, factors):
    return float(codes.max())
"""


def run_cell(monkeypatch: pytest.MonkeyPatch, text: str, number: int = 1) -> Any:
    """Run a cell as IPython does: in ``__main__``, with its source in the line cache."""
    main, file = sys.modules["__main__"], f"<cell {number}>"
    monkeypatch.setitem(linecache.cache, file, (len(text), None, text.splitlines(keepends=True), file))
    before = {**vars(main)}
    names: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, file, "exec"), names)
    for name in names.keys() - before.keys():
        monkeypatch.setattr(main, name, names[name], raising=False)
    return main


def test_a_term_and_a_metric_of_a_cell_are_tried_with_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    main = run_cell(monkeypatch, CELL)
    with pytest.warns(UserWarning, match=r"Spread of a notebook.*no other process can continue.*%%writefile"):
        run = unweave.train("ae", bars(), store=tmp_path, terms={"__main__:Spread": 0.5}, **SMALL)
    assert run.log[-1]["__main__:Spread"] > 0
    scores = unweave.score(run, bars(), metrics=[main.largest], samples=50)
    assert scores.table == {"largest": pytest.approx(scores["largest"].score)}
    assert unweave.open(run.name, store=tmp_path).name == run.name  # in the same process
    with pytest.raises(InputError, match=r"'Absent' was defined in a notebook or script.*%%writefile"):
        imported("term", "__main__:Absent")  # as in another one


def test_a_changed_cell_is_another_run(monkeypatch: pytest.MonkeyPatch) -> None:
    run_cell(monkeypatch, CELL)
    first = source_hash("__main__:Spread")
    assert first == source_hash("__main__:Spread")
    for changed in (CELL.replace("power: int = 2", "power: int = 3"), CELL.replace(".mean()", ".sum()")):
        names: dict[str, Any] = {"__name__": "__main__"}
        monkeypatch.setitem(linecache.cache, "<other>", (len(changed), None, changed.splitlines(True), "<other>"))
        exec(compile(changed, "<other>", "exec"), names)
        monkeypatch.setattr(sys.modules["__main__"], "Spread", names["Spread"])
        assert source_hash("__main__:Spread") != first


def test_what_workers_cannot_find_is_refused(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    run_cell(monkeypatch, CELL)
    spec = 'name = "x"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\nterms = { "__main__:Spread" = 0.1 }\n'
    with pytest.raises(InputError, match=r"the workers of a study cannot find it.*%%writefile"):
        _ = Study(spec, store=tmp_path).planned
