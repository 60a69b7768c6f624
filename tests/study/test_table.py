from __future__ import annotations

from pathlib import Path

from tests.study.tiny import SPEC
from unweave.study.spec import parse_spec
from unweave.study.table import SCORING_ERROR, Asked, Record, read_row, row_of

SETTINGS = {"recipe": "vae", "seed": 0}


def test_runs_that_are_missing_or_damaged_are_rows_too(tmp_path: Path) -> None:
    spec = parse_spec(SPEC)
    row = read_row(tmp_path / "nothing", SETTINGS, spec)
    assert (row.state, row.missing, row.scores) == ("not started", ("mig",), {})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "state.json").write_text("{")
    row = read_row(tmp_path / "run", SETTINGS, spec)
    assert row.state == "damaged"
    assert "state.json is damaged" in row.error
    assert row.flat()["recipe"] == "vae"


def test_a_run_that_could_not_be_scored_says_why(tmp_path: Path) -> None:
    record = Record("finished", configuration={"recipe": "vae"}, scoring_failed=True)
    (tmp_path / SCORING_ERROR).write_text("Traceback\n  ...\nunweave.errors.InputError: bins must be at least 2.\n")
    row = row_of(record, tmp_path, SETTINGS, Asked(parse_spec(SPEC)))
    assert (row.state, row.error) == ("failed", "scoring failed: bins must be at least 2.")
