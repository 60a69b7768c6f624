"""Place representations among stored results: scores of the same data and protocol, with ranks and intervals."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unweave.data import DataIdentity, FactorData
from unweave.errors import InputError, extra
from unweave.metrics import METRICS, Scores, score_codes
from unweave.metrics.scoring.factor_kinds import read_kinds
from unweave.metrics.scoring.request import ScoringInputs, Source, find_metrics
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.worth import Worth, repeats_of
from unweave.names import spelled, words
from unweave.papers.catalogue import FINDINGS
from unweave.questions._notebook import grid_html
from unweave.reports.facts import protocol_of
from unweave.reports.score_tables import SCORES, stored_scores
from unweave.representation import Codes, Encoder, Representation
from unweave.streams import stream
from unweave.study import Study
from unweave.study.columns import direction_of, with_varied_settings
from unweave.study.results import (
    FINAL,
    Form,
    Grid,
    decimals,
    named_methods,
    title_of,
    write_grids,
)
from unweave.training import Run, open_run, score

if TYPE_CHECKING:
    import pandas

COLUMNS = ("data", "method", "origin", "score", "mean", "low", "high", "runs", "rank", "of")
HERE = "here"  # the origin of what was given
INTERVALS = 100  # half-samples for the interval of a single representation
RUN_COLUMNS = ("run", "state", "step", "seconds", "psnr", "data", "recipe", "seed", "strength")  # which are no settings
LEGEND = (
    "± is half of the 95 % interval: over seeds (Student's t) where there are several runs, over half-samples for a "
    "single one; in brackets, the rank among all rows that have the score. → marks what was given."
)


@dataclass(frozen=True, repr=False)
class Comparison:
    """Scores of representations beside stored ones.

    ``table`` has one row per data set, method (as it is printed) and score: ``origin`` ("here" or the name of a
    finding), ``mean`` over ``runs``, its 95 % interval from ``low`` to ``high``, and the ``rank`` among ``of`` methods,
    where one end is better.
    ``notes`` say how scores were measured, and what could not be compared and why.
    """

    table: pandas.DataFrame
    notes: tuple[str, ...] = ()

    def grids(self) -> list[Grid]:
        """Return the table of each data set as texts for people, the best mean rank first."""
        return [_grid(str(data), part) for data, part in self.table.groupby("data", sort=False)]

    def write(self, form: Form = "text") -> str:
        """Return the tables as text, Markdown ("md"), LaTeX ("latex", with booktabs) or CSV ("csv")."""
        return write_grids(self.table, self.grids(), form)

    def __repr__(self) -> str:
        return "\n".join([self.write(), *self.lines()])

    def lines(self) -> list[str]:
        """Return how the table is read, and the notes."""
        return [LEGEND, *self.notes]

    def _repr_html_(self) -> str:
        return "".join([*map(grid_html, self.grids()), *(f"<p>{escape(line)}</p>" for line in self.lines())])


def compare(
    what: Any,
    data: FactorData | None = None,
    *,
    metrics: Sequence[str] | str | None = None,
    bootstrap: int = INTERVALS,
    store: str | Path | None = None,
    trust: bool = True,
    workers: int | None = None,
) -> Comparison:
    """Score representations as the stored results of the same data were scored, and set both side by side.

    Stored results are those of the findings that come with Unweave (``unweave paper list``). Two scores are comparable
    if data, image size, options of the data, samples, settings of the metric and seed of the scoring are the same. If
    nothing stored is comparable, the notes say why, and the scores have no ranks but those among each other.

    Args:
        what: A run, or its name, label or folder; an encoder; :class:`unweave.Codes`; a :class:`unweave.Study`, whose
            finished runs are compared by method; or several of these, as a list or as a dictionary by name, such as
            the layers of one network.
        data: The data of encoders. For codes, the data that they belong to: as many rows are drawn from them as the
            stored results were measured with.
        metrics: The metrics to compare; by default all that are stored for the data and that have a better end.
        bootstrap: The number of half-samples that the interval of a single representation is found from; slow metrics
            use at most 20.
        store: Where runs are looked up by name.
        trust: Whether runs that need code outside of Unweave are opened, as by :func:`unweave.open`.
        workers: The largest number of threads, by default one per core.

    Returns:
        The comparison.

    Examples:
        >>> import numpy as np, unweave
        >>> factors = np.indices((5, 4)).reshape(2, -1).T.repeat(10, axis=0)  # (200, 2)
        >>> mine = unweave.Codes(-factors, factors, name="mine")
        >>> found = unweave.compare(mine, metrics=["mig"], bootstrap=0)
        >>> found.table[["method", "score", "mean"]].values.tolist()
        [['mine', 'mig', 1.0]]
        >>> found.notes[0]  # doctest: +ELLIPSIS
        'Nothing stored is comparable with mine: codes do not say which data they belong to. ...'
        >>> unweave.compare(["zoo:qlae-rooms3d", "latest"]).write("latex")  # doctest: +SKIP
    """
    asked = None if metrics is None else [metric.name for metric in find_metrics(metrics)]
    if own := [name for name in asked or () if name not in METRICS]:
        raise InputError(f"compare: nothing is stored of {own[0]!r}, a metric of your own; unweave.score computes it.")
    entries = list(_entries(what, data, store, trust))
    if not entries:
        raise InputError("compare: give at least one run, encoder or codes, or a study with finished runs.")
    rows: list[dict[str, Any]] = []
    notes: list[str] = []
    by_data: dict[str, list[_Entry]] = {}
    for entry in entries:
        by_data.setdefault("" if entry.identity is None else json.dumps(entry.identity.canonical()), []).append(entry)
    for same in by_data.values():
        found, told = _compared(same, asked, {"bootstrap": bootstrap, "workers": workers})
        rows += found
        notes += told
    return Comparison(extra("pandas", "study").DataFrame(rows, columns=list(COLUMNS)), tuple(dict.fromkeys(notes)))


@dataclass(frozen=True)
class _Entry:
    """A representation and the row that it belongs to; several seeds of a study belong to one row."""

    method: str
    representation: Representation
    data: FactorData | None  # None for codes that do not say which data they are of
    identity: DataIdentity | None

    @property
    def run(self) -> str:
        """The name of the run, "" if it is none."""
        return self.representation.name if isinstance(self.representation, Run) else ""


def _entries(what: Any, data: FactorData | None, store: str | Path | None, trust: bool) -> Iterator[_Entry]:
    """Yield what was given, each with the name of its row."""
    named: list[tuple[str, Any]] = []
    if isinstance(what, Mapping):
        named = [(str(name), each) for name, each in what.items()]
    else:
        named = [("", each) for each in (what if isinstance(what, list | tuple) else [what])]
    seen: set[str] = set()
    for name, each in named:
        if isinstance(each, Study):
            yield from _of_study(each)
            continue
        if isinstance(each, str | Path):
            each = open_run(each, store=store, trust=trust)
        if not isinstance(each, Representation):
            if data is None:
                raise InputError("compare: pass the data as well; only a run knows the data that it was trained on.")
            each = Encoder(each, data, name=name)
        name = (
            name or each.label or (title_of(f"{each.method} {each.name[:8]}") if isinstance(each, Run) else each.name)
        )
        if name in seen:
            raise InputError(f"compare: two of them are called {name!r}; pass a dictionary with a name for each.")
        seen.add(name)
        if isinstance(each, Codes):
            yield _Entry(name, each, data, None if data is None else data.identity)
        elif isinstance(each, Run) and data is None:
            yield _Entry(name, each, None, each.configuration.data)
        else:
            of = each.data() if data is None else data
            yield _Entry(name, each, of, of.identity)


def _of_study(study: Study) -> Iterator[_Entry]:
    """Yield the finished runs of a study; the row of a run is its recipe with the settings that the study varies.

    If the study has a second stage that has begun, only its runs count, because those of the first chose the settings.
    """
    table = study.table()
    methods = dict(zip(table["run"], named_methods(table), strict=True))
    final = set(table.attrs[FINAL])
    for run in study.runs(lambda row: not final or row.run in final):
        yield _Entry(title_of(methods[run.name]), run, None, run.configuration.data)


Rows = list[dict[str, Any]]


def _compared(entries: list[_Entry], asked: list[str] | None, options: dict[str, Any]) -> tuple[Rows, list[str]]:
    """Return the rows of one data set, and what is to be said about them."""
    identity = entries[0].identity
    title = entries[0].representation.title if identity is None else _data_title(identity)
    stored = _Stored.on(identity, apart_from={entry.run for entry in entries})
    notes = [] if stored.values else [_why_nothing(title, identity)]
    scores: dict[str, list[tuple[float, Worth | None]]] = {}  # by method and score
    measured: dict[str, dict[str, list[tuple[float, Worth | None]]]] = {}
    runs = Counter(entry.method for entry in entries)
    for entry in entries:
        once = {**options, "bootstrap": options["bootstrap"] if runs[entry.method] == 1 else 0}
        scores = measured.setdefault(entry.method, {})
        for each in _measure(entry, stored, asked, once, notes):
            for name, value in each.table.items():
                if asked is not None or direction_of(name):
                    scores.setdefault(name, []).append((value, each.worth.get(name)))
    order = list(dict.fromkeys(name for scores in measured.values() for name in scores))
    rows = [
        {"data": title, "method": method, "origin": HERE, "score": name, **_placed(scores[name])}
        for method, scores in measured.items()
        for name in order
        if name in scores
    ]
    for (origin, method, name), values in stored.rows(order):
        summary = _placed([(value, None) for value in values])
        rows.append({"data": title, "method": method, "origin": origin, "score": name, **summary})
    for name in order:
        same = [row for row in rows if row["score"] == name and math.isfinite(row["mean"])]
        for row in same:
            sign = direction_of(name)
            better = sum(sign * other["mean"] > sign * row["mean"] for other in same)
            row |= {"rank": better + 1 if sign else math.nan, "of": len(same)}
    if stored.values:
        notes += stored.told(title, order)
    return rows, notes


def _placed(values: Sequence[tuple[float, Worth | None]]) -> dict[str, Any]:
    """Return the mean and its 95 % interval: over runs if there are several, over half-samples of a single one."""
    numbers = np.array([value for value, _ in values if math.isfinite(value)])
    mean, low, high = (float(numbers.mean()) if len(numbers) else math.nan), math.nan, math.nan
    worth = values[0][1]
    if len(numbers) > 1:
        from scipy.stats import t

        half = float(t.ppf(0.975, len(numbers) - 1) * numbers.std(ddof=1) / math.sqrt(len(numbers)))
        low, high = mean - half, mean + half
    elif worth is not None and worth.low is not None and worth.high is not None:
        low, high = worth.low, worth.high
    return {"mean": mean, "low": low, "high": high, "runs": len(numbers), "rank": math.nan, "of": 0}


@dataclass(frozen=True)
class _Stored:
    """The stored scores on one data set that were measured in the same way, and how."""

    values: dict[tuple[str, str, str], list[float]]  # by origin, method and score
    protocols: dict[str, dict[str, Any]]  # by metric
    others: dict[str, int]  # by score, how many were measured with another protocol

    @classmethod
    def on(cls, identity: DataIdentity | None, *, apart_from: set[str]) -> _Stored:
        """Read the scores of all findings; of several protocols of a metric, the one with the most runs is taken."""
        found = []
        for origin, finding in FINDINGS.items():
            table = None if identity is None else finding.stored()
            if table is None:
                continue
            scores = [each for each in stored_scores(identity, table) if each.row["run"] not in apart_from]
            methods = _methods(table, list({each.row["run"]: each.row for each in scores}.values()))
            found += [(origin, methods[each.row["run"]], each) for each in scores if each.name != "psnr"]
        counts = Counter((each.name.partition(".")[0], protocol_of(each.protocol)) for _, _, each in found)
        best: dict[str, tuple[Any, ...]] = {}
        for (metric, protocol), _ in counts.most_common():
            best.setdefault(metric, protocol)
        values: dict[tuple[str, str, str], list[float]] = {}
        protocols: dict[str, dict[str, Any]] = {}
        others: Counter[str] = Counter()
        for origin, method, each in found:
            metric = each.name.partition(".")[0]
            if protocol_of(each.protocol) == best[metric]:
                values.setdefault((origin, method, each.name), []).append(each.value)
                protocols[metric] = each.protocol
            else:
                others[each.name] += 1
        return cls(values, protocols, dict(others))

    @property
    def usual(self) -> dict[str, Any]:
        """The protocol of most metrics, for those that nothing is stored of."""
        plain = [{**protocol, "settings": {}} for protocol in self.protocols.values()]
        return max(plain, key=plain.count) if plain else {}

    def rows(self, names: Sequence[str]) -> Iterator[tuple[tuple[str, str, str], list[float]]]:
        """Yield the stored values of these scores."""
        return ((key, values) for key, values in self.values.items() if key[2] in names)

    def told(self, title: str, names: Sequence[str]) -> list[str]:
        """Return what was compared with what, and what was left out."""
        compared = {name for _, _, name in self.values} & set(names)
        lines = []
        for protocol in dict.fromkeys(
            protocol_of({**each, "settings": {}, "source": None}) for each in self._of(names)
        ):
            samples, tested, seed = protocol[:3]
            lines.append(
                f"{title}: measured with {int(samples):,} samples, {int(tested):,} more to test and the seed {seed}, "
                f"as the stored results of {', '.join(dict.fromkeys(o for o, _, n in self.values if n in compared))}."
            )
        for name in names:
            if name not in compared:
                lines.append(f"{title}: nothing is stored of {words(name)}; it has a rank among the given ones only.")
            elif name in self.others:
                lines.append(f"{title}: {self.others[name]} stored runs have {words(name)} of another protocol.")
        return lines

    def _of(self, names: Sequence[str]) -> list[dict[str, Any]]:
        metrics = {name.partition(".")[0] for name in names}
        return [protocol for metric, protocol in self.protocols.items() if metric in metrics]


def _methods(table: pandas.DataFrame, rows: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the method of each run of a stored table: its recipe with the settings in which its runs differ."""
    if not rows:
        return {}
    columns = [str(name) for name in table]
    known = columns[: columns.index("protocol")]  # what follows is measured
    settings = [
        name for name in known if name not in RUN_COLUMNS and not name.startswith("data.") and name not in SCORES
    ]
    frame = extra("pandas", "study").DataFrame(rows, columns=columns)
    named = with_varied_settings(frame, "recipe", settings)
    return dict(zip(frame["run"], map(title_of, named), strict=True))


