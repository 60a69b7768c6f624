"""Unweave learns, measures and shows the factors of variation in data."""

from importlib.metadata import version

from unweave import metrics
from unweave.data import FactorData, load
from unweave.factors import Categorical, Cyclic, FactorSpace, Ordered
from unweave.metrics import Scores, score, score_codes
from unweave.recipes import RECIPES, Recipe
from unweave.training import Run, train
from unweave.training import open_run as open  # noqa: A004  a module has its own names

__version__ = version("unweave")
__all__ = [
    "RECIPES",
    "Categorical",
    "Cyclic",
    "FactorData",
    "FactorSpace",
    "Ordered",
    "Recipe",
    "Run",
    "Scores",
    "__version__",
    "load",
    "metrics",
    "open",
    "score",
    "score_codes",
    "train",
]
