"""Encode once, score everything: one sample for all label metrics, and no image of a grid encoded twice."""

from __future__ import annotations

import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
import torch
from torch import Tensor

from unweave.data import FactorData, OwnImages
from unweave.errors import InputError, unknown, whole
from unweave.metrics.catalogue import METRICS, Metric
from unweave.metrics.encoders import Encode, evaluating
from unweave.metrics.inputs import Codes, Factors, Floats, check_codes, check_factors, check_seed, continuous_columns
from unweave.progress import progress

Sample = tuple[Floats, Tensor | None]  # codes (N, D) and, where they are known, factors (N, K)
Settings = Mapping[str, Mapping[str, Any]]


@dataclass(frozen=True)
class Scores(Mapping[str, Any]):
    """Results by the metric's name; ``table`` has their numbers, those of several scores as ``dci.completeness``."""

    results: dict[str, Any]

    def __getitem__(self, name: str) -> Any:
        return self.results[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.results)

    def __len__(self) -> int:
        return len(self.results)

    @property
    def table(self) -> dict[str, float]:
        """Every score as a number."""
        numbers = {}
        for name, result in self.results.items():
            scores = METRICS[name].scores
            for score in scores:
                numbers[name if len(scores) == 1 else f"{name}.{score}"] = float(getattr(result, score))
        return numbers

    def to_json(self) -> str:
        """The table as JSON; what is infinite is null."""
        finite = {name: value if math.isfinite(value) else None for name, value in self.table.items()}
        return json.dumps(finite, indent=2)


def score_codes(
    codes: Codes,
    factors: Factors | None = None,
    *,
    metrics: str | Sequence[str] = "all",
    test: tuple[Codes, Factors] | None = None,
    settings: Settings | None = None,
    seed: int = 0,
) -> Scores:
    """Score codes (N, D) against factors (N, K), numpy or torch; rows are samples.

    "all" is every metric that needs no more than these and is not costly. Metrics that fit and then test use ``test``,
    or split the sample. Without factors, those that use none. ``settings`` are a metric's own, by its name:
    ``{"mig": {"bins": 5}}``.
    """
    settings = _checked_settings(settings)
    checked, seed = check_codes("score_codes", codes), check_seed(seed)
    if factors is not None:
        rows = len(check_factors("score_codes", factors))
        if rows != len(checked):
            raise InputError(f"score_codes: there are {len(checked):,} codes and {rows:,} rows of factors.")
    needs = {"codes"} if factors is None else {"codes", "labels"}
    fits = _fitting(needs, None if factors is None else check_factors("score_codes", factors))

    results = {}
    for metric in _chosen(metrics, fits):
        if metric.needs == "intervention":
            raise InputError(f"{metric.name} needs the power to intervene: use unweave.score(encode, data).")
        if metric.needs == "labels" and factors is None:
            raise InputError(f"{metric.name} compares codes with factors: pass factors.")
        if metric.needs == "other":
            raise InputError(f"{metric.name} needs more than codes and factors: call unweave.metrics.{metric.name}.")
        with progress(f"scoring {metric.name}", None):
            results[metric.name] = _call_on_sample(metric, codes, factors, test, seed, settings)
    return Scores(results)


