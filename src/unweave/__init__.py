"""Unweave learns, measures and shows the factors of variation in data."""

from importlib.metadata import version
from typing import TYPE_CHECKING

from unweave.lazy_imports import lazy

if TYPE_CHECKING:
    from unweave import (  # noqa: F401
        data,
        errors,
        explore,
        factors,
        figures,
        interop,
        latents,
        metrics,
        nets,
        papers,
        questions,
        recipes,
        reports,
        settings,
        store,
        study,
        terms,
        training,
        zoo,
    )
    from unweave.data import FactorData, load
    from unweave.factors import Categorical, Cyclic, FactorSpace, Ordered
    from unweave.interop import Estimator
    from unweave.metrics import Scores, score_codes
    from unweave.papers.comparison import compare
    from unweave.questions._figure import figure
    from unweave.recipes import RECIPES, Recipe
    from unweave.reports import push, report
    from unweave.representation import Codes, Encoder
    from unweave.study import Study
    from unweave.training import Run, adopt, extend, score, train
    from unweave.training import open_run as open  # noqa: A004

__version__ = version("unweave")
MODULES = (  # which are imported when they are first used
    "data",
    "errors",
    "explore",
    "factors",
    "figures",
    "interop",
    "latents",
    "metrics",
    "nets",
    "papers",
    "questions",
    "recipes",
    "reports",
    "settings",
    "store",
    "study",
    "terms",
    "training",
    "zoo",
)
__all__ = [
    "RECIPES",
    "Categorical",
    "Codes",
    "Cyclic",
    "Encoder",
    "Estimator",
    "FactorData",
    "FactorSpace",
    "Ordered",
    "Recipe",
    "Run",
    "Scores",
    "Study",
    "__version__",
    "adopt",
    "compare",
    "extend",
    "figure",
    "load",
    "metrics",
    "open",
    "push",
    "report",
    "score",
    "score_codes",
    "train",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            **{name: f"unweave.{name}" for name in MODULES},
            **{name: f"unweave.data:{name}" for name in ("FactorData", "load")},
            **{name: f"unweave.factors:{name}" for name in ("Categorical", "Cyclic", "FactorSpace", "Ordered")},
            **{name: f"unweave.metrics:{name}" for name in ("Scores", "score_codes")},
            **{name: f"unweave.recipes:{name}" for name in ("RECIPES", "Recipe")},
            "compare": "unweave.papers.comparison:compare",
            "Estimator": "unweave.interop:Estimator",
            "figure": "unweave.questions._figure:figure",
            **{name: f"unweave.reports:{name}" for name in ("push", "report")},
            **{name: f"unweave.representation:{name}" for name in ("Codes", "Encoder")},
            "Study": "unweave.study:Study",
            **{name: f"unweave.training:{name}" for name in ("Run", "adopt", "extend", "score", "train")},
            "open": "unweave.training:open_run",
        },
    )


def __dir__() -> list[str]:
    return sorted({*__all__, *MODULES})
