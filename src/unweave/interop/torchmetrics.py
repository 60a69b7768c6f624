"""A torchmetrics metric of codes and factors: collect batches, then score all of them at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from unweave.errors import InputError, extra
from unweave.metrics import Scores, score_codes
from unweave.metrics.scoring.inputs import check_codes, check_factors, check_seed
from unweave.metrics.scoring.request import Names, ScoringInputs, Settings, check_settings, chosen

if TYPE_CHECKING:
    from torchmetrics import Metric
else:
    Metric = extra("torchmetrics", "torchmetrics").Metric


class CodeScores(Metric):  # type: ignore[misc, unused-ignore]
    """Scores of codes (N, D) against factors (N, K), equal to :func:`unweave.score_codes` on all batches together.

    ``update(codes, factors)`` keeps a batch, and ``compute()`` returns a dictionary of scalars, one per score, such as
    ``{"mig": …, "dci.completeness": …}``. ``scores`` has the whole results, with matrices and values per factor. With
    several processes, the batches of all of them are gathered before they are scored. In a training loop call
    ``update`` rather than the metric itself, which would score every batch as well.

    Args:
        metrics: The metrics, as for :func:`unweave.score_codes`.
        discrete: Whether every latent takes one of a few values.
        settings: Settings of metrics by their names.
        seed: The seed of random choices.
        workers: The largest number of threads.
        **options: Arguments of ``torchmetrics.Metric``.

    >>> metric = CodeScores("mig")
    >>> for factors in torch.arange(600).remainder(6).view(3, 200, 1):
    ...     metric.update(factors.float().repeat(1, 2) * torch.tensor([1.0, 0.0]), factors)
    >>> round(metric.compute()["mig"].item(), 6)
    1.0
    """

    is_differentiable = False
    higher_is_better = None  # some scores are, others are not
    full_state_update = False

    codes: list[Tensor] | Tensor  # each (B, D)
    factors: list[Tensor] | Tensor  # each (B, K)

    def __init__(
        self,
        metrics: Names = ("mig", "dci"),
        *,
        discrete: bool = False,
        settings: Settings | None = None,
        seed: int = 0,
        workers: int | None = None,
        **options: Any,
    ) -> None:
        super().__init__(**options)
        chosen(metrics, ScoringInputs({"codes", "labels"}, varying=2))  # refuse now what no codes and factors can give
        self.metrics, self.discrete, self.workers = metrics, discrete, workers
        self.settings, self.seed = check_settings(settings, metrics), check_seed(seed)
        self._scores: Scores | None = None
        self.add_state("codes", default=[], dist_reduce_fx="cat")
        self.add_state("factors", default=[], dist_reduce_fx="cat")

    def update(self, codes: Tensor, factors: Tensor) -> None:
        """Keep a batch of codes (B, D) and factors (B, K); factors (B,) are one factor."""
        codes, factors = _rows("codes", codes, 2), _rows("factors", factors, 1)
        check_codes("CodeScores", codes, rows=1)
        check_factors("CodeScores", factors)
        if len(codes) != len(factors):
            raise InputError(f"CodeScores: got {len(codes):,} codes but {len(factors):,} rows of factors.")
        for what, batch, kept in (("codes", codes, self.codes), ("factors", factors, self.factors)):
            earlier = kept[0].shape[-1] if len(kept) else batch.shape[1]
            if batch.shape[1] != earlier:
                raise InputError(f"CodeScores: {what} must have {earlier} columns as before, got {batch.shape[1]}.")
        self.codes.append(codes)  # type: ignore[union-attr]
        self.factors.append(factors)  # type: ignore[union-attr]

    def compute(self) -> dict[str, Tensor]:
        """Return every score as a scalar, by its name."""
        self._scores = score_codes(
            _together("codes", self.codes),
            _together("factors", self.factors),
            metrics=self.metrics,
            discrete=self.discrete,
            settings=self.settings,
            seed=self.seed,
            workers=self.workers,
        )
        dtype = torch.float32 if self.device.type == "mps" else torch.float64  # that device has no float64
        return {
            name: torch.tensor(value, dtype=dtype, device=self.device) for name, value in self._scores.table.items()
        }

    @property
    def scores(self) -> Scores:
        """The whole results of the last ``compute``."""
        if self._scores is None:
            raise InputError("CodeScores: nothing has been computed yet: call compute() first.")
        return self._scores

    def reset(self) -> None:
        """Forget all batches and results."""
        super().reset()
        self._scores = None


def _rows(what: str, values: object, dimensions: int) -> Tensor:
    if not isinstance(values, Tensor):
        raise InputError(f"CodeScores: {what} must be a tensor, got {type(values).__name__}.")
    values = values.detach()
    if values.ndim == 1 == dimensions:
        values = values[:, None]
    if values.ndim != 2:
        shape = "(B, D)" if what == "codes" else "(B, K) or (B,)"
        raise InputError(f"CodeScores: {what} must be {shape}, got the shape {tuple(values.shape)}.")
    return values


def _together(what: str, batches: Sequence[Tensor] | Tensor) -> Tensor:
    if not len(batches):
        raise InputError(f"CodeScores: there are no {what} to score: call update(codes, factors) first.")
    return batches if isinstance(batches, Tensor) else torch.cat(list(batches))
