"""A run that was scored several times shows the same number everywhere."""

from __future__ import annotations

from pathlib import Path

import pytest

import unweave
from tests.study.tiny import SPEC
from unweave.explore import find_selection
from unweave.explore.description import facts
from unweave.explore.run_table import Table
from unweave.figures.figure import table_of_runs
from unweave.reports.facts import read_facts
from unweave.store import read_record
from unweave.study import Study


def on_the_page(target: str, run: str, **settings: object) -> float:
    table = Table(find_selection(target, trusted=True, **settings))  # type: ignore[arg-type]
    table.read()
    columns = {column["name"]: column["values"] for column in table.look()["columns"]}
    return float(columns["mig"][columns["run"].index(run)])


@pytest.mark.parametrize("samples", [40, 200])
def test_table_report_figure_and_page_agree(copied: Path, tmp_path: Path, samples: int) -> None:
    study = Study(SPEC, store=copied)
    (run,) = study.runs(where={"recipe": "beta_vae", "beta": 4, "seed": 1})
    first = run.scores["mig"].score  # of 60 samples
    second = unweave.score(run, metrics=["mig"], samples=samples, test_samples=30)["mig"].score
    unweave.score(run, metrics=["mig"], samples=samples, test_samples=30, settings={"mig": {"bins": 3}})
    assert first != second
    expected = max((60, first), (samples, second))[1]
    assert read_record(run.folder).scores == {"mig": expected}
    assert run.scores.table == {"mig": expected}
    assert [score.value for score in read_facts(run.folder).scores] == [expected]
    assert table_of_runs([run])["mig"].tolist() == [expected]
    assert on_the_page(str(copied), run.name) == expected
    assert ["mig", f"{expected:.2f}"] in facts(run)
    table = study.table().set_index("run")
    assert table["mig"][run.name] == first  # a study asks for its own protocol
    (tmp_path / "tiny.toml").write_text(SPEC)
    assert on_the_page(str(tmp_path / "tiny.toml"), run.name, store=copied) == first
