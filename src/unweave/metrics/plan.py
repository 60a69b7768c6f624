"""Encode once, score everything: one sample for all label metrics, and no image of a grid encoded twice."""

from __future__ import annotations

import inspect
import json
import math
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unweave.data import FactorData
from unweave.errors import InputError, unknown
from unweave.metrics.catalogue import METRICS, Metric
from unweave.metrics.inputs import Codes, Factors, Floats, check_codes, check_factors, continuous_columns
from unweave.progress import progress

Encode = Callable[[Tensor], Any]


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
    seed: int = 0,
) -> Scores:
    """Score codes (N, D) against factors (N, K), numpy or torch; rows are samples.

    "all" is every metric that needs no more than these and is not costly. Metrics that fit and then test use ``test``,
    or split the sample. Without factors, those that use none.
    """
    checked = check_codes("score_codes", codes)
    if factors is not None:
        rows = len(check_factors("score_codes", factors))
        if rows != len(checked):
            raise InputError(f"score_codes: there are {len(checked):,} codes and {rows:,} rows of factors.")
    continuous = factors is not None and bool(continuous_columns(check_factors("score_codes", factors)))
    needs = {"codes"} if factors is None else {"codes", "labels"}

    def fits(metric: Metric) -> bool:
        return metric.needs in needs and (not continuous or metric.continuous or metric.needs == "codes")

    results = {}
    for metric in _chosen(metrics, fits):
        if metric.needs == "intervention":
            raise InputError(f"{metric.name} needs the power to intervene: use unweave.score(encode, data).")
        if metric.needs == "labels" and factors is None:
            raise InputError(f"{metric.name} compares codes with factors: pass factors.")
        if metric.needs == "other":
            raise InputError(f"{metric.name} needs more than codes and factors: call unweave.metrics.{metric.name}.")
        with progress(f"scoring {metric.name}", None):
            results[metric.name] = _call_on_sample(metric, codes, factors, test, seed)
    return Scores(results)


def score(
    encode: Encode,
    data: FactorData,
    *,
    metrics: str | Sequence[str] = "all",
    samples: int = 10_000,
    test_samples: int = 5_000,
    batch: int = 256,
    seed: int = 0,
) -> Scores:
    """Score any callable from images to codes, on any data.

    ``encode`` is given float images in [0, 1], (B, C, H, W), and returns codes (B, D); a module is put into evaluation
    and fed on its own device. All label metrics share ``samples`` random images, and those that test, ``test_samples``
    more. Metrics by intervention draw the points they need; on a set without chance no image is encoded twice.
    """
    if samples < 2 or test_samples < 1 or batch < 1:
        raise InputError("score: samples must be at least 2, test_samples and batch at least 1.")
    labels = getattr(data, "labels", None)
    continuous = labels is not None and labels.is_floating_point()
    needs = {"codes"} | ({"labels"} if data.has_factors or labels is not None else set())
    needs |= {"intervention"} if data.can_intervene else set()
    chosen = _chosen(
        metrics,
        lambda metric: metric.needs in needs and (not continuous or metric.continuous or metric.needs == "codes"),
    )
    for metric in chosen:
        if metric.needs not in needs:
            data.space  # noqa: B018  says why, where the factors are not known
            what = "more than an encoder and data" if metric.needs == "other" else "every combination of the factors"
            raise InputError(f"{metric.name} needs {what}; call unweave.metrics.{metric.name} with what it takes.")
    encoded = EncodedData(encode, data, batch=batch, seed=seed)
    samples_of: dict[str, tuple[Floats, Tensor | None]] = {}

    def sample(role: str, n: int) -> tuple[Floats, Tensor | None]:
        if role not in samples_of:
            samples_of[role] = encoded.sample(n, role)
        return samples_of[role]

    results = {}
    for metric in chosen:
        if metric.needs == "intervention":
            encoded.start(metric.name)
            results[metric.name] = metric.function(encoded, data.space, seed=seed)
            continue
        codes, factors = sample("the sample", samples)
        tests = "test" in inspect.signature(metric.function).parameters
        test = sample("the test sample", test_samples) if tests else None
        with progress(f"scoring {metric.name}", None):
            results[metric.name] = _call_on_sample(metric, codes, factors, test, seed)
    return Scores(results)


class EncodedData:
    """Codes (n, D) of a data set's points (n, K), each encoded once where chance has no part in the images."""

    def __init__(self, encode: Encode, data: FactorData, *, batch: int = 256, seed: int = 0) -> None:
        self.encoded = 0  # images that went through the encoder
        self._encode, self._data, self._batch, self._seed = encode, data, batch, seed
        self._known = np.empty(0, np.int64)  # positions on the grid, sorted
        self._codes: Floats | None = None  # their codes
        self.start("points")

    def start(self, purpose: str) -> None:
        """Say what the next codes are for; chance starts from the seed and this, whatever was encoded before."""
        self._purpose = purpose
        words = [self._seed % 2**64, zlib.crc32(purpose.encode())]
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
        if self._data.has_factors and self._data.can_intervene:
            factors = self._data.space.sample(n, self._generator)
            return self(factors), factors
        parts, factors_of = [], []
        for start in range(0, n, self._batch):
            drawn = self._data.sample(min(self._batch, n - start), self._generator)
            parts.append(self._encode_images(len(drawn.images), drawn.images.__getitem__))
            factors_of.append(drawn.factors)
        known = [f for f in factors_of if f is not None]
        return np.concatenate(parts), torch.cat(known) if known else None

    def _encode_images(self, n: int, images: Callable[[slice], Tensor]) -> Floats:
        parts = []
        with _evaluating(self._encode) as device, progress(f"encoding {self._purpose}", n) as advance:
            for start in range(0, n, self._batch):
                rows = slice(start, min(start + self._batch, n))
                batch = images(rows).to(device).float() / 255
                codes = check_codes("encode", self._encode(batch), rows=0)
                if len(codes) != len(batch):
                    raise InputError(f"encode was given {len(batch)} images and returned {len(codes)} codes.")
                parts.append(codes)
                self.encoded += len(codes)
                advance(len(codes))
        return np.concatenate(parts)


@contextmanager
def _evaluating(encode: Encode) -> Iterator[torch.device]:
    """Without gradients; a module in evaluation, and its device."""
    module = encode if isinstance(encode, nn.Module) else None
    was_training = module is not None and module.training
    parameter = None if module is None else next(module.parameters(), None)
    if module is not None:
        module.eval()
    try:
        with torch.no_grad():
            yield torch.device("cpu") if parameter is None else parameter.device
    finally:
        if module is not None:
            module.train(was_training)


def _chosen(metrics: str | Sequence[str], fits: Callable[[Metric], bool]) -> list[Metric]:
    if metrics == "all":
        return [metric for metric in METRICS.values() if not metric.costly and fits(metric)]
    names = [metrics] if isinstance(metrics, str) else list(metrics)
    for name in names:
        if name not in METRICS:
            raise unknown("metric", name, METRICS)
    return [METRICS[name] for name in dict.fromkeys(names)]


def _call_on_sample(
    metric: Metric, codes: Codes, factors: Factors | None, test: tuple[Any, Any] | None, seed: int
) -> Any:
    takes = inspect.signature(metric.function).parameters
    settings: dict[str, Any] = {}
    if "seed" in takes:
        settings["seed"] = seed
    if "test" in takes and test is not None:
        settings["test"] = test
    return (
        metric.function(codes, factors, **settings) if metric.needs == "labels" else metric.function(codes, **settings)
    )
