from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from unweave.data.files.factor_columns import as_floats, is_number, missing_in, parse_column
from unweave.data.files.factor_tables import Table, csv_columns, read_csv, read_matrix, read_table
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


def test_numbers_are_ordered_and_words_are_categories() -> None:
    columns = {"x": [5, -1, 5, 5], "shape": ["disc", "box", "box", "box"], "scale": [0.5, 1, 0.5, 0.5]}
    table = Table.of({name: np.array(column) for name, column in columns.items()})
    assert table.space is not None
    assert table.space.names == ("x", "shape", "scale")
    assert table.space.kinds == ("ordered", "categorical", "ordered")
    assert table.codes.tolist() == [[1, 1, 0], [0, 0, 1], [1, 0, 0], [1, 0, 0]]


def test_whole_numbers_can_be_declared_continuous() -> None:
    table = Table.of({"age": np.arange(6) * 10, "sex": np.array(list("abbaab"))}, {"age": "continuous"})
    assert table.space is None
    assert dict(table.continuous) == {"age": 6}
    assert table.codes[:, 0].tolist() == [0, 10, 20, 30, 40, 50]
    with pytest.raises(InputError, match="factor sex has words, so it cannot be continuous"):
        Table.of({"sex": np.array(list("ab"))}, {"sex": "continuous"})


def test_kinds_can_be_told() -> None:
    table = Table.of({"angle": np.arange(4), "id": np.arange(4)}, {"angle": "cyclic", "id": "categorical"})
    assert table.space is not None
    assert table.space.kinds == ("cyclic", "categorical")


def test_many_fractions_are_continuous_and_kept_as_they_are() -> None:
    values = np.random.default_rng(0).normal(size=100)
    table = Table.of({"angle": values, "n": np.arange(100) % 3})
    assert table.space is None
    assert "angle is continuous, with 100 distinct values" in table.why_no_grid
    assert table.codes.dtype == torch.float64
    assert np.array_equal(table.codes.numpy(), np.stack([values, np.arange(100) % 3], axis=1))


