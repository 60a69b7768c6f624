from __future__ import annotations

from pathlib import Path

import pytest

from tests.training.small import bars, trained
from unweave.errors import InputError, Unavailable
from unweave.training import find_run, read_configuration, read_state, remove_run, runs_in, store_folder
from unweave.training.configuration import configure
from unweave.training.store import State, held, is_held, write_configuration, write_state


def test_where_runs_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    assert store_folder() == Path("runs")
    monkeypatch.setenv("UNWEAVE_STORE", "/elsewhere")
    assert store_folder() == Path("/elsewhere")
    assert store_folder("here") == Path("here")


def test_states_and_configurations_come_back_as_they_were(tmp_path: Path) -> None:
    assert read_state(tmp_path) is None
    state = State("running", 3, "v", 1.5, "", 20.0)
    write_state(tmp_path, state)
    assert read_state(tmp_path) == state
    configuration = configure("tripod", bars(), {})[0]
    write_configuration(tmp_path, configuration)
    assert read_configuration(tmp_path) == configuration
    with pytest.raises(InputError, match="holds another configuration"):
        write_configuration(tmp_path, configure("tripod", bars(), {"seed": 1})[0])


def test_damage_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a run"):
        read_configuration(tmp_path)
    (tmp_path / "configuration.json").write_text('{"recipe": "vae"}')
    with pytest.raises(Unavailable, match="is damaged, or of another version"):
        read_configuration(tmp_path)
    (tmp_path / "state.json").write_text("{")
    with pytest.raises(Unavailable, match="is damaged"):
        read_state(tmp_path)


def test_runs_are_found_by_first_digits_and_removed(tmp_path: Path) -> None:
    assert runs_in(tmp_path / "none") == []
    first, second = (trained(tmp_path, "ae", steps=1, seed=seed) for seed in (0, 1))
    assert set(runs_in(tmp_path)) == {first.folder, second.folder}
    assert find_run(first.name[:8], tmp_path) == first.folder
    assert find_run(str(second.folder), tmp_path / "none") == second.folder
    with pytest.raises(InputError, match="there is no run 'zz'"):
        find_run("zz", tmp_path)
    with pytest.raises(InputError, match="there is no run ''"):
        find_run("", tmp_path)
    remove_run(first.folder)
    assert runs_in(tmp_path) == [second.folder]


def test_what_is_no_run_or_under_way_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "precious").mkdir()
    (tmp_path / "precious" / "configuration.json").write_text("{}")
    with pytest.raises(InputError, match="is not named like a run"):
        remove_run(tmp_path / "precious")
    run = trained(tmp_path, "ae", steps=1)
    assert not is_held(run.folder)
    with held(run.folder):
        assert is_held(run.folder)
        with pytest.raises(InputError, match="being trained by another process"):
            remove_run(run.folder)
    assert run.folder.exists()


def test_a_state_of_the_wrong_kind_is_damage(tmp_path: Path) -> None:
    (tmp_path / "state.json").write_text('{"status": "bogus", "step": 1, "version": "v"}')
    with pytest.raises(Unavailable, match="is damaged"):
        read_state(tmp_path)
