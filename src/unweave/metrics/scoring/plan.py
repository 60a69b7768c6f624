"""Encode once, score everything: one sample for all label metrics, and no image of a grid encoded twice."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import nullcontext
from functools import partial
from typing import Any

import numpy as np
from torch import Tensor

from unweave.data import FactorData
from unweave.data.files.factor_tables import Missing, Table
from unweave.errors import InputError, whole
from unweave.metrics.estimators.parallel_fits import limited
from unweave.metrics.scoring.catalogue import Metric
from unweave.metrics.scoring.column_kinds import Kinds, warn_of_whole_floats
from unweave.metrics.scoring.encoded_data import EncodedData
from unweave.metrics.scoring.encoders import Encode, is_discrete, likelihood_of, posterior_of, reconstruction_of
from unweave.metrics.scoring.factor_kinds import FactorKinds, kinds_of_data, missing_note, read_both, read_kinds
from unweave.metrics.scoring.inputs import (
    TEST,
    Codes,
    Factors,
    Floats,
    check_any_codes,
    check_codes,
    check_factors,
    check_seed,
    usable_groups,
)
from unweave.metrics.scoring.request import Names, ScoringInputs, Settings, Source, check_settings, check_source, chosen
from unweave.metrics.scoring.scores import Scores, Value
from unweave.metrics.scoring.sparse_codes import SparseCodes, joined_sparse
from unweave.metrics.scoring.vectors import Groups, columns_of, principal, projection
from unweave.metrics.scoring.worth import RepeatCounts, Repeats, Sample, Worth, worth_of
from unweave.progress import begin, progress


def score_codes(
    codes: Codes,
    factors: Factors | Table | Mapping[str, Any] | None = None,
    *,
    metrics: Names = "all",
    names: Sequence[str] | None = None,
    missing: Missing = "error",
    test: tuple[Codes, Factors] | None = None,
    discrete: bool = False,
    kinds: Kinds | Mapping[str, str] = None,
    groups: Groups = None,
    dims_per_latent: int | None = None,
    settings: Settings | None = None,
    null: Repeats = 0,
    bootstrap: Repeats = 0,
    seed: int = 0,
    workers: int | None = None,
) -> Scores:
    """Score codes (N, D) against factors (N, K), numpy or torch, one row per sample.

    Codes may be sparse, scipy's CSR or CSC or torch's: metrics that are defined for them cost time in proportion to
    the active entries and score as with the dense array; the others are left out, or refused if they were named. The
    BetaVAE and FactorVAE scores and IRS draw samples that share a factor from the given ones.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors: an array (N, K), NaN or None where one is missing, or a DataFrame or a
            dictionary of columns, each of its own kind. A row without a value is left out of that factor. Without
            factors, metrics that need no labels are measured.
        metrics: Names, functions ``(codes, factors, *, settings)`` of your own, or their ``module:name``; ``"all"`` is
            every metric that needs nothing more and does not take minutes.
        names: The names of the factors, if they have none.
        missing: What happens to missing values of a DataFrame or dictionary: "error" refuses them with column and
            count, and "drop" leaves these rows out of that factor.
        test: Codes and factors of another sample, for metrics that fit and then test. Without it, they split the given
            sample.
        discrete: Whether every latent takes one of a few values.
        kinds: The kind of each factor, ``"categorical"``, ``"ordered"`` or ``"continuous"``, as a list, or by column
            or name; by default columns of floats are continuous, integers are values on a grid, and words are
            categorical.
        groups: The columns of each latent that is a vector, like ``[[0, 1], [2, 3]]``; every metric treats a group as
            one latent, as :mod:`unweave.metrics.scoring.vectors` describes.
        dims_per_latent: Instead of ``groups``, the number of adjacent columns of each latent.
        settings: The settings of each metric, by its name: ``{"mig": {"bins": 5}}``.
        null: The number of times that factors are permuted to find the chance level of each score and its p-value; 0
            for none. ``scores.worth`` has them by the name of the score. With ``"all"``, slow metrics such as DCI use
            at most 20, and ``scores.notes`` says so. A dictionary gives the number by metric.
        bootstrap: The number of half-samples that the 95 % interval of each score is found from, in the same way; 0 for
            none.
        seed: The seed of splits and of fits.
        workers: The largest number of threads or processes, by default one per core; it does not change the scores.

    Returns:
        The scores by metric; ``left_out`` says why others were not measured.

    Examples:
        >>> import numpy as np, unweave
        >>> factors = np.indices((5, 4)).reshape(2, -1).T.repeat(10, axis=0)  # (200, 2)
        >>> scores = unweave.score_codes(-factors, factors, metrics=["mig", "sap"], names=["x", "y"])
        >>> scores.table["mig"], scores["sap"].per_factor.shape
        (1.0, (2,))
    """
    settings = check_settings(settings, metrics)
    checked, seed = check_any_codes("score_codes", codes), check_seed(seed)
    sparse = isinstance(checked, SparseCodes)
    codes = checked if sparse else codes
    groups = check_groups(groups, dims_per_latent)
    groups = usable_groups("score_codes", checked, groups)
    columns_of("score_codes", groups, checked.shape[1])  # raises if they do not fit
    there, declared = ScoringInputs({"codes"}, sparse=sparse), FactorKinds()
    if factors is not None:
        if isinstance(test, tuple | list) and len(test) == 2:
            factors, test_factors, declared = read_both(factors, test[1], names, kinds, missing)
            test = (test[0], test_factors)
        else:
            factors, declared = read_kinds(factors, names, kinds, missing)
        table = check_factors("score_codes", factors)
        if len(table) != len(checked):
            raise InputError(f"score_codes: got {len(checked):,} codes but {len(table):,} rows of factors.")
        there = ScoringInputs.of_table({"codes"}, table, declared, sparse=sparse)
        warn_of_whole_floats(declared.whole_floats)
    wanted, left_out = chosen(metrics, there)
    common = {
        "seed": seed,
        "discrete": _checked_flag("discrete", discrete),
        "kinds": declared.declared or None,
        "groups": groups,
        "names": declared.names or None,
    }

    measured = _Measured(metrics, settings, declared, left_out, RepeatCounts.of(wanted, metrics, null, bootstrap, seed))
    if factors is not None:
        measured.scores.notes.update(missing_note(declared.names, table))
    if sparse and (never := int((checked.counts == 0).sum())):
        measured.scores.notes["latents that are never active"] = f"{never:,} of {checked.shape[1]:,}"
    with limited(workers):
        for metric in wanted:
            if not sparse and (reason := _slow(metric, metrics, checked.shape[1])):
                left_out[metric.name] = reason
                continue
            given = {**common, **({"test": test} if test is not None and metric.needs == "labels" else {})}
            arguments: tuple[Any, ...] = (codes, factors)
            if metric.needs == "codes":
                arguments = (principal(metric.name, checked, groups),)
            if metric.name == "follows" and groups is not None:
                arguments = (principal(metric.name, checked, groups), factors)
            if metric.needs == "pool" and test is not None:
                arguments = _joined(metric.name, (codes, factors), test)
            measured.add(metric, arguments, given)
    return measured.scores


def score(
    encode: Encode,
    data: FactorData,
    *,
    metrics: Names = "all",
    samples: int = 10_000,
    test_samples: int | None = None,
    source: Source = "pool",
    groups: Groups = None,
    dims_per_latent: int | None = None,
    batch: int = 256,
    settings: Settings | None = None,
    null: Repeats = 0,
    bootstrap: Repeats = 0,
    seed: int = 0,
    workers: int | None = None,
) -> Scores:
    """Score an encoder, which can be any callable from images to codes, on a data set.

    Reconstructions are those of the first 1,000 images of the sample, or of as many as the setting ``most`` of a metric
    says. No image of a deterministic grid is encoded
    twice. Metrics that choose their images, such as the local ones, encode what their own settings say; they are
    computed only by name.

    Args:
        encode: A function from float images in [0, 1], (B, C, H, W), to codes (B, D). A module is put into evaluation
            mode and given images on its own device. If it has ``discrete``, ``reconstruct`` or ``posterior``, these are
            used as :mod:`unweave.metrics.scoring.encoders` describes.
        data: The data set to draw images from.
        metrics: As in :func:`score_codes`.
        samples: The number of random images that all label metrics share; from a table of your own images, each is
            drawn once.
        test_samples: The number of additional test images for metrics that fit and then test; by default half of
            ``samples``, at most 5,000.
        source: Where the BetaVAE and FactorVAE scores and IRS take images that share a factor from: ``"pool"``, the
            images of both samples; or ``"fresh"``, new images for every vote, as published, which are 2,890,000 with
            the published settings.
        groups: As in :func:`score_codes`.
        dims_per_latent: As in :func:`score_codes`.
        batch: The number of images that are encoded at once.
        settings: As in :func:`score_codes`, for example
            ``{"local_mig": {"rho": [0.1, 0.5]}, "dci": {"importance": "forest"}}``.
        null: As in :func:`score_codes`; metrics of chosen images have no chance level.
        bootstrap: As in :func:`score_codes`.
        seed: The seed of the samples and of the metrics.
        workers: As in :func:`score_codes`.

    Returns:
        The scores by metric; ``left_out`` says why others were not measured.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import score
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> scores = score(lambda images: images.mean((2, 3)), data, metrics=["mig"], samples=500)
        >>> scores.table["mig"] < 0.05  # the mean colours are the same wherever the squares are
        True
    """
    settings = check_settings(settings, metrics)
    samples, source = whole("samples", samples, at_least=2), check_source(source)
    test_samples = whole("test_samples", tested_with(samples, test_samples), at_least=1)
    batch, seed = whole("batch", batch, at_least=1), check_seed(seed)
    offers = {"reconstruction"} if reconstruction_of(encode) else set()
    offers |= {"posterior"} if posterior_of(encode) else set()
    wanted, left_out = check_metrics(metrics, data, offers=offers, source=source)
    kinds = kinds_of_data(data)
    warn_of_whole_floats(kinds.whole_floats)
    encoded = EncodedData(encode, data, samples=samples, test_samples=test_samples, batch=batch, seed=seed)
    groups = check_groups(groups, dims_per_latent)
    common: dict[str, Any] = {
        "seed": seed,
        "discrete": is_discrete(encode),
        "kinds": kinds.declared or None,
        "groups": groups,
        "names": kinds.names or None,
    }
    if (likelihood := likelihood_of(encode)) is not None:
        common["likelihood"] = likelihood

    measured = _Measured(metrics, settings, kinds, left_out, RepeatCounts.of(wanted, metrics, null, bootstrap, seed))
    if data.labels is not None:
        measured.scores.notes.update(missing_note(kinds.names, data.labels.numpy()))
    with limited(workers):
        for metric in wanted:
            if metric.most_latents and (reason := _slow(metric, metrics, encoded.sample.codes.shape[1])):
                left_out[metric.name] = reason
                continue
            begin(f"scoring {metric.name}")
            given = dict(common)
            if metric.needs == "labels" and "test" in metric.takes and not _splits_itself(metric, settings):
                given["test"] = tuple(encoded.test_sample)
            arguments = _arguments(metric, encoded, data, settings, source)
            if groups is not None and (metric.needs == "codes" or metric.name == "follows"):
                arguments = (principal(metric.name, arguments[0], groups), *arguments[1:])
            if groups is not None and callable(arguments[0]):
                project = projection(metric.name, encoded.sample.codes, given.pop("groups"))
                arguments = partial(_projected, encoded, project), *arguments[1:]
            measured.add(metric, arguments, given)
    return measured.scores


class _Measured:
    """Results as they are computed, each from the factors that its metric can use."""

    def __init__(
        self, names: Names, settings: Settings, kinds: FactorKinds, left_out: dict[str, str], repeats: RepeatCounts
    ) -> None:
        self.scores = Scores({}, left_out, kinds.names, dict(repeats.notes))
        self._names, self._settings, self._kinds, self._repeats = names, settings, kinds, repeats

    def add(self, metric: Metric, arguments: tuple[Any, ...], given: dict[str, Any]) -> None:
        """Compute a metric; one of "all" that can use none of the factors is left out."""
        if self._kinds.mixed and len(arguments) == 2 and not callable(arguments[0]) and metric.uses_factors:
            try:
                arguments, note = self._kinds.restrict(metric, arguments)
                if note:
                    given = {**given, "kinds": None}
                    if given.get("test") is not None:
                        given["test"] = self._kinds.restrict(metric, given["test"])[0]
            except InputError as error:
                if self._names != "all":
                    raise InputError(f"{metric.name}: {error}.") from error
                self.scores.left_out[metric.name] = str(error)
                return
            if note:
                self.scores.notes[metric.name] = note
        result = self.scores.results[metric.name] = _computed(metric, arguments, given, self._settings)
        try:
            self.scores.worth.update(_worth(metric, arguments, given, self._settings, result, self._repeats))
        except InputError as error:  # of a permutation or a half-sample; the score itself is there
            self.scores.notes[f"chance and interval of {metric.name}"] = (
                f"not measured, because a permutation or a part of the rows cannot be scored: {error}"
            )


def check_metrics(
    metrics: Names, data: FactorData, *, offers: Collection[str] = (), source: Source = "pool"
) -> tuple[list[Metric], dict[str, str]]:
    """Return the metrics to compute on a data set, and those of "all" that are left out with the reason.

    Args:
        metrics: The metrics, as in :func:`score`. One that is named and cannot be computed is an error.
        data: The data set.
        offers: What the encoder has besides codes, of "reconstruction" and "posterior".
        source: Where scores by intervention take images from, as in :func:`score`.

    Returns:
        The metrics, and by name why others are left out.
    """
    if not isinstance(data, FactorData):
        raise InputError(f"score: data must be a data set, as unweave.load returns, got {type(data).__name__}.")
    return chosen(metrics, ScoringInputs.of_data(data, offers, source=source))


def _projected(encoded: EncodedData, project: Callable[[Floats], Floats], points: Tensor) -> Floats:
    """Return the codes of points with one column per latent."""
    return project(encoded(points))


def check_groups(groups: Groups, dims_per_latent: int | None) -> Groups:
    """Return the groups of columns, which can be given in two ways."""
    if groups is not None and dims_per_latent is not None:
        raise InputError("give groups or dims_per_latent, not both.")
    return groups if dims_per_latent is None else whole("dims_per_latent", dims_per_latent, at_least=1)


def tested_with(samples: int, test_samples: int | None) -> int:
    """Return the number of test images: the given one, or half of the samples, at most the published 5,000."""
    return max(1, min(TEST, samples // 2)) if test_samples is None else test_samples


def _joined(metric: str, sample: tuple[Any, Any], test: tuple[Codes, Factors]) -> tuple[Any, Any]:
    """Return the codes and factors of both samples together."""
    pairs = [(check_any_codes(metric, codes), check_factors(metric, factors)) for codes, factors in (sample, test)]
    for side in zip(*pairs, strict=True):
        if len({part.shape[1] for part in side}) > 1:
            raise InputError(f"{metric}: the two samples have different numbers of columns.")
    codes = [side for side, _ in pairs]
    sparse = any(isinstance(side, SparseCodes) for side in codes)
    return joined_sparse(codes) if sparse else np.concatenate(codes), np.concatenate([side for _, side in pairs])


def _arguments(
    metric: Metric, encoded: EncodedData, data: FactorData, settings: Settings, source: Source
) -> tuple[Any, ...]:
    """Return what the metric's function is called with."""
    if metric.needs == "pool" and source == "pool":
        return tuple(encoded.pool)
    if metric.needs in ("pool", "intervention"):
        encoded.start(metric.name)
        return encoded, data.space
    if metric.needs in ("labels", "codes"):
        sample = encoded.joined if _splits_itself(metric, settings) else encoded.sample
        return tuple(sample) if metric.needs == "labels" else (sample.codes,)
    if metric.needs == "reconstruction":
        most = settings.get(metric.name, {}).get("most")
        return (encoded.images, encoded.reconstructions) if most is None else encoded.reconstructed(most)
    mean, logvar = encoded.posterior
    if metric.needs == "posterior":
        return mean, logvar
    held = len(encoded.images)
    return encoded.images, encoded.reconstructions, mean[:held], logvar[:held]


