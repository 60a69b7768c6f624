"""Unweave learns, measures and shows the factors of variation in data."""

from importlib.metadata import version

from unweave import metrics
from unweave.data import FactorData, load
from unweave.factors import Categorical, Cyclic, FactorSpace, Ordered
from unweave.metrics import Scores, score, score_codes

__version__ = version("unweave")
__all__ = [
    "Categorical",
    "Cyclic",
    "FactorData",
    "FactorSpace",
    "Ordered",
    "Scores",
    "__version__",
    "load",
    "metrics",
    "score",
    "score_codes",
]
