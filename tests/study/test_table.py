from __future__ import annotations

from pathlib import Path

from tests.study.tiny import SPEC
from unweave.store.record import SCORING_ERROR, Record, read_record
from unweave.study.spec import parse_spec
from unweave.study.table import Protocols, row_of

SETTINGS = {"recipe": "vae", "seed": 0}


def test_runs_that_are_missing_or_damaged_are_rows_too(tmp_path: Path) -> None:
    protocols = Protocols(parse_spec(SPEC))
    row = row_of(read_record(tmp_path / "nothing"), SETTINGS, protocols)
    assert (row.state, row.missing, row.scores) == ("not started", ("mig",), {})
    (tmp_path / "run").mkdir()
    (tmp_path / "run" / "state.json").write_text("{")
    row = row_of(read_record(tmp_path / "run"), SETTINGS, protocols)
    assert row.state == "damaged"
    assert "state.json is damaged" in row.error
    assert row.flat()["recipe"] == "vae"


def test_a_run_that_could_not_be_scored_says_why(tmp_path: Path) -> None:
    record = Record(tmp_path, "finished", scoring_failed=True)
    (tmp_path / SCORING_ERROR).write_text("Traceback\n  ...\nunweave.errors.InputError: bins must be at least 2.\n")
    row = row_of(record, SETTINGS, Protocols(parse_spec(SPEC)))
    assert (row.state, row.error) == ("failed", "scoring failed: bins must be at least 2.")
