"""Choose metrics by name, by ``module:name`` or as functions, and explain why one cannot be computed."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from unweave.data import FactorData
from unweave.errors import InputError, unknown
from unweave.metrics.scoring.catalogue import METRICS, NEEDS, Metric, Needs
from unweave.metrics.scoring.factor_kinds import FactorKinds, kinds_of_data
from unweave.metrics.scoring.inputs import num_varying
from unweave.metrics.scoring.sparse_codes import why_dense
from unweave.own_code import HERE, imported
from unweave.settings import key_in, name_in

NO_KINDS = FactorKinds()
Names = str | Callable[..., Any] | Sequence[str | Callable[..., Any]]
Settings = Mapping[str, Mapping[str, Any]]
Source = Literal["pool", "fresh"]  # of codes that share a factor: those of the samples, or those of new images


@dataclass(frozen=True)
class ScoringInputs:
    """The inputs that are available for scoring: which needs are met, and the kind of the factors."""

    needs: Collection[str]
    words: bool = False
    varying: int = 0  # factors that vary
    encoder: bool = False  # whether there is an encoder, or codes alone
    sparse: bool = False  # whether the codes are sparse
    source: Source = "pool"
    why_no_factors: str = "no factors were given"

    @classmethod
    def of_table(
        cls,
        needs: Collection[str],
        factors: NDArray[Any],
        kinds: FactorKinds = NO_KINDS,
        *,
        encoder: bool = False,
        source: Source = "pool",
        sparse: bool = False,
    ) -> ScoringInputs:
        """Describe codes, or an encoder, with factors (N, K); of mixed ones, each metric takes what it can.

        Args:
            needs: The needs that are met besides "labels".
            factors: The factors (N, K), of which those that vary are counted.
            kinds: Their kinds; by default no column is known to have words.
            encoder: Whether there is an encoder, or codes alone.
            source: Where codes that share a factor come from: the samples ("pool") or new images ("fresh").
            sparse: Whether the codes are sparse.

        Returns:
            The inputs, which tell of a metric why it cannot be computed.
        """
        return cls(
            needs={"labels", *needs},
            words=not kinds.mixed and (factors.dtype.kind in "USO" or len(kinds.words) > 0),
            varying=num_varying(factors),
            encoder=encoder,
            source=source,
            sparse=sparse,
        )

    @classmethod
    def of_data(cls, data: FactorData, offers: Collection[str], *, source: Source = "pool") -> ScoringInputs:
        """Describe an encoder, which may offer "reconstruction" and "posterior", on a data set."""
        needs = {"codes", *offers} | ({"intervention"} if data.can_intervene else set())
        needs |= {"model"} if {"reconstruction", "posterior"} <= needs else set()
        if data.labels is not None:
            return cls.of_table(needs, data.labels.numpy(), kinds_of_data(data), encoder=True, source=source)
        if data.has_factors:
            sizes = data.space.sizes
            corners = np.array([[0] * len(sizes), [size - 1 for size in sizes]])
            return cls.of_table(needs, corners, encoder=True, source=source)
        return cls(needs, encoder=True, source=source, why_no_factors="the data has no factors, only images")

    def why_not(self, metric: Metric) -> str | None:
        """Return the reason why a metric cannot be computed from this, or None."""
        if metric.needs == "other":
            return f"needs {metric.given}; call unweave.metrics.{metric.name}"
        needs = metric.needs
        if needs == "pool":
            needs = "labels" if self.source == "pool" else "intervention"
        if needs not in self.needs:
            return self._missing(needs)
        if self.sparse and not metric.sparse:
            return f"takes no sparse codes: {why_dense(metric.name)}"
        if needs not in ("labels", "intervention"):
            return None
        if self.words and not metric.words:
            return "the factors are words, which have no order"
        if self.varying < metric.factors_at_least:
            factors = "one factor that varies" if metric.factors_at_least == 1 else "two factors that vary"
            return f"needs at least {factors}, got {self.varying}"
        return None

    def why_not_of_all(self, metric: Metric) -> str | None:
        """Return the reason why a metric that can be computed is not part of "all", or None."""
        because = "" if self.sparse and metric.for_sparse else metric.only_by_name
        return f'not part of "all" because {because}; request it by name' if because else None

    def _missing(self, needs: Needs) -> str:
        if needs == "labels":
            return f"needs factors, but {self.why_no_factors}"
        if not self.encoder:
            return f"needs {NEEDS[needs]}: use unweave.score"
        if needs == "intervention":
            return "needs data with an image of every combination of factors"
        if needs == "posterior" or "reconstruction" in self.needs:
            return "needs a posterior, but the encoder has no method posterior"
        return "needs reconstructions, but the encoder has no method reconstruct"


def chosen(metrics: Names, there: ScoringInputs) -> tuple[list[Metric], dict[str, str]]:
    """Return the metrics to compute and, for "all", those left out with the reason.

    A metric that was asked for by name and cannot be computed is an error.
    """
    if isinstance(metrics, str) and metrics == "all":
        reasons = {name: there.why_not(metric) or there.why_not_of_all(metric) for name, metric in METRICS.items()}
        left_out = {name: reason for name, reason in reasons.items() if reason is not None}
        return [metric for name, metric in METRICS.items() if name not in left_out], left_out
    wanted = find_metrics(metrics)
    for metric in wanted:
        if reason := there.why_not(metric):
            raise InputError(f"{metric.name}: {reason}.")
    return wanted, {}


def find_metrics(metrics: Names) -> list[Metric]:
    """Return the metrics that are meant by names, ``module:name`` or functions, each once."""
    if isinstance(metrics, str):
        metrics = metrics.split(",")
    names = [metrics] if callable(metrics) else list(metrics or [])
    if not names:
        raise InputError(f"name at least one metric, or pass 'all'; choose from {', '.join(METRICS)}.")
    found = [_find(name) for name in names]
    return list({metric.name: metric for metric in found}.values())


def check_settings(settings: Settings | None, metrics: Names) -> Settings:
    """Return the settings of metrics, keyed by the metric's name; refuse unknown names and values out of range."""
    if settings is None:
        return {}
    if not isinstance(settings, Mapping):
        raise InputError(f"settings must be a dictionary by metric, like {{'mig': {{'bins': 5}}}}, got {settings!r}.")
    own = {} if isinstance(metrics, str) and metrics == "all" else {m.name: m for m in find_metrics(metrics) if m.own}
    known = {**METRICS, **own}
    for name, given in settings.items():
        if name not in known:
            raise unknown("metric", str(name), known, setting=str(name))
        if not isinstance(given, Mapping):
            raise InputError(
                f"settings of {name} must be a dictionary, like {{'bins': 5}}, got {given!r}.", setting=name
            )
        if given:
            known[name].check_settings(given)
    return settings


