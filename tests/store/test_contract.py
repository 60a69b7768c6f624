"""The promises of every kind of store: a folder of this machine, and an address."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest

from tests.store.test_record import FIELDS, entry
from unweave.store.lock import Busy, locked
from unweave.store.record import Record
from unweave.store.remote.checkout import checked_out
from unweave.store.state import State, write_state
from unweave.store.store import Store

RUN, OTHER = "0123456789abcdef", "fedcba9876543210"


@pytest.fixture(params=["folder", "s3"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> Store:
    """An empty store of each kind."""
    made = Store(tmp_path / "store" if request.param == "folder" else request.getfixturevalue("bucket"))
    made.make()
    return made


def train(store: Store, run: str, status: Any = "finished", **files: str) -> None:
    """Write the files of a run as a worker does, with a state of this status; "" leaves the state as it is."""
    with checked_out(store.address, run) as checkout:
        folder = checkout.store / run
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "configuration.json").write_text(json.dumps(FIELDS))
        for name, content in files.items():
            (folder / name.replace("_", ".")).write_text(content)
        if status:
            write_state(folder, State(status, 10, "v", 2.0, error="no luck" if status == "failed" else ""))


def record(store: Store, run: str) -> Record:
    return store.records([run]).records[run]


def being_trained(store: Store, run: str) -> AbstractContextManager[Any]:
    """Hold a run as the process that trains it does."""
    return locked(store.folder / run) if store.remote is None else store.remote.claims.taken(run)


class TestEveryStore:
    """The promises of a store."""

    def test_a_run_that_was_never_trained_is_not_started(self, store: Store) -> None:
        assert record(store, RUN).state == "not started"
        assert store.damaged() == []

    def test_a_trained_run_is_read_back(self, store: Store) -> None:
        train(store, RUN, scores_json=json.dumps([entry(0.25, step=10)]), model_safetensors="weights")
        found = record(store, RUN)
        assert (found.name, found.state, found.step, found.seconds) == (RUN, "finished", 10, 2.0)
        assert found.scores == {"mig": 0.25}
        frame = store.records([RUN, OTHER]).configurations([OTHER, RUN])
        assert frame["configuration.kl.weight"].fillna(0).tolist() == [0.0, 1.0]

    def test_all_files_of_a_run_can_be_fetched(self, store: Store) -> None:
        train(store, RUN, model_safetensors="weights", log_jsonl="{}")
        folder = store.fetch(RUN)
        assert (folder / "model.safetensors").read_text() == "weights"
        assert {"configuration.json", "state.json", "log.jsonl"} <= {path.name for path in folder.iterdir()}

    def test_a_run_that_is_interrupted_is_stored(self, store: Store) -> None:
        with pytest.raises(KeyboardInterrupt), checked_out(store.address, RUN) as checkout:  # noqa: PT012
            work = checkout.store
            (work / RUN).mkdir(parents=True, exist_ok=True)
            (work / RUN / "configuration.json").write_text(json.dumps(FIELDS))
            write_state(work / RUN, State("interrupted", 4, "v"))
            raise KeyboardInterrupt
        assert (record(store, RUN).state, record(store, RUN).step) == ("interrupted", 4)

    def test_what_is_added_later_is_seen(self, store: Store) -> None:
        train(store, RUN)
        assert record(store, RUN).scores == {}
        train(store, RUN, "", scores_json=json.dumps([entry(0.5, step=10)]))
        assert record(store, RUN).scores == {"mig": 0.5}
        assert record(store, RUN).state == "finished"

    def test_a_run_that_is_being_trained_is_not_set_aside(self, store: Store) -> None:
        train(store, RUN)
        with being_trained(store, RUN):
            assert not store.set_aside(RUN, "why")
            with pytest.raises(Busy), being_trained(store, RUN):
                pass
        assert record(store, RUN).state == "finished"

    def test_damage_is_described_and_does_not_hide_other_runs(self, store: Store) -> None:
        train(store, RUN, scores_json="[{")
        train(store, OTHER)
        found = store.records([RUN, OTHER]).records
        assert [found[run].state for run in (RUN, OTHER)] == ["damaged", "finished"]
        assert "scores.json is damaged" in found[RUN].error

    def test_a_run_that_is_set_aside_can_be_trained_again(self, store: Store) -> None:
        for number in (1, 2):
            train(store, RUN)
            assert store.set_aside(RUN, "why")
            assert record(store, RUN).state == "not started"
            assert store.damaged() == [f"{RUN}-{n + 1}" for n in range(number)]

    def test_failures_are_forgotten_and_finished_runs_are_not(self, store: Store) -> None:
        train(store, RUN, "failed")
        assert (record(store, RUN).state, record(store, RUN).error) == ("failed", "no luck")
        train(store, OTHER, **{"scoring-error_txt": "Traceback"})
        assert record(store, OTHER).scoring_failed
        for run in (RUN, OTHER):
            store.forget_failure(run)
        assert record(store, RUN).state == "not started"
        assert (record(store, OTHER).state, record(store, OTHER).scoring_failed) == ("finished", False)