def _measure(
    entry: _Entry, stored: _Stored, asked: list[str] | None, options: dict[str, Any], notes: list[str]
) -> Iterator[Scores]:
    """Yield the scores of a representation, measured with the protocols of the stored ones."""
    if not stored.values:
        yield _scored(entry, asked or "all", {}, options)
        return
    wanted = list(stored.protocols) if asked is None else asked
    wanted = [name for name in wanted if asked is not None or METRICS[name].best != "neither"]
    calls: dict[str, dict[str, dict[str, Any]]] = {}  # protocols by metric, of metrics that can be measured together
    for name in wanted:
        protocol = stored.protocols.get(name, stored.usual)
        reason = _why_not(entry, name, protocol)
        if reason is not None:
            notes.append(f"{entry.method}: {words(name)} is left out: it {reason}.")
            continue
        shared = {key: protocol[key] for key in ("samples", "test_samples", "seed")}
        shared["source"] = protocol.get("source") or "fresh"
        calls.setdefault(json.dumps(shared), {})[name] = protocol["settings"]
    for text, settings in calls.items():
        yield _scored(entry, list(settings), {**json.loads(text), "settings": settings}, options)


def _why_not(entry: _Entry, metric: str, protocol: Mapping[str, Any]) -> str | None:
    """Return why a metric cannot be computed for a representation as it was for the stored ones, or None."""
    source: Source = "pool" if protocol.get("source") == "pool" else "fresh"
    representation = entry.representation
    if isinstance(representation, Codes):
        rows, needed = len(representation.values), int(protocol["samples"]) + int(protocol["test_samples"])
        if rows < needed:
            return f"needs {needed:,} rows as the stored results have, got {rows:,}"
        if representation.table is None:
            return "needs factors"
        factors, kinds = read_kinds(representation.table, None, None, "drop")
        sparse = isinstance(representation.values, SparseCodes)
        return ScoringInputs.of_table({"codes"}, factors, kinds, source=source, sparse=sparse).why_not(METRICS[metric])
    offers = {"reconstruction"} if representation.decodes else set()
    offers |= {"posterior"} if representation.has_posterior else set()
    data = representation.data() if entry.data is None else entry.data
    return ScoringInputs.of_data(data, offers, source=source).why_not(METRICS[metric])