def csv(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "factors.csv"
    path.write_text(text)
    return path


def test_a_csv_is_put_in_the_pictures_order(tmp_path: Path) -> None:
    path = csv(tmp_path, "x,file,shape\n2,b.png,disc\n7,a.png,box\n\n")
    table = read_csv(path, [Path("in/a.png"), Path("in/b.png")], None)
    assert table.space is not None
    assert table.space.names == ("x", "shape")
    assert table.codes.tolist() == [[1, 0], [0, 1]]


@pytest.mark.parametrize("mark", [",", ";", "\t"])
def test_columns_may_be_parted_by_commas_semicolons_or_tabs(tmp_path: Path, mark: str) -> None:
    path = csv(tmp_path, f"File{mark}cls{mark}self\nb.png{mark}1{mark}x\na.png{mark}2{mark}y\n")
    table = read_csv(path, [Path("a.png"), Path("b.png")], None)
    assert table.space is not None
    assert table.space.names == ("cls", "self")
    assert table.codes.tolist() == [[1, 1], [0, 0]]


def test_files_that_are_no_tables_are_named(tmp_path: Path) -> None:
    (tmp_path / "latin.csv").write_bytes("größe\n1\n".encode("latin-1"))
    with pytest.raises(InputError, match="not a text file in UTF-8"):
        read_csv(tmp_path / "latin.csv", None, None)
    with pytest.raises(InputError, match="there is no file"):
        read_csv(tmp_path, None, None)
    with pytest.raises(InputError, match="line 2 cannot be read"):
        read_csv(csv(tmp_path, "x\n" + "9" * 200_000 + "\n"), None, None)
    assert read_csv(csv(tmp_path, "x\n99999999999999999999999\n1\n"), None, None).codes.tolist() == [[1], [0]]


def test_continuous_csv_columns_keep_their_values(tmp_path: Path) -> None:
    table = read_csv(csv(tmp_path, "a,b\n" + "\n".join(f"{i / 7},{i % 2}" for i in range(50))), None, None)
    assert table.space is None
    assert table.codes[3].tolist() == [3 / 7, 1]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "has no rows"),
        ("x,y\n", "no rows of factors"),
        ("x,y\n1,2\n\n3\n", "line 4 has 1 columns but the first has 2"),
        ("x,,y\n1,2,3\n", "each column needs a different name"),
        ("x,x \n1,2\n", "each column needs a different name"),
        ("x,y\n1,\n", "factor y has no values at all"),
        ("x,y\n1,nan\n2,3\n", "values are missing: y has 1 of 2 rows, the first in row 1"),
        ("x,y\n1,a\n,b\n,NA\n", "values are missing: x has 2, y has 1 of 3 rows, the first in row 2"),
        ("file,x\na.png,1\n", r"has no row for b\.png"),
        ("file,x\na.png,1\nb.png,1\nc.png,2\n", r"a missing picture, c\.png"),
        ("file,x\na.png,1\na.png,1\n", "names a picture twice"),
        ("file\na.png\nb.png\n", "no columns"),
    ],
)
def test_a_broken_csv_is_a_sentence(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_csv(csv(tmp_path, text), [Path("a.png"), Path("b.png")], None)


def test_what_cannot_be_a_factor_is_a_sentence() -> None:
    with pytest.raises(InputError, match="did you mean 'angle'"):
        Table.of({"angle": np.arange(3)}, {"angel": "cyclic"})
    with pytest.raises(InputError, match="unknown kind 'circular'"):
        Table.of({"angle": np.arange(3)}, {"angle": "circular"})
    with pytest.raises(InputError, match="kinds must be a dictionary of factors"):
        Table.of({"angle": np.arange(3)}, ["cyclic"])  # type: ignore[arg-type]
    with pytest.raises(InputError, match="unknown kind 'None'"):
        Table.of({"angle": np.arange(3)}, {"angle": None})  # type: ignore[dict-item]
    with pytest.raises(InputError, match="numbers or words"):
        Table.of({"z": np.array([1j, 2j])})
    with pytest.raises(InputError, match="unknown value of missing 'keep'"):
        Table.of({"v": np.arange(3)}, missing="keep")  # type: ignore[arg-type]


def test_each_column_has_its_own_kind_and_missing_values_are_kept_apart() -> None:
    ages = np.random.default_rng(0).normal(size=9)
    columns = {"age": ages, "stage": np.array(["b", "a", "", "b", "a", "b", "a", "b", "a"]), "n": np.arange(9) % 3}
    table = Table.of(columns, missing="drop")
    assert (table.space, table.words, dict(table.missing)) == (None, ("stage",), {"stage": 1})
    assert np.array_equal(table.codes[:, 0].numpy(), ages)
    expected = [1, 0, np.nan, 1, 0, 1, 0, 1, 0]
    np.testing.assert_array_equal(table.codes[:, 1].numpy(), expected)
    assert table.codes[:, 2].tolist() == columns["n"].tolist()
    assert str(table) == "age continuous · stage, 1 missing · n"
    assert table.values["stage"].tolist() == ["a", "b"]


def test_numbers_of_a_grid_are_those_that_were_given() -> None:
    table = Table.of({"size": np.array([3, 10, 3]), "shape": np.array(["box", "disc", "disc"])})
    assert table.numbers.tolist() == [[3, 0], [10, 1], [3, 1]]


@pytest.mark.parametrize("ending", [".csv", ".parquet", ".npz", ".npy"])
def test_tables_are_read_from_files_of_four_kinds(tmp_path: Path, ending: str) -> None:
    import pandas

    frame = pandas.DataFrame({"x": [1, 2, 3], "y": [4, 4, 5]})
    path = tmp_path / f"factors{ending}"
    match ending:
        case ".csv":
            frame.to_csv(path, index=False)
        case ".parquet":
            frame.to_parquet(path)
        case ".npz":
            np.savez(path, labels=frame.to_numpy(), other=np.zeros(2))
        case _:
            np.save(path, frame.to_numpy())
    table = read_table(path)
    assert table.numbers.tolist() == frame.to_numpy().tolist()
    assert table.names == (("x", "y") if ending in (".csv", ".parquet") else ("factor0", "factor1"))


def test_a_first_row_of_words_is_a_row_where_its_words_occur_again(tmp_path: Path) -> None:
    (tmp_path / "words.csv").write_text("red,square\nblue,square\nred,round\n")
    assert len(csv_columns(tmp_path / "words.csv", header_optional=True)["factor0"]) == 3
    (tmp_path / "words.csv").write_text("colour,shape\nblue,square\nred,round\n")
    assert len(csv_columns(tmp_path / "words.csv", header_optional=True)["colour"]) == 2
    with pytest.raises(InputError, match="column colour has words, but numbers are needed"):
        read_matrix(tmp_path / "words.csv")


def test_empty_cells_are_refused_and_large_integers_kept(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a,b\n1,2\n3,\n")
    with pytest.raises(InputError, match="column b has no value in row 2"):
        read_matrix(tmp_path / "t.csv")
    (tmp_path / "t.csv").write_text("9007199254740992\n9007199254740993\n")
    assert len(np.unique(read_matrix(tmp_path / "t.csv"))) == 2
