"""One session of training: from the last checkpoint, or the start, to the end or to where it is stopped."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Protocol

import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import Diverged
from unweave.latents import Summary
from unweave.model import Model
from unweave.progress import Advance, progress, say
from unweave.representation import TrainedModel
from unweave.store.files import versions
from unweave.store.folder import CHECKPOINT, LOG
from unweave.store.state import Hook, Log, State, Status, write_state
from unweave.streams import seeded, stream
from unweave.training.assembly import (
    Objective,
    adversary_optimisers,
    clip_gradients,
    fit_to_data,
    main_optimiser,
    set_learning_rate,
)
from unweave.training.checkpoint import FROM_START, everything, load_tensors, restore, save_tensors, step_of
from unweave.training.configuration import Configuration, Execution, changed_of, collapse_advice
from unweave.training.process import Stop, keep_memory, stopping
from unweave.training.run import measure_psnr, save_run, snapshot_path, summarise

COLLAPSED = 0.01  # nats of KL, below which a posterior tells nothing about an image
COLLAPSE_STEPS, COLLAPSE_SHARE = 500, 0.2  # steps, and share of the run, before which a small KL means little


@dataclass(frozen=True)
class Moment:
    """The argument of a callback: the steps done, the total, the values of all terms, and the current model.

    Examples:
        >>> import unweave
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> seen = []
        >>> settings = {"net": "mlp", "steps": 20, "batch": 8, "callback": seen.append, "callback_steps": 10}
        >>> run = unweave.train("ae", data, store="runs", **settings)
        >>> [(moment.step, moment.steps, sorted(moment.values)) for moment in seen]
        [(10, 20, ['loss', 'reconstruction']), (20, 20, ['loss', 'reconstruction'])]
    """

    step: int
    steps: int
    values: dict[str, float]
    representation: TrainedModel


@dataclass(frozen=True)
class Callback:
    """Functions that are called during training: one every so many steps, and one with every line of the log.

    Examples:
        >>> from pathlib import Path
        >>> import unweave
        >>> from unweave.training import Callback, configure, fit
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> configuration, execution = configure("ae", data, {"net": "mlp", "steps": 20, "batch": 8})
        >>> shown = []
        >>> callback = Callback(lambda moment: shown.append(moment.step), steps=10)
        >>> run = fit(configuration, execution, data, Path("runs"), callback=callback)
        >>> shown
        [10, 20]
    """

    function: Callable[[Moment], object] | None
    steps: int = 100
    log: Hook | None = None


class Keeper(Protocol):
    """The interface of what keeps a run that is trained on this machine for others."""

    def check(self) -> None:
        """Raise an error if the run must not be trained here any more; called after every step."""

    def saved(self) -> None:
        """Take note of a checkpoint that was just written."""


class Session:
    """One session of a run.

    Args:
        configuration: What identifies the run.
        execution: How it is carried out: device, threads and checkpoints.
        data: The data set to train on.
        folder: The folder of the run, where a checkpoint to continue from may be.
        model: The model to train, in place.
        state: What the last session recorded; None if this is the first one.
        fabric: The Lightning Fabric that places modules on devices and processes.
        callback: What to call during training, and how often; nothing if None.
        keeper: What is asked after every step whether to go on, and told of checkpoints; nothing if None.
    """

    def __init__(
        self,
        configuration: Configuration,
        execution: Execution,
        data: FactorData,
        folder: Path,
        model: Model,
        state: State | None,
        fabric: Any,
        callback: Callback | None = None,
        keeper: Keeper | None = None,
    ) -> None:
        self._configuration, self._execution, self._data, self._folder = configuration, execution, data, folder
        self._keeper = keeper
        self._model, self._callback, self._fabric = model, callback, fabric
        with seeded(configuration.seed, "adversaries"):
            self._objective = Objective(model, configuration)
        self._objective.to(fabric.device)
        self._optimisers = [
            main_optimiser(self._objective.model, configuration.optimiser),
            *adversary_optimisers(self._objective, configuration),
        ]
        self._seconds = state.seconds if state else 0.0
        self._warned = False
        self.start = self.done = self._restore()
        self._module, *self._wrapped = fabric.setup(self._objective, *self._optimisers)

    def run(self) -> None:
        """Train to the end; raise if a signal, divergence or a full disk ends the session early."""
        configuration, execution = self._configuration, self._execution
        threads = torch.get_num_threads()
        if execution.threads:
            torch.set_num_threads(execution.threads)
        keep_memory()
        self.record("running")
        title = f"{configuration.recipe} on {configuration.data.label}"
        try:
            with (
                self._log() as log,
                progress(title, configuration.steps, done=self.start, unit="steps") as advance,
                stopping() as stop,
            ):
                self._loop(log, advance, stop)
        finally:
            torch.set_num_threads(threads)

    def record(self, status: Status, error: str = "", traceback: str = "", *, diverged: bool = False) -> None:
        """Write the state of the run; with several processes, the first one does.

        Args:
            status: The status, such as "running".
            error: The message of the error that ended the run, if one did.
            traceback: Where that error occurred.
            diverged: Whether the error would occur again if the run were repeated.
        """
        if self._fabric.is_global_zero:
            threads = self._execution.threads or torch.get_num_threads()
            state = State(
                status, self.done, versions(), self._seconds, error, traceback, diverged=diverged, threads=threads
            )
            write_state(self._folder, state)

    def _log(self) -> AbstractContextManager[Log | None]:
        """Open the log of the run; with several processes, the first one writes it."""
        if not self._fabric.is_global_zero:
            return nullcontext()
        hook = None if self._callback is None else self._callback.log
        return Log(self._folder / LOG, self.start, tensorboard=self._execution.tensorboard, hook=hook)

    def _loop(self, log: Log | None, advance: Advance, stop: Stop) -> None:
        configuration, execution = self._configuration, self._execution
        began = saved = time.monotonic()
        before = self._seconds
        self._module.train()
        while self.done < configuration.steps:
            values = self.step(self.done)
            self.done += 1
            last = self.done == configuration.steps
            if log is not None and (self.done % execution.log_steps == 0 or last):
                shown = {name: float(value) for name, value in values.items()}
                log.write(self.done, shown)
                self._warn_of_collapse(shown)
                advance(0, "  ".join(f"{name} {value:.4g}" for name, value in shown.items()))
            advance(1)
            if self._keeper is not None:
                self._keeper.check()
            self._seconds = before + time.monotonic() - began
            self._call_back(values)
            if log is not None and self._snapshot_due():
                self._snapshot(log)
            due = execution.checkpoint_steps and self.done % execution.checkpoint_steps == 0
            late = execution.checkpoint_seconds and time.monotonic() - saved >= execution.checkpoint_seconds
            if stop.signal is not None or due or late or last:
                self._save()
                saved = time.monotonic()
            if stop.signal is not None and not last:
                break
        if self.done == configuration.steps and self._fabric.is_global_zero:
            self._model.eval()
            threads = torch.get_num_threads()
            save_run(self._folder, configuration, self._model, self._data, seconds=self._seconds, threads=threads)
        if stop.signal is not None:
            raise KeyboardInterrupt if stop.signal == signal.SIGINT else SystemExit(128 + stop.signal)
        self._fabric.barrier()

    def step(self, step: int) -> dict[str, Tensor]:
        """Do one step of training and return the loss, its terms and the losses of the adversaries."""
        images = self._images(step)
        generator = stream(self._configuration.seed, "terms", step, self._fabric.global_rank, self._fabric.device)
        with seeded(self._configuration.seed, "modules", step, self._fabric.global_rank, self._fabric.device):
            total, values = self._module(images, step, generator, lambda: self._images(step, "second data"))
        on_cpu = self._fabric.device.type == "cpu"  # elsewhere, reading a value waits for the device
        if (on_cpu or step % self._execution.log_steps == 0) and not torch.isfinite(total):
            self._diverge(step, values)
        if total.requires_grad:  # otherwise every term with a gradient is scheduled for later
            self._update(total, step)
        return {name: value.detach() for name, value in values.items()}

    def _update(self, total: Tensor, step: int) -> None:
        settings = self._configuration.optimiser
        for optimiser in self._wrapped:
            optimiser.zero_grad(set_to_none=True)
        self._fabric.backward(total)
        clip_gradients(self._model, settings)
        set_learning_rate(self._optimisers[0], settings, step, self._configuration.steps)
        for optimiser in self._wrapped:
            optimiser.step()

    def _images(self, step: int, purpose: str = "data") -> Tensor:
        """Return the batch of a step as floats in [0, 1]; the first images of all groups come first."""
        configuration, data = self._configuration, self._data
        count = configuration.batch // configuration.devices
        generator = stream(configuration.seed, purpose, step, self._fabric.global_rank)
        if configuration.members == 1:
            images = data.sample(count, generator).images
        elif configuration.groups is not None:
            points = configuration.groups.points(data.space, count // configuration.members, generator)
            images = data.images(points.flatten(0, 1), generator)
        else:
            pairs = data.space.pairs(count // 2, changed_of(configuration, data), generator)
            images = data.images(torch.cat([pairs.first, pairs.second]), generator)
        floats = images.to(self._fabric.device, non_blocking=True).float().div_(255)
        return floats.to(memory_format=torch.channels_last)  # also with one channel, whose strides decide the output's

    def _warn_of_collapse(self, values: dict[str, float]) -> None:
        """Say once that the KL has vanished, after a fifth of the run, unless its weight is 0 or will fall."""
        c = self._configuration
        kl = next((each for each in c.terms if each.name == "kl"), None)
        late = self.done >= max(COLLAPSE_STEPS, COLLAPSE_SHARE * c.steps)
        if kl is None or self._warned or not late or values["kl"] >= COLLAPSED:
            return
        if 0 < kl.schedule.at(self.done, c.steps, kl.weight) <= kl.weight:
            self._warned = True
            say(f"The posterior has collapsed at step {self.done:,}: KL {values['kl']:.2g} nats. {collapse_advice(c)}")

    def _call_back(self, values: dict[str, Tensor]) -> None:
        callback = self._callback
        if callback is None or callback.function is None or self.done % callback.steps:
            return
        shown = {name: float(value) for name, value in values.items()}
        view = _InTraining(self._model, self._configuration, self._data)
        try:
            callback.function(Moment(self.done, self._configuration.steps, shown, view))
        finally:
            self._module.train()

    def _diverge(self, step: int, values: dict[str, Tensor]) -> None:
        wrong = next((name for name, value in reversed(values.items()) if not torch.isfinite(value)), "the loss")
        kept = (self._folder / CHECKPOINT).exists()
        last = "Its last checkpoint is kept." if kept else "There was no checkpoint yet."
        value = float(values[wrong].detach()) if wrong in values else float("nan")
        raise Diverged(f"the run {self._folder} diverged: at step {step} {wrong} is {value}. {last}")

    def _save(self) -> None:
        """Write a checkpoint."""
        self._check_weights()
        if self._fabric.is_global_zero:
            metadata = {"run": self._configuration.name, "step": str(self.done), "version": versions()}
            save_tensors(self._folder / CHECKPOINT, everything(self._objective, self._optimisers), metadata)
            if self.done < self._configuration.steps:  # otherwise save_run records that the run is finished
                self.record("running")
                if self._keeper is not None:
                    self._keeper.saved()

    def _check_weights(self) -> None:
        """Raise Diverged if an update left a weight that is not finite, so that it is never saved."""
        for name, parameter in self._objective.named_parameters():
            if not torch.isfinite(parameter).all():
                self._diverge(self.done - 1, {f"the updated weight {name}": torch.tensor(float("nan"))})

    def _restore(self) -> int:
        """Load the last checkpoint, or prepare the start; return the number of steps that are done."""
        path = self._folder / CHECKPOINT
        if not path.exists():
            fit_to_data(self._model, self._configuration, self._data)
            return 0
        tensors, metadata = load_tensors(path, self._configuration.name, FROM_START)
        step = step_of(path, metadata, self._configuration.steps)
        restore(path, self._objective, self._optimisers, tensors, step=step)
        return step

    def _snapshot_due(self) -> bool:
        count, steps = self._configuration.snapshots, self._configuration.steps
        return count > 0 and self.done * count // steps > (self.done - 1) * count // steps

    def _snapshot(self, log: Log) -> None:
        self._check_weights()
        metadata = {"run": self._configuration.name, "step": str(self.done)}
        save_tensors(snapshot_path(self._folder, self.done), self._model.state_dict(), metadata)
        self._model.eval()
        log.write(self.done, {"psnr": measure_psnr(self._model, self._configuration, self._data)})
        self._model.train()


class _InTraining(TrainedModel):
    """The model during training, with a summary that is computed when it is asked for."""

    def __init__(self, model: Model, configuration: Configuration, data: FactorData) -> None:
        super().__init__(model, configuration.data.shape, "the model in training")
        self._configuration, self._data = configuration, data

    @cached_property
    def summary(self) -> Summary:
        """Statistics of each latent over the data, at this step."""
        return summarise(self.model, self._configuration, self._data)


def is_first_process() -> bool:
    """Return whether this is the first of the processes that train one run on several devices."""
    return int(os.environ.get("LOCAL_RANK", "0")) == 0
