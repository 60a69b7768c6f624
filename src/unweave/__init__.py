"""Unweave learns, measures and shows the factors of variation in data."""

from importlib.metadata import version

from unweave.data import FactorData, load
from unweave.factors import Categorical, Cyclic, FactorSpace, Ordered

__version__ = version("unweave")
__all__ = ["Categorical", "Cyclic", "FactorData", "FactorSpace", "Ordered", "__version__", "load"]