def score(
    encode: Encode,
    data: FactorData,
    *,
    metrics: str | Sequence[str] = "all",
    samples: int = 10_000,
    test_samples: int = 5_000,
    batch: int = 256,
    settings: Settings | None = None,
    seed: int = 0,
) -> Scores:
    """Score any callable from images to codes, on any data.

    ``encode`` is given float images in [0, 1], (B, C, H, W), and returns codes (B, D); a module is put into evaluation
    and fed on its own device. All label metrics share ``samples`` random images, and those that test, ``test_samples``
    more; of one's own images, each is drawn once. Metrics by intervention draw the points they need; on a set without
    chance no image is encoded twice. ``settings`` are a metric's own, by its name:
    ``{"local_mig": {"rho": [0.1, 0.5]}, "dci": {"importance": "forest"}}``.
    """
    settings = _checked_settings(settings)
    samples, test_samples = whole("samples", samples, at_least=2), whole("test_samples", test_samples, at_least=1)
    batch, seed = whole("batch", batch, at_least=1), check_seed(seed)
    if not isinstance(data, FactorData):
        raise InputError(f"score: data must be a data set, as unweave.load gives, got {type(data).__name__}.")
    labels = getattr(data, "labels", None)
    needs = {"codes"} | ({"labels"} if data.has_factors or labels is not None else set())
    needs |= {"intervention"} if data.can_intervene else set()
    corners = None if not data.has_factors else np.array([[0] * len(data.space), [n - 1 for n in data.space.sizes]])
    chosen = _chosen(metrics, _fitting(needs, corners if labels is None else labels.numpy()))
    for metric in chosen:
        if metric.needs not in needs:
            data.space  # noqa: B018  says why, where the factors are not known
            what = "more than an encoder and data" if metric.needs == "other" else "every combination of the factors"
            raise InputError(f"{metric.name} needs {what}; call unweave.metrics.{metric.name} with what it takes.")
    encoded = EncodedData(encode, data, batch=batch, seed=seed)

    @cache
    def sample(purpose: str) -> Sample:
        return encoded.sample(samples if purpose == "the sample" else test_samples, purpose)

    @cache
    def split() -> tuple[Sample, Sample]:
        return encoded.split(samples, test_samples)

    results = {}
    for metric in chosen:
        if metric.needs == "intervention":
            encoded.start(metric.name)
            results[metric.name] = metric.function(
                encoded, data.space, **{"seed": seed, **settings.get(metric.name, {})}
            )
            continue
        test: Sample | None
        if isinstance(data, OwnImages):
            (codes, factors), test = split()
        else:
            codes, factors = sample("the sample")
            test = sample("the test sample") if "test" in metric.takes else None
        with progress(f"scoring {metric.name}", None):
            results[metric.name] = _call_on_sample(metric, codes, factors, test, seed, settings)
    return Scores(results)


