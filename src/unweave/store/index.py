"""The index of a store: its runs in one Parquet file, trusted only where it matches their files.

The files of the runs are the truth. The index is written aside and renamed, is never required, and is rebuilt silently
if it is missing, damaged, or of another version. A row of it counts only if the folder of the run and its state,
configuration and scores have the sizes and the times of their last change that the row has recorded.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import Unavailable, extra, first_line
from unweave.progress import note
from unweave.store.files import atomic_write
from unweave.store.folder import CONFIGURATION, SCORES, STATE
from unweave.store.measurements import Measurement
from unweave.store.record import Record, read_record

if TYPE_CHECKING:
    import pandas

INDEX = "index.parquet"
FORMAT = 4  # of the index
KEY = b"unweave"  # of the metadata of the file
WATCHED = (STATE, CONFIGURATION, SCORES)  # files whose sizes and times a row must match
SETTLED = 2 * 10**9  # nanoseconds; a file that changed less than this before the index was written may change unseen
FEW = 8  # runs that are read one by one before other indexes are asked
PREFIX = "configuration."
FACTS = ("status", "step", "seconds", "psnr", "error", "measured", "left_out", "scoring_failed", "data_name", "sizes")
AS_JSON = ("measured", "left_out", "sizes")


@dataclass(frozen=True)
class RecordTable:
    """The records of some runs of a store, and their configurations by column if there is an index."""

    records: dict[str, Record]
    table: Any = None  # of Arrow, with a row per record, in the same order

    def configurations(self, runs: Sequence[str]) -> pandas.DataFrame:
        """Return a data frame with a row per run and a column per setting, like ``configuration.lr``.

        A setting that has no effect, such as the learning rate of PCA, is missing.
        """
        import numpy
        import pandas

        places = {run: place for place, run in enumerate(self.records)}
        rows = numpy.array([places[run] for run in runs], dtype=int)
        columns = {}
        for name in self.table.column_names if self.table is not None else ():
            if name.startswith(PREFIX):
                values = _decoded(self.table[name], rows)
                if values is not None:
                    columns[name] = values
        return pandas.DataFrame(columns, index=range(len(runs)))


def read_records(store: Path, runs: Iterable[str]) -> RecordTable:
    """Return what the files of runs say, from the index where it matches and from the files elsewhere.

    Without pyarrow, everything is read from the files. It is not imported if the store has none of the runs.
    """
    there = _names_in(store)
    stamps = {name: stamp_of(store / name) if name in there else "" for name in runs}
    return read_stamped(
        store, store, stamps, lambda some: {name: read_record(store / name) for name in some if name in there}
    )


def read_stamped(
    place: Path,
    runs: Path,
    stamps: Mapping[str, str],
    read: Callable[[list[str]], dict[str, Record]],
    others: Callable[[], list[Any]] | None = None,
) -> RecordTable:
    """Return the records of runs, from indexes where they match and from their files otherwise.

    Args:
        place: The folder of the index.
        runs: The folder of the records; the index of a store elsewhere is not kept among them.
        stamps: The stamp of each run, which changes with its files; "" if the store does not have it.
        read: A function that returns the records of those runs that the store has.
        others: A function that returns the tables of further indexes; it is called if more than a few rows are missing.

    Returns:
        One record per run, in the order of ``stamps``.
    """

    def read_now(names: list[str]) -> dict[str, Record]:
        found = read(names)
        return {name: found.get(name) or Record(runs / name) for name in names}

    names = list(stamps)
    if not any(stamps.values()) or find_spec("pyarrow") is None:
        return RecordTable(read_now(names))
    known = _load(place)
    places = _matching(known, stamps)
    more = others is not None and sum(map(bool, stamps.values())) - len(places) > FEW
    if others is not None and more:
        known = joined_tables([*([] if known is None else [known]), *others()])
        places = _matching(known, stamps)
    fresh = read_now([name for name in names if name not in places])
    table = _joined(known, places, fresh, stamps)
    if more or any(stamps[name] for name in fresh):
        _save(place, known, table, of_folder=place == runs)
    return RecordTable({record.name: record for record in _records(runs, table)}, table)


def joined_tables(tables: Sequence[Any], without: Sequence[Any] = ()) -> Any:
    """Return the rows of tables as one, each run with each of its stamps once; None if there are no tables.

    Rows that one of the tables in ``without`` has are left out.
    """
    if not tables:
        return None
    pyarrow, compute = extra("pyarrow", "study"), extra("pyarrow.compute", "study")
    both = pyarrow.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    both = both.filter(compute.not_equal(both["stamp"], "")).combine_chunks()
    known = {row for table in without for row in _rows(table)}
    last = {row: place for place, row in enumerate(_rows(both)) if row not in known}
    return both if len(last) == len(both) else both.take(pyarrow.array(list(last.values()), pyarrow.int64()))


def _rows(table: Any) -> Iterator[tuple[str, str]]:
    return zip(table["run"].to_pylist(), table["stamp"].to_pylist(), strict=True)


def table_content(table: Any) -> bytes:
    """Return a table as the content of a Parquet file."""
    pyarrow, parquet = extra("pyarrow", "study"), extra("pyarrow.parquet", "study")
    sink = pyarrow.BufferOutputStream()
    marked = table.replace_schema_metadata({KEY: _mark()})
    parquet.write_table(marked, sink, compression="zstd", write_page_checksum=True)
    return bytes(sink.getvalue())


def read_table(content: bytes, name: str) -> Any:
    """Return the table in the content of a Parquet file, None if it is damaged or of another version."""
    return _parsed(lambda: extra("pyarrow", "study").BufferReader(content), name)


def _names_in(store: Path) -> set[str]:
    try:
        return {path.name for path in store.iterdir()}
    except OSError:
        return set()


def stamp_of(folder: Path) -> str:
    """Return the sizes and times of the files of a run as a line of text, "" if it has no state."""
    base = str(folder)
    try:
        parts = [f"{os.stat(base).st_mtime_ns}"]  # noqa: PTH116  pathlib costs three times as much
        for name in WATCHED:
            try:
                found = os.stat(f"{base}/{name}")  # noqa: PTH116
                parts.append(f"{found.st_mtime_ns}:{found.st_size}")
            except FileNotFoundError:
                if name == STATE:
                    return ""
                parts.append("-")
    except OSError:
        return ""
    return " ".join(parts)


def _load(store: Path) -> Any:
    """Return the table of an index, None if there is none that this version has written."""
    return _parsed(lambda: store / INDEX, str(store / INDEX))


def _parsed(source: Callable[[], Any], name: str) -> Any:
    """Return the table in a Parquet file, None if there is none that this version has written."""
    pyarrow, parquet = extra("pyarrow", "study"), extra("pyarrow.parquet", "study")
    try:
        file = parquet.ParquetFile(source(), page_checksum_verification=True)
        metadata = file.schema_arrow.metadata or {}
        if metadata.get(KEY) != _mark():
            note(f"{name} was written by another version or program: it is made again.")
            return None
        columns = [column for column in file.schema_arrow.names if column.startswith(PREFIX)]
        file.close()
        table = parquet.read_table(source(), read_dictionary=columns, page_checksum_verification=True)
        types = {field.name: field.type for field in table.schema}
        return table if _types().items() <= types.items() else None
    except FileNotFoundError:
        return None
    except (OSError, ValueError, pyarrow.ArrowException) as error:
        note(f"{name} cannot be read ({first_line(error)}): it is made again.")
        return None


def _types() -> dict[str, Any]:
    """Return the types of the columns that every index has."""
    pyarrow = extra("pyarrow", "study")
    others = {"step": pyarrow.int64(), "scoring_failed": pyarrow.bool_()}
    others |= dict.fromkeys(("seconds", "psnr"), pyarrow.float64())
    return {name: others.get(name, pyarrow.string()) for name in ("run", "stamp", *FACTS)}


def _mark() -> bytes:
    return json.dumps({"index": FORMAT, "unweave": version("unweave")}).encode()


def _matching(known: Any, stamps: Mapping[str, str]) -> dict[str, int]:
    """Return the places of the runs in the index whose files have not changed."""
    if known is None:
        return {}
    return {name: place for place, (name, stamp) in enumerate(_rows(known)) if stamp and stamps.get(name) == stamp}


def _joined(known: Any, places: dict[str, int], fresh: dict[str, Record], stamps: Mapping[str, str]) -> Any:
    """Return the table of all runs that were asked for, in the order of their stamps."""
    pyarrow = extra("pyarrow", "study")
    read = table_of(fresh, stamps)
    tables = [read] if known is None else [known.take(pyarrow.array(list(places.values()), pyarrow.int64())), read]
    both = pyarrow.concat_tables(tables, promote_options="permissive").unify_dictionaries()
    order = {name: place for place, name in enumerate([*places, *fresh])}
    return both.take(pyarrow.array([order[name] for name in stamps], pyarrow.int64())).combine_chunks()


def table_of(records: Mapping[str, Record], stamps: Mapping[str, str]) -> Any:
    """Return records as an Arrow table; each setting of the configurations is a column of JSON texts."""
    pyarrow = extra("pyarrow", "study")
    flat = [{key: json.dumps(value) for key, value in record.configuration.items()} for record in records.values()]
    keys = dict.fromkeys(key for fields in flat for key in fields)
    facts = {name: [getattr(record, name) for record in records.values()] for name in FACTS}
    facts |= {name: list(map(json.dumps, facts[name])) for name in AS_JSON}
    facts |= {"run": list(records), "stamp": [stamps[name] for name in records]}
    columns = {name: pyarrow.array(facts[name], kind) for name, kind in _types().items()}
    for key in keys:
        values = pyarrow.array([fields.get(key) for fields in flat], pyarrow.string())
        columns[PREFIX + key] = values.dictionary_encode()
    return pyarrow.table(columns)


def _records(store: Path, table: Any) -> Iterator[Record]:
    """Yield the records of a table, without their configurations."""
    columns = (table[name].to_pylist() for name in ("run", *FACTS))
    for run, status, step, seconds, psnr, error, measured, left_out, failed, data, sizes in zip(*columns, strict=True):
        scores = tuple(map(Measurement._make, json.loads(measured)))
        facts = (status, step, seconds, psnr, error, scores, _names(left_out), failed, data)
        yield Record(store / run, *facts, sizes=json.loads(sizes))


@lru_cache(maxsize=1024)
def _names(text: str) -> tuple[str, ...]:
    return tuple(json.loads(text))


def _save(place: Path, known: Any, table: Any, *, of_folder: bool) -> None:
    """Write the index: the runs of a table, and the others of the index before it.

    Of an index of the folder that it is in, runs without a folder are left out, and files that have just changed do not
    count: they may change again without being noticed.
    """
    pyarrow = extra("pyarrow", "study")
    new = set(table["run"].to_pylist())
    before = [] if known is None else known["run"].to_pylist()
    others = [at for at, name in enumerate(before) if name not in new and (not of_folder or (place / name).is_dir())]
    table = joined_tables([table, known.take(pyarrow.array(others, pyarrow.int64()))] if others else [table])
    with suppress(Unavailable, OSError), atomic_write(place / INDEX) as aside:  # a store may be read-only
        if of_folder:
            aside.touch()
            now = aside.stat().st_mtime_ns  # the clock of the file system
            stamps = [stamp if _newest(stamp) < now - SETTLED else "" for stamp in table["stamp"].to_pylist()]
            at = table.column_names.index("stamp")
            table = table.set_column(at, "stamp", pyarrow.array(stamps, pyarrow.string()))
        aside.write_bytes(table_content(table))


def _newest(stamp: str) -> int:
    return max(int(part.partition(":")[0]) for part in stamp.split() if part != "-")


def _decoded(column: Any, rows: Any) -> Any:
    """Return a column of JSON texts as a pandas series of values for some rows, None if they all have none."""
    import numpy
    import pandas

    array = column.combine_chunks()
    array = array if hasattr(array, "dictionary") else array.dictionary_encode()
    codes = array.indices.to_numpy(zero_copy_only=False)
    codes = numpy.where(numpy.isnan(codes), -1, codes).astype(int)[rows]
    used = sorted(set(codes.tolist()) - {-1})
    if not used:
        return None
    texts = array.dictionary.to_pylist()
    values = [json.loads(texts[code]) for code in used]
    places = numpy.full(max(used) + 2, len(used))
    places[used] = range(len(used))
    holes = [numpy.nan] if (codes == -1).any() else []
    series = pandas.Series([*values, *holes])
    return series.take(places[codes]).reset_index(drop=True)
