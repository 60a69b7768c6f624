from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, ClassVar

import pytest
from pydantic import Field

from unweave.data import identity_of
from unweave.errors import InputError
from unweave.own_code import imported, source_hash
from unweave.settings import Settings, choice, keyword_settings, name_in, named


class Small(Settings):
    """Something to set."""

    title: ClassVar[str] = "the small one"
    radius: int = Field(default=3, ge=1)
    shape: str = "disc"


class Large(Settings):
    """Something that holds another."""

    part: Annotated[Small, *choice("part", {"small": Small})]


def test_an_unknown_setting_names_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown setting of the small one 'radios': did you mean 'radius'"):
        Small(radios=3)  # type: ignore[call-arg]


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"radius": 0}, "the small one: radius must be greater than or equal to 1, got 0"),
        ({"radius": "wide"}, "the small one: radius must be a valid integer, .*got 'wide'"),
        ({"radius": float("nan")}, "radius must be a finite number"),
    ],
)
def test_a_wrong_value_is_a_sentence(given: dict[str, object], message: str) -> None:
    with pytest.raises(InputError, match=message):
        Small(**given)  # type: ignore[arg-type]


def test_parts_are_read_by_name_and_written_with_it() -> None:
    large = Large(part={"name": "small", "radius": 5})  # type: ignore[arg-type]
    assert large.part == Small(radius=5)
    assert large.model_dump(mode="json") == {"part": {"name": "small", "radius": 5, "shape": "disc"}}
    assert Large(**large.model_dump(mode="json")) == large
    assert Large(part="small").part == Small()  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown part 'smal': did you mean 'small'"):
        Large(part="smal")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="did you mean 'radius'"):
        Large(part={"name": "small", "radus": 5})  # type: ignore[arg-type]


def test_ones_own_are_found_where_they_lie() -> None:
    assert name_in({"small": Small}, Small) == "small"
    assert name_in({}, Small) == "tests.test_settings:Small"
    assert named("part", "tests.test_settings:Small", {}) is Small
    with pytest.raises(InputError, match=r"'tests.test_settings' has no 'Smal'"):
        imported("part", "tests.test_settings:Smal")
    with pytest.raises(InputError, match="the module 'nowhere' cannot be imported"):
        imported("part", "nowhere:Small")
    with pytest.raises(InputError, match="at the top level of a module"):
        name_in({}, lambda: None)


def test_a_boolean_is_no_number() -> None:
    with pytest.raises(InputError, match="the small one: radius must not be a boolean, got True"):
        Small(radius=True)


def test_modules_of_the_working_directory_are_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("sys.path", [entry for entry in sys.path if entry])
    (tmp_path / "module_of_a_test.py").write_text("class Part:\n    pass\n")
    assert imported("part", "module_of_a_test:Part").__name__ == "Part"
    assert str(tmp_path) not in sys.path
    first = source_hash("module_of_a_test:Part")
    (tmp_path / "module_of_a_test.py").write_text("class Part:\n    size = 3\n")
    assert source_hash("module_of_a_test:Part") != first
    sys.modules.pop("module_of_a_test")
    (tmp_path / "helper_of_a_test.py").write_text("VALUE = 1\ndef helped():\n    return 1\n")
    (tmp_path / "module_of_a_test.py").write_text("from helper_of_a_test import helped\nclass Part:\n    pass\n")
    hashes = []
    for value in (1, 2):
        (tmp_path / "helper_of_a_test.py").write_text(f"def helped():\n    return {value}\n")
        hashes.append(source_hash("module_of_a_test:Part"))
    assert hashes[0] != hashes[1]  # modules that it uses count as well
    sys.modules.pop("module_of_a_test")
    sys.modules.pop("helper_of_a_test")
    with pytest.raises(InputError, match=r"write your own as package.module:name"):
        imported("part", ":Part")


def test_arguments_that_a_class_inherits_are_resolved_where_they_were_written() -> None:
    """``Filter`` is a name of the module of published sets, not of that of 3D Shapes."""
    assert identity_of("shapes3d", filter="bilinear").shape == (3, 64, 64)


def test_a_class_without_arguments_has_no_settings() -> None:
    class Plain:
        """It has no ``__init__`` of its own."""

    assert not keyword_settings(Plain, "plain", required=True).model_fields
