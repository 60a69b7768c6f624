"""A Lightning callback that scores the model on a data set while it is trained."""

from __future__ import annotations

from collections.abc import Callable
from types import MethodType
from typing import TYPE_CHECKING, Any

from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, extra, whole
from unweave.metrics import Scores, check_metrics, score
from unweave.metrics.scoring.request import Names, Settings

if TYPE_CHECKING:
    from lightning.pytorch import Callback
else:
    Callback = extra("lightning.pytorch", "lightning").Callback


class ScoreCallback(Callback):  # type: ignore[misc, unused-ignore]
    """Score a LightningModule with :func:`unweave.score` and log the scores as ``unweave/mig`` and so on.

    The module is scored after each validation, or after each training epoch if there is no validation, and only every
    ``every``-th time. By default the module itself is called with images (B, C, H, W) in [0, 1] and returns codes
    (B, D); otherwise ``encode(module, images)`` is. The module is in evaluation mode meanwhile, and no global random
    state is used, so training is not affected. With several processes, the first one scores. ``scores`` has the whole
    results of the last time.

    Args:
        data: The data that the module is scored on.
        encode: A function of the module and images, instead of calling the module itself.
        metrics: The metrics, as for :func:`unweave.score`.
        samples: The number of images.
        every: Score every n-th time only.
        prefix: What the names of logged scores begin with.
        settings: Settings of metrics by their names.
        **options: Further arguments of :func:`unweave.score`.
    """

    scores: Scores | None = None

    def __init__(
        self,
        data: FactorData,
        *,
        encode: Callable[[Any, Tensor], Tensor] | None = None,
        metrics: Names = ("mig", "dci"),
        samples: int = 10_000,
        every: int = 1,
        prefix: str = "unweave/",
        settings: Settings | None = None,
        **options: Any,
    ) -> None:
        if encode is not None and not callable(encode):
            raise InputError(
                "ScoreCallback: encode must be a function of the module and images that returns codes, "
                f"got {type(encode).__name__}."
            )
        check_metrics(metrics, data, offers={"reconstruction", "posterior"})
        self.data, self.encode, self.prefix = data, encode, prefix
        self.every = whole("ScoreCallback: every", every, at_least=1)
        self.options = {"metrics": metrics, "samples": samples, "settings": settings, **options}
        self._times = 0

    def on_validation_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Score after a validation, except the one that checks the code before training."""
        if not trainer.sanity_checking:
            self._score(trainer, pl_module)

    def on_train_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Score after a training epoch if the trainer does not validate."""
        if not trainer.enable_validation:
            self._score(trainer, pl_module)

    def on_test_epoch_end(self, trainer: Any, pl_module: Any) -> None:
        """Score after a test."""
        self._score(trainer, pl_module)

    def _score(self, trainer: Any, module: Any) -> None:
        self._times += 1
        if self._times % self.every:
            return
        encode = module if self.encode is None else MethodType(self.encode, module)
        scores = score(encode, self.data, **self.options) if trainer.is_global_zero else None
        self.scores = trainer.strategy.broadcast(scores)
        assert self.scores is not None
        table = {f"{self.prefix}{name}": value for name, value in self.scores.table.items()}
        module.log_dict(table, on_step=False, on_epoch=True, batch_size=1, sync_dist=True)
