"""Training: the loop, the checkpoint, the store, and the run that results."""

from typing import TYPE_CHECKING

from unweave.lazy import lazy

if TYPE_CHECKING:
    from unweave.training.configuration import Configuration, Execution, configure, read_configuration
    from unweave.training.evaluation import score
    from unweave.training.loop import Callback, Moment
    from unweave.training.run import Run, open_run
    from unweave.training.trainer import extend, fit, train

__all__ = [
    "Callback",
    "Configuration",
    "Execution",
    "Moment",
    "Run",
    "configure",
    "extend",
    "fit",
    "open_run",
    "read_configuration",
    "score",
    "train",
]

_MODULES = {
    "configuration": ("Configuration", "Execution", "configure", "read_configuration"),
    "trainer": ("extend", "fit", "train"),
    "loop": ("Callback", "Moment"),
    "run": ("Run", "open_run"),
    "evaluation": ("score",),
}
if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__, {name: f"{__name__}.{module}:{name}" for module, names in _MODULES.items() for name in names}
    )
