from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import unweave
from unweave.errors import InputError
from unweave.key_values import names_in, parse, parse_data


def test_values_are_read_as_python_or_words() -> None:
    words = ["a=1", "b=1e-4", "c=true", "d=linear", "e=(1, 2)", "f=x=y"]
    assert parse(words) == {"a": 1, "b": 1e-4, "c": True, "d": "linear", "e": (1, 2), "f": "x=y"}
    with pytest.raises(InputError, match="--term takes KEY=VALUE, got 'kl'"):
        parse(["kl"], "--term")
    with pytest.raises(InputError, match="--set a is given twice"):
        parse(["a=1", "a=2"])


def test_a_data_set_is_written_with_its_options(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert parse_data("xysquares") == ("xysquares", {})
    assert parse_data("xysquares,size=32,grey=true") == ("xysquares", {"size": 32, "grey": True})
    assert parse_data("natural,folder=a,b,whiten=True") == ("natural", {"folder": ["a", "b"], "whiten": True})
    assert parse_data("xysquares,size=32", {"spacing": 2}) == ("xysquares", {"size": 32, "spacing": 2})
    with pytest.raises(InputError, match=r"data.size is given twice, in xysquares,size=32 and beside it"):
        parse_data("xysquares,size=32", {"size": 16})
    monkeypatch.chdir(tmp_path)
    Path("photos,size=32").mkdir()
    assert parse_data("photos,size=32") == ("photos,size=32", {})  # a folder of that name


def test_a_written_data_set_is_loaded_trained_on_and_scored(tmp_path: Path) -> None:
    data = unweave.load("xysquares", size=16)
    assert unweave.load("xysquares,size=16").identity == data.identity
    settings: dict[str, Any] = {"steps": 1, "net": "mlp", "store": tmp_path}
    run = unweave.train("ae", "xysquares,size=16", **settings)
    assert run.name == unweave.train("ae", data, **settings).name
    scores = unweave.score(run, "xysquares,size=16", metrics="mig,sap", samples=100)
    assert scores.table == unweave.score(run, metrics=["mig", "sap"], samples=100).table
    assert list(scores.table) == ["mig", "sap"]


def test_names_are_listed_with_commas() -> None:
    assert names_in("metrics", "mig") == ("mig",)
    assert names_in("metrics", "mig,sap") == names_in("metrics", ["mig", "sap"]) == ("mig", "sap")
    for wrong in (3, "mig,", ["mig", 3], None):
        with pytest.raises(InputError, match="metrics takes names, as in metrics=mig,sap"):
            names_in("metrics", wrong)
