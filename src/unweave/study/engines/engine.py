"""The engines of a study: what carries out its tasks, by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from numbers import Real

from unweave.errors import InputError, unknown, whole
from unweave.study.engines import processes
from unweave.study.engines import ray as ray_engine
from unweave.study.engines.worker import Report, Task

Watch = Callable[[list[str], str], None]  # runs under way, and what is waited for, "" if nothing is
ENGINES = ("local", "ray")


@dataclass(frozen=True)
class Engine:
    """The execution backend of a study and its resources."""

    name: str = "local"
    workers: int | None = None  # runs at the same time; None: as many as there is room for
    address: str | None = None  # of a Ray cluster; None starts one on this machine
    cpus: float = 1.0  # that a run needs on a Ray cluster
    gpus: float = 0.0  # the same; a quarter lets four runs share a GPU

    def __post_init__(self) -> None:
        if self.name not in ENGINES:
            raise unknown("engine", str(self.name), ENGINES)
        if self.workers is not None:
            whole("workers", self.workers, at_least=1)
        for what, value, least in (("cpus", self.cpus, 0.01), ("gpus", self.gpus, 0.0)):
            if isinstance(value, bool) or not isinstance(value, Real) or not least <= float(value) < 1e6:
                raise InputError(f"{what} must be a number of at least {least:g}, got {value!r}.")
            if value > 1 and value != int(value):
                raise InputError(f"{what} must be a whole number if it is more than 1, got {value!r}.")
        if self.name == "local" and (self.address is not None or (self.cpus, self.gpus) != (1, 0)):
            raise InputError("address, cpus and gpus are settings of the engine ray, but the engine is local.")

    @property
    def execution(self) -> dict[str, object]:
        """Return the threads and the device of each run."""
        return {"threads": max(1, int(self.cpus)), "device": "cuda" if self.gpus else "cpu"}

    def run_tasks(self, tasks: Mapping[str, Task], report: Callable[[Report], None], watch: Watch) -> None:
        """Carry out tasks; ``report`` is called for each that ends, ``watch`` with those that are under way.

        Stopped is raised if no machine is left that can carry them out.
        """
        if self.name == "local":
            processes.run_tasks(tasks, self.workers or processes.default_workers(), report, watch)
        else:
            wanted = ray_engine.ClusterRequest(self.workers, self.address, float(self.cpus), float(self.gpus))
            ray_engine.run_tasks(tasks, wanted, report, watch)
