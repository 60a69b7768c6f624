"""Training: the loop, the checkpoint, and the run that results."""

from unweave.training.adoption import adopt
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
    "adopt",
    "configure",
    "extend",
    "fit",
    "open_run",
    "read_configuration",
    "score",
    "train",
]