def _scored(entry: _Entry, metrics: Any, protocol: dict[str, Any], options: dict[str, Any]) -> Scores:
    """Return the scores of a representation by a protocol, by default the usual one."""
    representation = entry.representation
    if not isinstance(representation, Codes) or not protocol:
        data = None if isinstance(representation, Codes) else entry.data
        return score(representation, data, metrics=metrics, **protocol, **_few(options, metrics))
    _check_factors(entry)
    assert representation.factors is not None
    order = torch.randperm(len(representation.values), generator=stream(protocol["seed"], "compared"))
    samples, tested = protocol["samples"], protocol["test_samples"]
    parts = order[:samples].numpy(), order[samples : samples + tested].numpy()
    sample, test = ((representation.values[rows], representation.factors[rows]) for rows in parts)
    assert entry.data is not None  # its factors are on a grid, also where those of the codes have gaps
    kinds = list(entry.data.space.kinds)
    given = {"settings": protocol["settings"], "seed": protocol["seed"], "kinds": kinds, **_few(options, metrics)}
    return score_codes(*sample, test=test, metrics=metrics, discrete=representation.discrete, **given)


def _few(options: dict[str, Any], metrics: Any) -> dict[str, Any]:
    """Return the options with fewer half-samples for slow metrics, as if they were not named."""
    if metrics == "all":
        return options
    placed = [METRICS[name] for name in metrics if METRICS[name].uses_factors]
    return {**options, "bootstrap": repeats_of("bootstrap", options["bootstrap"], placed, every=True)}


