"""Score a run: measure what has not been measured yet, and store it with the run."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from unweave import metrics as measures
from unweave.data import FactorData, load
from unweave.errors import InputError, whole
from unweave.metrics import Metric, Scores
from unweave.metrics.scoring.catalogue import source_of
from unweave.metrics.scoring.plan import check_groups, tested_with
from unweave.metrics.scoring.request import Source, check_settings, check_source
from unweave.metrics.scoring.vectors import Groups
from unweave.metrics.scoring.worth import RepeatCounts, Repeats, Worth
from unweave.own_code import source_hash
from unweave.plain_json import to_plain
from unweave.representation import Codes, Encoder
from unweave.store.measurements import (
    Entry,
    StoredScores,
    add_scores,
    is_same,
    name_of_data,
    read_scores,
    worth_in,
)
from unweave.training.run import Run


def score(
    encode: Any,
    data: FactorData | str | None = None,
    *,
    metrics: str | Sequence[str | Callable[..., Any]] = "all",
    samples: int = 10_000,
    test_samples: int | None = None,
    source: Source = "pool",
    groups: Groups = None,
    dims_per_latent: int | None = None,
    batch: int = 256,
    settings: Mapping[str, Mapping[str, Any]] | None = None,
    null: Repeats = 0,
    bootstrap: Repeats = 0,
    seed: int = 0,
    workers: int | None = None,
) -> Scores:
    """Score a representation: a run, an encoder with data, or codes with factors.

    The scores of a run are stored with it (``run.scores``) together with their protocol: the data, the samples, the
    settings and the seed. They are not measured again with the same protocol.

    Args:
        encode: A run, :class:`unweave.Encoder` or :class:`unweave.Codes`, or an encoder of your own as
            :func:`unweave.metrics.score` describes it, together with ``data``.
        data: The data set to score on, or its name, as in ``"xysquares,size=32"``; by default the one that the run was
            trained on.
        metrics: Names, functions of your own, or their ``module:name``; ``"all"`` is every metric that applies and does
            not take minutes.
        samples: The number of random images that all label metrics share.
        test_samples: The number of additional test images for metrics that fit and then test; by default half of
            ``samples``, at most 5,000.
        source: Where the BetaVAE and FactorVAE scores and IRS take images that share a factor from: ``"pool"``, the
            images of both samples; or ``"fresh"``, new images for every vote, as published.
        groups: The columns of each latent that is a vector, like ``[[0, 1], [2, 3]]``; every metric treats a group as
            one latent.
        dims_per_latent: Instead of ``groups``, the number of adjacent columns of each latent.
        batch: The number of images that are encoded at once.
        settings: The settings of each metric, by its name: ``{"mig": {"bins": 5}}``.
        null: The number of times that factors are permuted to find the chance level of each score, 0 for none; with
            ``"all"``, slow metrics such as DCI use at most 20. A dictionary gives the number by metric.
        bootstrap: The number of half-samples that the 95 % interval of each score is found from, in the same way, 0 for
            none.
        seed: The seed of the samples and of the metrics.
        workers: The largest number of threads or processes, by default one per core; it does not change the scores.

    Returns:
        The scores by metric; ``left_out`` says why others were not measured.

    Examples:
        >>> import unweave
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> unweave.score(run, metrics=["active_units"], samples=500).table
        {'active_units': 9.0}
        >>> run.scores["active_units"].score  # kept with the run
        9
    """
    data = load(data) if isinstance(data, str) else data
    groups = check_groups(groups, dims_per_latent)
    arguments: dict[str, Any] = {"source": source, "groups": groups, "batch": batch, "workers": workers}
    arguments |= {"null": null, "bootstrap": bootstrap}
    tested = tested_with(whole("samples", samples, at_least=2), test_samples)
    protocol: dict[str, Any] = {"samples": samples, "test_samples": tested, "seed": seed}
    if isinstance(encode, Codes):
        if data is not None:
            raise InputError(f"score: {encode.title} has its own factors; pass no data.")
        given: dict[str, Any] = {"groups": groups, "workers": workers, "null": null, "bootstrap": bootstrap}
        given |= {"metrics": metrics, "settings": settings, "seed": seed}
        return measures.score_codes(encode.values, encode.table, discrete=encode.discrete, **given)
    if isinstance(encode, Encoder):
        encode, data = encode.function, encode.data() if data is None else data
    if not isinstance(encode, Run):
        if data is None:
            raise InputError("score: pass the data as well; only a run knows the data that it was trained on.")
        return measures.score(encode, data, metrics=metrics, settings=settings, **protocol, **arguments)
    data = encode.data() if data is None else data
    settings = check_settings(settings, metrics)
    wanted, left_out = measures.check_metrics(metrics, data, offers=encode.offers, source=check_source(source))
    grouped = {} if groups is None else {"groups": groups}
    protocols = {
        metric.name: _protocol(
            metric, data, encode, {**protocol, **grouped, "settings": settings.get(metric.name, {})}, source
        )
        for metric in wanted
    }
    repeats = RepeatCounts.of(wanted, metrics, null, bootstrap)
    known = read_scores(encode.folder).entries
    missing = [
        m
        for m in wanted
        if not any(is_same(entry, m.name, protocols[m.name]) and _is_placed(entry, repeats) for entry in known)
    ]
    results: dict[str, Any] = {}
    worth: dict[str, Worth] = {}
    notes = dict(repeats.notes)
    if missing:
        named = {metric.name for metric in missing if not metric.own or ":" in metric.name}
        asked = [metric.name if metric.name in named else metric.function for metric in missing]
        left = {metric.name for metric in missing}
        arguments |= {
            "null": {name: count for name, count in repeats.null.items() if name in left},
            "bootstrap": {name: count for name, count in repeats.bootstrap.items() if name in left},
        }
        measured = measures.score(encode, data, metrics=asked, settings=settings, **protocol, **arguments)
        results |= measured
        worth |= measured.worth
        notes |= measured.notes
        # A function without a module cannot be identified again.
        kept = {name: result for name, result in results.items() if name in named}
        add_scores(encode.folder, protocols, Scores(kept, worth=worth))
    for metric in wanted:
        if metric.name not in results:
            found = [entry for entry in known if is_same(entry, metric.name, protocols[metric.name])]
            results[metric.name] = StoredScores(found)[metric.name]
            worth |= worth_in(found[-1]) if null or bootstrap else {}
    return Scores({metric.name: results[metric.name] for metric in wanted}, left_out, data.factor_names, notes, worth)


def _is_placed(entry: Entry, repeats: RepeatCounts) -> bool:
    """Return whether as many permutations and half-samples as asked for are stored with a result."""
    null, bootstrap = repeats.null.get(entry.metric, 0), repeats.bootstrap.get(entry.metric, 0)
    stored = worth_in(entry).values()
    enough = all(w.permutations >= null and w.half_samples >= bootstrap for w in stored)
    return not (null or bootstrap) or (bool(stored) and enough)


def _protocol(
    metric: Metric, data: FactorData, run: Run, measured: Mapping[str, Any], source: Source
) -> dict[str, Any]:
    """Return what a result depends on; for a metric of the user's own, its source file as well."""
    named = source_hash(metric.name) if ":" in metric.name else source_of(metric.name, source)
    plain: dict[str, Any] = to_plain(
        {
            "data": name_of_data(data.identity.canonical()),
            "step": run.step,
            **measured,
            **({} if named is None else {"source": named}),
        }
    )
    return plain
