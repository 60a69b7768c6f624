from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from unweave.data.files.factor_columns import as_floats, is_number, missing_in, parse_column
from unweave.errors import InputError


def objects(*entries: Any) -> np.ndarray[Any, Any]:
    return np.array(entries, dtype=object)


class NAType:
    """Stands for pandas.NA, whose comparisons cannot be taken as true or false."""

    def __eq__(self, other: object) -> bool:
        raise TypeError("boolean value of NA is ambiguous")

    __hash__ = None  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("column", "kind", "values"),
    [
        (np.array(["1", "02", "-3"]), "i", [1, 2, -3]),
        (np.array(["1", "2.5", "1e3"]), "f", [1.0, 2.5, 1000.0]),
        (np.array(["red", "blue"]), "U", ["red", "blue"]),
        (np.array([b"red", b"bl\xc3\xa9"]), "U", ["red", "blé"]),
        (objects(1, 2), "i", [1, 2]),
        (objects("a", True), "U", ["a", "True"]),
        (np.array([True, False]), "b", [True, False]),
        (np.array([2**53, 2**53 + 1]), "i", [2**53, 2**53 + 1]),
        (objects(2**70, 2**70 + 1), "O", [2**70, 2**70 + 1]),
        (np.array([str(2**70), "1"]), "O", [2**70, 1]),
        (np.array([1e20, 0.5]), "f", [1e20, 0.5]),
    ],
)
def test_a_column_is_numbers_or_words(column: np.ndarray[Any, Any], kind: str, values: list[Any]) -> None:
    parsed = parse_column("c", column)
    assert parsed.dtype.kind == kind
    assert parsed.tolist() == values


@pytest.mark.parametrize(
    ("column", "message"),
    [
        (np.array(["1", "x", "3"]), r"numbers and words: row 2 is 'x'\. Correct the entry, or make it a category"),
        (objects(1, "a", 2.5), "numbers and words: row 2 is 'a'"),
        (np.array(["a", "nan"]), "numbers and words: row 1 is 'a'"),
        (np.array([2.0**53 + 2, 1.0]), r"integers beyond 2\^53 stored as floats"),
        (np.array([np.inf, 1.0]), "infinite"),
        (np.array([b"\xff"]), "not text in UTF-8"),
        (np.array(["2020-01-01"], dtype="datetime64[D]"), "must be numbers or words, got datetime64"),
    ],
)
def test_what_could_be_misread_is_refused(column: np.ndarray[Any, Any], message: str) -> None:
    with pytest.raises(InputError, match=message):
        parse_column("c", column)


def test_numbers_and_words_can_be_allowed() -> None:
    assert parse_column("c", np.array(["1", "x", "3"]), mixed=True).tolist() == ["1", "x", "3"]
    assert parse_column("c", np.array(["10", "9"]), mixed=True).tolist() == [10, 9]


def test_integers_that_floats_would_change_are_refused() -> None:
    assert as_floats("c", np.array([2**53, -(2**53)])).tolist() == [2.0**53, -(2.0**53)]
    for column in (np.array([0, 2**53 + 1]), objects(-(2**70), 0)):
        with pytest.raises(InputError, match=r"factor c has integers beyond 2\^53"):
            as_floats("c", column)


def test_a_number_is_what_python_reads_as_one() -> None:
    assert [is_number(word) for word in ("3", " 3.5", "1e-3", "nan", "x", "")] == [True] * 4 + [False] * 2


def test_missing_entries_are_found() -> None:
    assert missing_in(objects(1, None, float("nan"), NAType(), "x", " ")).tolist() == [
        False,
        True,
        True,
        True,
        False,
        True,
    ]
    assert missing_in(np.array(["a", "", "NA", "nan", "n/a", "b"])).tolist() == [False, True, True, True, True, False]
    assert missing_in(np.array([1.0, np.nan])).tolist() == [False, True]
    assert missing_in(np.array([b"", b"x"])).tolist() == [True, False]
    assert missing_in(np.arange(2)).tolist() == [False, False]
