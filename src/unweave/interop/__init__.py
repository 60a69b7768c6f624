"""Score models that are trained elsewhere: a callback for Lightning and a metric for torchmetrics."""

from typing import TYPE_CHECKING

from unweave.lazy import lazy

if TYPE_CHECKING:
    from unweave.interop.lightning import ScoreCallback
    from unweave.interop.torchmetrics import CodeScores

__all__ = ["CodeScores", "ScoreCallback"]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            "CodeScores": "unweave.interop.torchmetrics:CodeScores",
            "ScoreCallback": "unweave.interop.lightning:ScoreCallback",
        },
    )
