"""``unweave score``: score runs, or codes and factors from files."""

from __future__ import annotations

import json
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unweave.cli.command import meant_of_metrics
from unweave.cli.options import (
    CodesFile,
    Discrete,
    FactorKinds,
    FactorsFile,
    GivenCodes,
    Json,
    Missing,
    Quiet,
    RunNames,
    Seed,
    Store,
    Trust,
    Verbose,
    console,
    is_data_option,
    load_data,
    open_representations,
    print_json,
    print_line,
    print_notes,
    print_table,
    several,
)
from unweave.errors import InputError
from unweave.key_values import names_in, parse, split_data
from unweave.plain_json import to_plain

if TYPE_CHECKING:
    from unweave.data import FactorData
    from unweave.metrics import Scores
    from unweave.representation import Representation


def score(
    runs: RunNames = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="The data set, as in xysquares or xysquares,size=32.", show_default="the one runs were trained on"
        ),
    ] = None,
    codes: CodesFile = None,
    factors: FactorsFile = None,
    kinds: FactorKinds = None,
    missing: Missing = "error",
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            callback=several,
            help="A metric's name, or module:name for one of your own; several as in mig,sap, or repeated.",
            show_default="all that can be computed",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of a metric, as in dci.importance=forest, or an option of --data, as in data.size=32; can "
            "be repeated.",
        ),
    ] = None,
    samples: Annotated[
        int | None, typer.Option(help="Number of images to score a run with.", show_default="10000")
    ] = None,
    test_samples: Annotated[
        int | None,
        typer.Option(help="Number of additional test images.", show_default="half of --samples, at most 5000"),
    ] = None,
    source: Annotated[
        str | None,
        typer.Option(
            help="Where scores by intervention take images that share a factor from: pool, the scored images; or "
            "fresh, new images for every vote, as published.",
            show_default="pool",
        ),
    ] = None,
    dims_per_latent: Annotated[
        int | None,
        typer.Option(help="Number of adjacent columns of the codes that form one latent.", show_default="1"),
    ] = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            "--group",
            help="The columns of the codes that form one latent, as in 0-3 or 0,2,5; once for each latent.",
            show_default="one column each",
        ),
    ] = None,
    discrete: Discrete = False,
    matrix: Annotated[
        bool, typer.Option("--matrix", help="Print how much each latent knows about each factor, above chance.")
    ] = False,
    null: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of permutations of the factors to find the chance level from; without "
            "--metric, slow metrics use at most 20.",
        ),
    ] = 0,
    bootstrap: Annotated[
        int,
        typer.Option(
            min=0,
            help="Number of half-samples to find the interval of each score from; without "
            "--metric, slow metrics use at most 20.",
        ),
    ] = 0,
    against: Annotated[
        str | None,
        typer.Option(
            help="With --codes: another library that is installed, sae-lens or disentanglement_lib; the scores that "
            "both have are printed side by side.",
        ),
    ] = None,
    workers: Annotated[
        int | None, typer.Option("--threads", min=1, help="Maximum number of threads.", show_default="one per core")
    ] = None,
    seed: Seed = 0,
    trust: Trust = False,
    store: Store = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Score runs, encoders of your own (module:name with --data), or codes against factors.

    Without --metric, all metrics that apply are computed, and the others are listed with the reason. The scores of a
    run are stored with it and are not measured again with the same settings. With --json, only scores are printed,
    and "worth" with --null or --bootstrap: a metric that was not computed has no entry.
    """
    if workers is not None and workers > (cores := os.cpu_count() or 1):
        raise InputError(f"--threads must be at most the number of cores of this machine, {cores}, got {workers}.")
    sizes = {"samples": samples, "test_samples": test_samples, "source": source}
    if codes is not None and any(value is not None for value in sizes.values()):
        raise InputError("--samples, --test-samples and --source can be used with runs only: all rows are scored.")
    if against is not None:
        ignored = {"--data": data, "--set": settings, "--null": null, "--bootstrap": bootstrap, "--matrix": matrix}
        ignored |= {"--dims-per-latent": dims_per_latent, "--group": groups, "a run": runs}
        if listed := [option for option, value in ignored.items() if value]:
            raise InputError(f"--against compares the usual scores of --codes, without {', '.join(listed)}.")
        _print_against(against, GivenCodes(codes, factors, None, missing, discrete, kinds), metrics, seed, as_json)
        return
    options, others = split_data(parse(settings))
    if options and data is None:
        raise InputError(f"--set data.{next(iter(options))} is an option of a data set: name it with --data.")
    if (listed := others.pop("metrics", None)) is not None:
        metrics = [*(metrics or ()), *names_in("metrics", listed)]
    of_metrics = _by_metric(others, metrics)
    images = None if data is None else load_data(data, options)
    given = GivenCodes(codes, factors, None, missing, discrete, kinds)
    opened = open_representations(runs, given, store, trust=trust, data=images)
    asked: Any = metrics or "all"
    if matrix and metrics and "follows" not in metrics:
        asked = [*metrics, "follows"]
    arguments: dict[str, Any] = {"metrics": asked, "settings": of_metrics, "seed": seed, "workers": workers}
    arguments |= {"null": null, "bootstrap": bootstrap}
    arguments |= {} if dims_per_latent is None else {"dims_per_latent": dims_per_latent}
    arguments |= {"groups": [_columns(group) for group in groups]} if groups else {}
    arguments |= {name: value for name, value in sizes.items() if value is not None}
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always", UserWarning)
        _score(opened, images, as_json, matrix, arguments)
    if not as_json:
        print_notes(images)
        for note in dict.fromkeys(str(each.message) for each in warned):
            print_line(f"note: {note}")


def print_scores(scores: Scores, *, matrix: bool = False) -> None:
    """Print every score with its range and direction, what each latent follows, and what was left out and why."""
    from unweave.metrics.scoring.display import table_rows

    head, *rows = table_rows(scores.table, scores.worth)
    print_table(head, rows)
    for name, note in scores.notes.items():
        print_line(f"{name}: {note}")
    print_follows(scores, matrix=matrix)
    _print_left_out({"": scores})


def print_follows(scores: Scores, title: str = "", *, matrix: bool = False) -> None:
    """Print which factor each latent follows and, with ``matrix``, the numbers of all of them."""
    from unweave.metrics.scoring.display import follow_lines, matrix_lines

    if (found := scores.get("follows")) is not None:
        numbers = ["", *matrix_lines(found), ""] if matrix else [""]
        for line in (*numbers, *([title] if title else ()), *follow_lines(found)):
            print_line(line)


def _score(
    opened: Sequence[Representation],
    data: FactorData | None,
    as_json: bool,
    matrix: bool,
    arguments: dict[str, Any],
) -> None:
    from unweave.metrics.scoring.display import placed
    from unweave.representation import Codes
    from unweave.study.results import Grid
    from unweave.training import Run
    from unweave.training import score as measure

    def name_of(each: Representation) -> str:
        return each.folder.name if isinstance(each, Run) else each.name

    scored = {name_of(each): measure(each, data, **arguments) for each in opened}
    if as_json:
        plain = {name: _plain(scores) for name, scores in scored.items()}
        print_json(plain[name_of(opened[0])] if isinstance(opened[0], Codes) else plain)
    elif len(scored) == 1:
        print_scores(next(iter(scored.values())), matrix=matrix)
    else:
        shown = {each.name[:8] if isinstance(each, Run) else each.name: scored[name_of(each)] for each in opened}
        columns = list(dict.fromkeys(column for scores in shown.values() for column in scores.table))

        def cell(scores: Scores, column: str) -> str:
            return placed(scores.table[column], scores.worth.get(column)) if column in scores.table else ""

        rows = [[name, *(cell(scores, column) for column in columns)] for name, scores in shown.items()]
        for place, part in enumerate(Grid("", ["", *columns], rows, [], fixed=1).fitting(console.width)):
            if place:
                print_line("")
            print_table(part.columns, part.rows)
        for line in _by_run({name: scores.notes for name, scores in shown.items()}):
            print_line(line)
        for name, scores in shown.items():
            print_follows(scores, f"{name}:", matrix=matrix)
        _print_left_out(shown)


def _plain(scores: Scores) -> dict[str, Any]:
    """Return the scores by name and, if chance levels or intervals were asked for, these as "worth"."""
    table: dict[str, Any] = json.loads(scores.table_to_json())
    worth = {name: {key: to_plain(value) for key, value in asdict(each).items()} for name, each in scores.worth.items()}
    return table | ({"worth": worth} if worth else {})


def _print_against(library: str, given: GivenCodes, metrics: list[str] | None, seed: int, as_json: bool) -> None:
    """Print the scores that another library has too, as computed by both."""
    from unweave.interop.libraries import compare_with, find_library
    from unweave.representation import Codes

    known = find_library(library)
    if given.codes is None or given.factors is None:
        raise InputError("--against needs --codes FILE and --factors FILE.")
    (opened,) = open_representations(None, given, None, trust=False)
    assert isinstance(opened, Codes)
    pairs = [
        pair
        for pair in compare_with(library, opened.values, opened.table, seed=seed)
        if not metrics or pair.score.partition(".")[0].partition(" ")[0] in metrics
    ]
    if not pairs:
        raise InputError(f"{library} has none of the metrics {', '.join(metrics or ())}.")
    if as_json:
        print_json({pair.score: {"ours": pair.ours, library: pair.theirs} for pair in pairs})
        return
    rows = ((each.score, f"{each.ours:.6f}", f"{each.theirs:.6f}", f"{each.difference:+.1e}") for each in pairs)
    print_table(("score", "Unweave", f"{library} {known.version}".strip(), "difference"), rows)


def _print_left_out(scored: Mapping[str, Scores]) -> None:
    """Print which metrics were not computed and why."""
    if lines := _by_run({name: scores.left_out for name, scores in scored.items()}):
        print_line("\nnot computed:")
    for line in lines:
        print_line(f"  {line}")


def _by_run(told: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Return what each run tells about its metrics; runs are named where they do not all tell the same."""
    runs: dict[tuple[str, str], list[str]] = {}  # by metric and text
    for run, texts in told.items():
        for metric, text in texts.items():
            runs.setdefault((metric, text), []).append(run)
    lines: dict[tuple[str, str], list[str]] = {}  # metrics by text and runs
    for (metric, text), names in runs.items():
        where = "" if len(names) == len(told) else f" ({', '.join(names)})"
        lines.setdefault((text, where), []).append(metric)
    return [f"{', '.join(metrics)}: {text}{where}" for (text, where), metrics in lines.items()]