def _check_factors(entry: _Entry) -> None:
    """Refuse codes whose factors cannot be those of the data that they are said to belong to."""
    assert isinstance(entry.representation, Codes)
    assert entry.data is not None
    factors, sizes = entry.representation.factors, entry.data.space.sizes
    got = [] if factors is None else [len(column.unique()) for column in factors.T]
    if len(got) != len(sizes) or any(count > size for count, size in zip(got, sizes, strict=False)):
        raise InputError(
            f"compare: the factors of {entry.method} take {', '.join(map(str, got)) or 'no'} values, and those of "
            f"{entry.data.name} {', '.join(map(str, sizes))}: name the data that the codes belong to."
        )


def _why_nothing(title: str, identity: DataIdentity | None) -> str:
    """Return why nothing stored is comparable, and what is stored."""
    if identity is None:
        return (
            f"Nothing stored is comparable with {title}: codes do not say which data they belong to. Name it with "
            "data= (on the command line --data)."
        )
    known: dict[str, None] = {}
    for finding in FINDINGS.values():
        table = finding.stored()
        if table is None or not {"data", "protocol", "state"} <= set(table):
            continue
        options = [name for name in table if str(name).startswith("data.")]
        for row in table[["data", *options]].drop_duplicates().to_dict("records"):
            given = [f"{key.removeprefix('data.')} {row[key]:g}" for key in options if row[key] == row[key]]
            known.setdefault(f"{spelled(row['data'])} ({', '.join(given)})")
    return f"Nothing stored is comparable: no stored run is on {title}. Stored are runs on {', '.join(known)}."