def _slow(metric: Metric, metrics: Names, latents: int) -> str | None:
    """Return why "all" leaves a metric out that takes minutes with so many latents, or None."""
    if metrics != "all" or metric.most_latents is None or latents <= metric.most_latents:
        return None
    return f'not part of "all" because it takes minutes with {latents:,} latents; request it by name'


def _splits_itself(metric: Metric, settings: Settings) -> bool:
    given = settings.get(metric.name, {})
    return any(given.get(name) == value for name, value in metric.splits_itself.items())


def _computed(
    metric: Metric, arguments: tuple[Any, ...], common: dict[str, Any], settings: Settings, *, shown: bool = True
) -> Any:
    """Call a metric with its own settings and those of the common ones that it takes."""
    given = {name: value for name, value in common.items() if name in metric.takes}
    given |= settings.get(metric.name, {})
    if callable(arguments[0]):
        return metric.function(*arguments, **given)  # it encodes images itself, with its own progress bar
    with progress(f"scoring {metric.name}", None) if shown else nullcontext():
        if not metric.own:
            return metric.function(*arguments, **given)
        codes, factors = arguments
        return _own_result(
            metric, metric.function(check_codes(metric.name, codes), check_factors(metric.name, factors), **given)
        )


def _worth(
    metric: Metric,
    arguments: tuple[Any, ...],
    given: dict[str, Any],
    settings: Settings,
    result: Any,
    repeats: RepeatCounts,
) -> dict[str, Worth]:
    """Return what the scores of a result are worth, nothing for metrics of other things than codes and factors."""
    null, bootstrap = repeats.null.get(metric.name, 0), repeats.bootstrap.get(metric.name, 0)
    if not (null or bootstrap) or callable(arguments[0]):
        return {}
    pairs = [arguments, given["test"]] if given.get("test") is not None and "test" in metric.takes else [arguments]
    samples = [(check_any_codes(metric.name, codes), check_factors(metric.name, factors)) for codes, factors in pairs]

    def compute(drawn: list[Sample]) -> Any:
        test = {"test": drawn[1]} if len(drawn) > 1 else {}
        return _computed(metric, drawn[0], {**given, **test}, settings, shown=False)

    counts = {"null": null, "bootstrap": bootstrap, "seed": repeats.seed}
    return worth_of(metric.name, metric.best, result, compute, samples, **counts)


def _own_result(metric: Metric, result: Any) -> Any:
    score = getattr(result, "score", result)
    try:
        number = float(score)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"metric {metric.name!r} must return a number, or an object with a number as .score, got {score!r}."
        ) from error
    return result if hasattr(result, "score") else Value(number)


def _checked_flag(name: str, value: Any) -> bool:
    if not isinstance(value, bool):
        raise InputError(f"{name} must be True or False, got {value!r}.")
    return value
