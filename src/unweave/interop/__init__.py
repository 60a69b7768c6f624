"""Unweave in other frameworks: an estimator of scikit-learn, a callback of Lightning, a metric of torchmetrics."""

from typing import TYPE_CHECKING

from unweave.lazy_imports import lazy

if TYPE_CHECKING:
    from unweave.interop.estimator import Estimator
    from unweave.interop.lightning import ScoreCallback
    from unweave.interop.torchmetrics import CodeScores

__all__ = ["CodeScores", "Estimator", "ScoreCallback"]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            "CodeScores": "unweave.interop.torchmetrics:CodeScores",
            "Estimator": "unweave.interop.estimator:Estimator",
            "ScoreCallback": "unweave.interop.lightning:ScoreCallback",
        },
    )
