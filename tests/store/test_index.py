from __future__ import annotations

import importlib.util
import json
import os
import shutil
import time
from pathlib import Path
from typing import Any

import pandas
import pyarrow
import pyarrow.parquet
import pytest

from tests.study.tiny import SPEC
from tests.training.small import trained
from unweave.store import index as indexing
from unweave.store.folder import runs_in
from unweave.store.index import INDEX, read_records, stamp_of
from unweave.store.record import read_record
from unweave.study import Study


def settle(store: Path) -> list[str]:
    """Date all files of a store an hour back, so that the index trusts them, and return its runs."""
    past = time.time() - 3600
    for path in [*store.glob("*/*"), *store.glob("*")]:
        os.utime(path, (past, past))
    return [run.name for run in runs_in(store)]


def reads(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Return a list that receives the runs whose files are read from now on."""
    read: list[str] = []

    def counted(folder: Path) -> Any:
        read.append(folder.name)
        return read_record(folder)

    monkeypatch.setattr(indexing, "read_record", counted)
    return read


def test_a_method_has_no_settings_without_effect(tmp_path: Path) -> None:
    names = [trained(tmp_path, recipe).name for recipe in ("pca", "beta_vae")]
    frame = read_records(tmp_path, names).configurations(names)
    assert frame["configuration.lr"].isna().tolist() == [True, False]
    assert frame["configuration.samples"].isna().tolist() == [False, True]
    assert frame["configuration.net"].fillna("").tolist() == ["", "conv16"]
    assert frame["configuration.latent.size"].tolist() == [10, 10]


def test_the_table_is_the_same_with_and_without_an_index(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settle(copied)
    study = Study(SPEC, store=copied)
    without = study.table()
    read = reads(monkeypatch)
    pandas.testing.assert_frame_equal(study.table(), without)
    assert read == []
    first = json.loads((copied / without["run"][0] / "configuration.json").read_text())
    assert without["configuration.batch"][0] == first["batch"] == 4
    assert without["configuration.data.shape"][0] == first["data"]["shape"]
    scores = json.loads((copied / without["run"][0] / "scores.json").read_text())
    assert without["mig"][0] == scores[0]["result"]["score"] if "score" in scores[0]["result"] else True
    assert study.status() == {"finished": 6}
    assert read == []


def test_changed_files_are_read_again(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = settle(copied)
    read_records(copied, names)
    read = reads(monkeypatch)
    path = copied / names[0] / "scores.json"
    path.write_text("[]\n")  # in place, which does not touch the folder
    (copied / names[1] / "scoring-error.txt").write_text("why")
    opened = read_records(copied, names)
    assert sorted(read) == sorted(names[:2])
    assert opened.records[names[0]].measured == ()
    assert opened.records[names[1]].scoring_failed


def test_a_wrong_row_is_not_trusted_if_its_files_differ(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = settle(copied)
    read_records(copied, names)
    table = pyarrow.parquet.read_table(copied / INDEX)
    at = table.column_names.index("step")
    wrong = table.set_column(at, "step", pyarrow.array([77] * len(names), pyarrow.int64()))
    pyarrow.parquet.write_table(wrong, copied / INDEX)
    assert read_records(copied, names).records[names[0]].step == 77  # its files are as it says
    os.utime(copied / names[0] / "state.json")
    assert read_records(copied, names).records[names[0]].step == 3


@pytest.mark.parametrize("content", [b"", b"PAR1 not really PAR1", b"x" * 5000])
def test_a_damaged_index_is_made_again(copied: Path, content: bytes) -> None:
    names = settle(copied)
    (copied / INDEX).write_bytes(content)
    assert {record.status for record in read_records(copied, names).records.values()} == {"finished"}
    assert pyarrow.parquet.read_table(copied / INDEX).num_rows == len(names)


def test_a_flipped_byte_is_noticed(copied: Path) -> None:
    names = settle(copied)
    good = read_records(copied, names).records
    content = bytearray((copied / INDEX).read_bytes())
    for place in range(8, len(content) // 2, 97):
        damaged = content.copy()
        damaged[place] ^= 0xFF
        (copied / INDEX).write_bytes(damaged)
        assert read_records(copied, names).records == good


@pytest.mark.parametrize("mark", [None, b'{"index": 2, "unweave": "9.0"}'])
def test_an_index_of_another_version_or_program_is_ignored(
    copied: Path, mark: bytes | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = settle(copied)
    read_records(copied, names)
    table = pyarrow.parquet.read_table(copied / INDEX)
    pyarrow.parquet.write_table(table.replace_schema_metadata({b"unweave": mark} if mark else None), copied / INDEX)
    read = reads(monkeypatch)
    read_records(copied, names)
    assert sorted(read) == sorted(names)
    read.clear()
    read_records(copied, names)
    assert read == []


def test_files_that_changed_a_moment_ago_are_not_trusted(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file system may give two changes within its resolution the same time."""
    names = settle(copied)
    os.utime(copied / names[0] / "state.json")
    read_records(copied, names)
    read = reads(monkeypatch)
    read_records(copied, names)
    assert read == names[:1]


def test_a_copied_store_works(copied: Path, tmp_path: Path) -> None:
    settle(copied)
    before = Study(SPEC, store=copied).table()
    there = tmp_path / "elsewhere"
    shutil.copytree(copied, there, copy_function=shutil.copyfile)  # times are not kept
    shutil.rmtree(copied)
    pandas.testing.assert_frame_equal(Study(SPEC, store=there).table(), before)


def test_runs_of_other_studies_stay_in_the_index_until_they_are_removed(copied: Path) -> None:
    names = settle(copied)
    read_records(copied, names)
    os.utime(copied / names[0] / "state.json", (1, 1))
    shutil.rmtree(copied / names[-1])
    read_records(copied, names[:2])
    assert set(pyarrow.parquet.read_table(copied / INDEX)["run"].to_pylist()) == set(names[:-1])


def test_a_store_that_cannot_be_written_is_read(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(path: Path) -> Any:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(indexing, "atomic_write", full)
    names = settle(copied)
    assert len(read_records(copied, names).records) == 6
    assert not (copied / INDEX).exists()


def test_without_pyarrow_everything_is_read_from_the_files(copied: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        indexing, "find_spec", lambda name: None if name == "pyarrow" else importlib.util.find_spec(name)
    )
    assert Study(SPEC, store=copied).status() == {"finished": 6}
    assert not (copied / INDEX).exists()


def test_a_folder_without_a_state_has_no_stamp(tmp_path: Path) -> None:
    assert stamp_of(tmp_path / "nothing") == stamp_of(tmp_path) == ""
