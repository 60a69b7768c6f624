"""Training: the loop, the checkpoint, the store, and the run that comes of it."""

from unweave.training.configuration import Configuration, Execution, configure
from unweave.training.loop import fit, train
from unweave.training.run import Run, Summary, open_run
from unweave.training.store import State, find_run, read_configuration, read_state, remove_run, runs_in, store_folder

__all__ = [
    "Configuration",
    "Execution",
    "Run",
    "State",
    "Summary",
    "configure",
    "find_run",
    "fit",
    "open_run",
    "read_configuration",
    "read_state",
    "remove_run",
    "runs_in",
    "store_folder",
    "train",
]