def _data_title(identity: DataIdentity) -> str:
    _, height, width = identity.shape
    more = [f"{key} {value:g}" for key, value in identity.options.items() if key == "spacing"]
    return ", ".join([spelled(identity.label), f"{height} × {width}", *more])


def _grid(data: str, part: pandas.DataFrame) -> Grid:
    """Return the table of one data set as texts: one row per method, the best mean rank first."""
    scores = list(part["score"].unique())
    digits = {name: decimals(part[part["score"] == name]) for name in scores}
    methods = part.groupby(["origin", "method"], sort=False)["rank"].mean()
    order = sorted(methods.index, key=lambda key: (math.isnan(methods[key]), methods[key]))
    cells = {(row.origin, row.method, row.score): row for row in part.itertuples(index=False)}
    rows, best = [], []
    for place, (origin, method) in enumerate(order):
        own = [cells.get((origin, method, name)) for name in scores]
        runs = max(row.runs for row in own if row is not None)
        rows.append(
            [f"→ {method}" if origin == HERE else method, origin, str(runs), *(_text(row, digits) for row in own)]
        )
        best += [(place, column) for column, row in enumerate(own, 3) if row is not None and row.rank == 1 < row.of]
    return Grid(data, ["method", "from", "runs", *(words(name) for name in scores)], rows, best, fixed=3)


def _text(row: Any, digits: Mapping[str, int]) -> str:
    if row is None or math.isnan(row.mean):
        return "–"
    number: Callable[[float], str] = lambda value: f"{value:.{digits[row.score]}f}"  # noqa: E731
    text = number(row.mean) if math.isnan(row.low) else f"{number(row.mean)} ± {number((row.high - row.low) / 2)}"
    rank = "" if math.isnan(row.rank) else f" ({row.rank:.0f}/{row.of})"
    return text.replace("-", "−") + rank