def check_source(source: Any) -> Source:
    """Return where codes that share a factor come from, or raise an error."""
    if source not in get_args(Source):
        raise InputError(f"source must be 'pool' or 'fresh', got {source!r}.", setting="source", value=source)
    known: Source = source
    return known


def _find(metric: str | Callable[..., Any]) -> Metric:
    if isinstance(metric, str):
        if ":" in metric:
            return _own(metric.removeprefix(f"{HERE}:"), imported("metric", metric))
        if (key := key_in(METRICS, metric)) not in METRICS:
            raise unknown("metric", metric, METRICS)
        return METRICS[key]
    if not callable(metric):
        raise InputError(f"a metric is a name or a function of codes and factors, got {metric!r}.")
    for known in METRICS.values():
        if known.function is metric:
            return known
    try:
        name = name_in({}, metric)
    except InputError:  # defined inside another function
        name = f"{HERE}:{getattr(metric, '__name__', repr(metric))}"
    return _own(name.removeprefix(f"{HERE}:"), metric)


def _own(name: str, function: Callable[..., Any]) -> Metric:
    if name in METRICS:
        raise InputError(f"a metric of your own cannot be called {name!r}: this is one of Unweave's metrics.")
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        parameters = ()  # type: ignore[assignment]
    positional = [p for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(positional) != 2:
        raise InputError(
            f"metric {name!r} must be a function of codes and factors, with settings as keywords after them: "
            "def metric(codes, factors, *, bins=20)."
        )
    question = (inspect.getdoc(function) or name).partition("\n")[0]
    return Metric(function, question, "labels", "", "neither", "", own=True, name=name)