def _columns(word: str) -> list[int]:
    """Read the columns of a latent, written as 0-3 or 0,2,5."""
    columns: list[int] = []
    for part in word.split(","):
        if not (found := re.fullmatch(r"\s*(\d{1,6})(?:-(\d{1,6}))?\s*", part)):
            raise InputError(f"--group takes columns, as in 0-3 or 0,2,5, got {word!r}.")
        columns += range(int(found[1]), int(found[2] or found[1]) + 1)
    return columns


def _by_metric(settings: Mapping[str, Any], metrics: Sequence[str] | None) -> dict[str, dict[str, Any]]:
    """Group settings such as ``dci.importance`` by their metric."""
    from unweave.metrics import METRICS
    from unweave.settings import key_in

    grouped: dict[str, dict[str, Any]] = {}
    for key, value in settings.items():
        metric, _, name = key.rpartition(".")
        if not metric:
            meant = f"--set data.{key}={value}" if is_data_option(key) else meant_of_metrics(key, value, metrics or ())
            hint = f": did you mean {meant}?" if meant else "."
            raise InputError(f"--set takes METRIC.SETTING=VALUE, as in mig.bins=5, got {key!r}{hint}")
        grouped.setdefault(key_in(METRICS, metric), {})[name] = value
    return grouped