class EncodedData:
    """Codes (n, D) of a data set's points (n, K), each encoded once where chance has no part in the images."""

    def __init__(self, encode: Encode, data: FactorData, *, batch: int = 256, seed: int = 0) -> None:
        self.encoded = 0  # images that went through the encoder
        self._encode, self._data, self._batch, self._seed = encode, data, batch, seed
        self._latents: int | None = None  # as many as the first batch had
        self._known = np.empty(0, np.int64)  # positions on the grid, sorted
        self._codes: Floats | None = None  # their codes
        self.start("points")

    def start(self, purpose: str) -> None:
        """Say what the next codes are for; chance starts from the seed and this, whatever was encoded before."""
        self._purpose = purpose
        words = [self._seed, zlib.crc32(purpose.encode())]
        self._generator = torch.Generator().manual_seed(
            int(np.random.SeedSequence(words).generate_state(1, np.uint64)[0] >> 1)
        )

    def __call__(self, factors: Tensor) -> Floats:
        """The codes of these points, in their order."""
        if self._data.stochastic or self._data.space.size > 2**63:
            return self._encode_images(len(factors), lambda rows: self._data.images(factors[rows], self._generator))
        wanted, places = np.unique(self._data.space.index(factors).numpy(), return_inverse=True)
        new = wanted[~np.isin(wanted, self._known, assume_unique=True)]
        if len(new):
            points = self._data.space.at(torch.from_numpy(new))
            codes = self._encode_images(len(new), lambda rows: self._data.images(points[rows]))
            known = np.concatenate([self._known, new])
            order = np.argsort(known)
            self._codes = (codes if self._codes is None else np.concatenate([self._codes, codes]))[order]
            self._known = known[order]
        assert self._codes is not None
        return self._codes[np.searchsorted(self._known, wanted)][places.reshape(-1)]

    def sample(self, n: int, purpose: str = "the sample") -> tuple[Floats, Tensor | None]:
        """Codes (n, D) of random images and their factors (n, K), None where they are not known."""
        self.start(purpose)
        if self._data.has_factors and self._data.can_intervene and not isinstance(self._data, OwnImages):
            factors = self._data.space.sample(n, self._generator)
            return self(factors), factors
        index = torch.randint(self._data.size, (n,), generator=self._generator)
        return self.rows(index), None

    def rows(self, index: Tensor) -> Floats:
        """Codes (n, D) of the images at these positions."""
        if isinstance(self._data, OwnImages) and self._data.has_factors and not self._data.stochastic:
            assert self._data.labels is not None
            return self(self._data.labels[index])  # each image is a point of the grid, and may be known already
        return self._encode_images(len(index), lambda part: self._data.rows(index[part], self._generator))

    def split(self, samples: int, tests: int) -> tuple[Sample, Sample]:
        """A sample of one's own images and another to test, with no image in both or twice."""
        data = self._data
        assert isinstance(data, OwnImages)
        self.start("the images")
        order = torch.randperm(data.size, generator=self._generator)
        cut = min(tests, max(1, data.size // 3))
        index = order[: cut + samples]
        codes, labels = self.rows(index), None if data.labels is None else data.labels[index]
        parts = [(codes[rows], None if labels is None else labels[rows]) for rows in (slice(cut, None), slice(cut))]
        return parts[0], parts[1]

    def _encode_images(self, n: int, images: Callable[[slice], Tensor]) -> Floats:
        parts = []
        with evaluating(self._encode) as like, progress(f"encoding {self._purpose}", n) as advance:
            for start in range(0, n, self._batch):
                rows = slice(start, min(start + self._batch, n))
                batch = (images(rows).to(like.device).float() / 255).to(like.dtype)
                codes = check_codes("encode", self._encode(batch), rows=0)
                if len(codes) != len(batch):
                    raise InputError(f"encode was given {len(batch)} images and returned {len(codes)} codes.")
                if codes.shape[1] != self._latents:
                    if self._latents is not None:
                        raise InputError(f"encode returned {self._latents} latents, and then {codes.shape[1]}.")
                    self._latents = codes.shape[1]
                parts.append(codes)
                self.encoded += len(codes)
                advance(len(codes))
        return np.concatenate(parts)


def _fitting(needs: set[str], factors: Any) -> Callable[[Metric], bool]:
    """Which metrics "all" means: those whose needs are met by what there is and by the kind of factors it has."""
    if factors is None:
        return lambda metric: metric.needs in needs
    words, continuous = factors.dtype.kind in "US", bool(continuous_columns(factors))
    varying = sum(len(np.unique(column)) > 1 for column in factors.T)

    def fits(metric: Metric) -> bool:
        if metric.needs == "codes":
            return True
        kind = metric.continuous if continuous else metric.words or not words
        return metric.needs in needs and kind and varying >= metric.factors_at_least

    return fits


def _chosen(metrics: str | Sequence[str], fits: Callable[[Metric], bool]) -> list[Metric]:
    if metrics == "all":
        return [metric for metric in METRICS.values() if not metric.costly and fits(metric)]
    names = [metrics] if isinstance(metrics, str) else list(metrics or [])
    if not names or not all(isinstance(name, str) for name in names):
        raise InputError(f"name a metric, or take 'all': there are {', '.join(METRICS)}.")
    for name in names:
        if name not in METRICS:
            raise unknown("metric", name, METRICS)
    return [METRICS[name] for name in dict.fromkeys(names)]


def _checked_settings(settings: Settings | None) -> Settings:
    if settings is not None and not isinstance(settings, Mapping):
        raise InputError(f"settings takes a dictionary by metric, as in {{'mig': {{'bins': 5}}}}, got {settings!r}.")
    for name, given in (settings or {}).items():
        if name not in METRICS:
            raise unknown("metric", str(name), METRICS)
        if not isinstance(given, Mapping):
            raise InputError(f"settings of {name} must be a dictionary, as in {{'bins': 5}}, got {given!r}.")
        takes = METRICS[name].takes
        for setting in given:
            if setting not in takes:
                raise unknown(f"setting of {name}", setting, takes)
    return settings or {}


def _call_on_sample(
    metric: Metric, codes: Codes, factors: Factors | None, test: tuple[Any, Any] | None, seed: int, settings: Settings
) -> Any:
    given: dict[str, Any] = {}
    if "seed" in metric.takes:
        given["seed"] = seed
    if "test" in metric.takes and test is not None:
        given["test"] = test
    given |= settings.get(metric.name, {})
    return metric.function(codes, factors, **given) if metric.needs == "labels" else metric.function(codes, **given)
