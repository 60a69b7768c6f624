"""``unweave score``: score runs, or codes and factors from files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.table import Table

from unweave.cli.options import (
    Json,
    Quiet,
    RunNames,
    Seed,
    Store,
    Trust,
    Verbose,
    console,
    open_runs,
    parse,
    print_json,
)
from unweave.errors import InputError

if TYPE_CHECKING:
    from unweave.metrics import Scores
    from unweave.training import Run


def score(
    runs: RunNames = None,
    codes: Annotated[
        Path | None, typer.Option(help="Instead of runs: codes (N, D), an .npy or .csv file with one row per sample.")
    ] = None,
    factors: Annotated[
        Path | None, typer.Option(help="With --codes: factors (N, K), an .npy or .csv file with one row per sample.")
    ] = None,
    metrics: Annotated[
        list[str] | None,
        typer.Option(
            "--metric",
            help="A metric's name, or module:name for one of your own; can be repeated.",
            show_default="all that can be computed",
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting of a metric, as in dci.importance=forest; can be repeated."),
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
    discrete: Annotated[
        bool, typer.Option("--discrete", help="With --codes: every latent takes one of a few values.")
    ] = False,
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
    """Score runs, or codes against factors.

    Without --metric, all metrics that apply are computed, and the others are listed with the reason. The scores of a
    run are stored with it and are not measured again with the same settings. With --json, only scores are printed:
    a metric that was not computed has no entry.
    """
    if workers is not None and workers > (cores := os.cpu_count() or 1):
        raise InputError(f"--threads must be at most the number of cores of this machine, {cores}, got {workers}.")
    if bool(runs) == (codes is not None):
        raise InputError("give either runs, or --codes FILE (and --factors FILE).")
    if runs and (factors is not None or discrete):
        raise InputError("--factors and --discrete can be used with --codes only: a run knows its data and latent.")
    common: dict[str, Any] = {"metrics": metrics or "all", "settings": _by_metric(settings), "seed": seed}
    common |= {} if dims_per_latent is None else {"dims_per_latent": dims_per_latent}
    if codes is not None:
        if samples is not None or test_samples is not None or source is not None:
            raise InputError(
                "--samples, --test-samples and --source can be used with runs only: all rows of --codes are used."
            )
        _score_codes(codes, factors, as_json, {**common, "discrete": discrete, "workers": workers})
        return
    sizes = {"samples": samples, "test_samples": test_samples, "source": source}
    common |= {name: value for name, value in sizes.items() if value is not None}
    _score_runs(open_runs(runs or [], store, trust=trust), as_json, {**common, "workers": workers})


def print_scores(scores: Scores) -> None:
    """Print every score with its range and direction, and then which metrics were left out and why."""
    from unweave.metrics import METRICS

    table = Table("metric", "score", "better", "range", box=None, pad_edge=False)
    for name, value in scores.table.items():
        metric, _, part = name.rpartition(".")
        known = METRICS.get(name) or METRICS.get(metric)
        best, limits = (known.best, known.ranges.get(part, known.range)) if known else ("", "")
        table.add_row(name, f"{value:.4f}", best, limits)
    console.print(table)
    _print_left_out({"": scores})


def _score_codes(codes: Path, factors: Path | None, as_json: bool, arguments: dict[str, Any]) -> None:
    from unweave.data.files.factor_tables import read_matrix
    from unweave.metrics import score_codes

    labels = None if factors is None else read_matrix(factors)
    scores = score_codes(read_matrix(codes), labels, **arguments)
    if as_json:
        console.print(scores.table_to_json(), soft_wrap=True, highlight=False)
    else:
        print_scores(scores)


def _score_runs(runs: Sequence[Run], as_json: bool, arguments: dict[str, Any]) -> None:
    from unweave.training import score as score_run

    scored = {run.folder.name: score_run(run, **arguments) for run in runs}
    if as_json:
        print_json({name: json.loads(scores.table_to_json()) for name, scores in scored.items()})
    elif len(scored) == 1:
        print_scores(next(iter(scored.values())))
    else:
        rows = list(dict.fromkeys(row for scores in scored.values() for row in scores.table))
        table = Table("metric", *(name[:8] for name in scored), box=None, pad_edge=False)
        for row in rows:
            values = [scores.table.get(row) for scores in scored.values()]
            table.add_row(row, *("" if value is None else f"{value:.4f}" for value in values))
        console.print(table)
        _print_left_out(scored)


def _print_left_out(scored: Mapping[str, Scores]) -> None:
    """Print which metrics were not computed and why; runs are named where this is not the same for all."""
    runs: dict[tuple[str, str], list[str]] = {}  # by metric and reason
    for run, scores in scored.items():
        for metric, reason in scores.left_out.items():
            runs.setdefault((metric, reason), []).append(run[:8])
    lines: dict[tuple[str, str], list[str]] = {}  # metrics by reason and runs
    for (metric, reason), names in runs.items():
        where = "" if len(names) == len(scored) else f" ({', '.join(names)})"
        lines.setdefault((reason, where), []).append(metric)
    if lines:
        console.print("\nnot computed:")
    for (reason, where), metrics in lines.items():
        console.print(f"  {', '.join(metrics)}: {reason}{where}", soft_wrap=True, highlight=False)


def _by_metric(settings: list[str] | None) -> dict[str, dict[str, Any]]:
    """Group settings such as ``dci.importance`` by their metric."""
    grouped: dict[str, dict[str, Any]] = {}
    for key, value in parse(settings).items():
        metric, _, name = key.rpartition(".")
        if not metric:
            raise InputError(f"--set takes METRIC.SETTING=VALUE, as in mig.bins=5, got {key!r}.")
        grouped.setdefault(metric, {})[name] = value
    return grouped
