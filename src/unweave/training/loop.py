"""Training: from a configuration to a finished run, stopped and continued as often as it happens."""

from __future__ import annotations

import signal
import time
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from unweave.data import FactorData, load
from unweave.errors import Diverged, InputError
from unweave.model import Model
from unweave.progress import progress
from unweave.recipes import Recipe
from unweave.training.allocator import keep_memory
from unweave.training.checkpoint import everything, load_tensors, restore, save_tensors
from unweave.training.configuration import Configuration, Execution, changed_of, configure
from unweave.training.linear import fit_linear
from unweave.training.log import Log
from unweave.training.objective import Objective
from unweave.training.optimisers import adversary_optimisers, main_optimiser
from unweave.training.run import Run, build_model, measure_psnr, open_run, save_run, snapshot_path
from unweave.training.signals import stopping
from unweave.training.starting import start_at_the_mean
from unweave.training.store import (
    CHECKPOINT,
    LOG,
    State,
    held,
    is_whole,
    read_state,
    remove_leftovers,
    store_folder,
    versions,
    write_configuration,
    write_state,
)
from unweave.training.streams import seeded, stream


def train(recipe: str | Recipe, data: str | FactorData, *, store: str | Path | None = None, **settings: Any) -> Run:
    """Train a recipe on data, and give the run; one that was stopped goes on, one that is finished is opened.

    ``settings`` are those of the recipe (``beta``), of the run (``steps``, ``batch``, ``seed``, ``lr``, ``net``,
    ``latent``, ``terms={"jacobian_l1": 0.1}``), of its execution (``device``, ``threads``, ``checkpoint_seconds``), and
    with a dictionary's dots those of parts: ``**{"kl.schedule": "linear"}``.
    """
    data = load(data) if isinstance(data, str) else data
    configuration, execution = configure(recipe, data, settings)
    return fit(configuration, execution, data, store_folder(store))


def fit(configuration: Configuration, execution: Execution, data: FactorData, store: Path) -> Run:
    """Carry a configuration out, in its folder of the store."""
    folder = store / configuration.name
    model = build_model(configuration)  # what does not fit is refused before anything is written
    fabric = launched(configuration, execution)
    with held(folder) if fabric.is_global_zero else nullcontext():
        state = read_state(folder)
        if state is not None and state.status == "failed":
            raise Diverged(f"the run {folder} failed before: {state.error} Remove it to train it again.")
        if state is None or state.status != "finished" or not is_whole(folder):
            if fabric.is_global_zero:
                write_configuration(folder, configuration)
                remove_leftovers(folder)
            fabric.barrier()
            if configuration.linear is None:
                Session(configuration, execution, data, folder, model, state, fabric).run()
            else:
                start = time.monotonic()
                fit_linear(model, configuration, data)
                save_run(folder, configuration, model, data, seconds=time.monotonic() - start)
    return open_run(folder)


def launched(configuration: Configuration, execution: Execution) -> Any:
    """The devices and processes of a run; of several devices this process is one, and starts the others."""
    from lightning_fabric import Fabric

    try:
        fabric = Fabric(
            accelerator=execution.device,
            devices=configuration.devices,
            strategy="auto" if configuration.devices == 1 else "ddp_find_unused_parameters_true",
            precision=configuration.precision,
        )
    except (RuntimeError, ValueError) as error:  # Lightning's names for a device that is not there
        wanted = f"{configuration.devices} of device {execution.device!r}"
        raise InputError(f"{wanted} cannot be had here: {str(error).splitlines()[0]}") from error
    fabric.launch()
    return fabric


class Session:
    """One sitting of a run: from its last checkpoint, or its start, to its end or to where it is stopped."""

    def __init__(
        self,
        configuration: Configuration,
        execution: Execution,
        data: FactorData,
        folder: Path,
        model: Model,
        state: State | None,
        fabric: Any,
    ) -> None:
        self._configuration, self._execution, self._data, self._folder = configuration, execution, data, folder
        self._model = model
        with seeded(configuration.seed, "adversaries"):
            self._objective = Objective(model, configuration)
        self._fabric = fabric
        self._objective.to(self._fabric.device)
        self._optimisers = [
            main_optimiser(self._objective.model, configuration.optimiser),
            *adversary_optimisers(self._objective, configuration),
        ]
        self._seconds = state.seconds if state else 0.0
        self._start = self._restore()
        self._module, *self._wrapped = self._fabric.setup(self._objective, *self._optimisers)

    def run(self) -> None:
        """Train to the end; raise where a signal, a divergence or the disk puts an end to it before."""
        configuration, execution = self._configuration, self._execution
        threads = torch.get_num_threads()
        if execution.threads:
            torch.set_num_threads(execution.threads)
        keep_memory()
        self._record("running", self._start)
        try:
            with (
                self._log() as log,
                progress(
                    f"{configuration.recipe} on {configuration.data.name}",
                    configuration.steps,
                    done=self._start,
                    unit="steps",
                ) as advance,
                stopping() as stop,
            ):
                self._loop(log, advance, stop)
        finally:
            torch.set_num_threads(threads)

    def _log(self) -> AbstractContextManager[Log | None]:
        """The run's log; of several processes the first writes it."""
        if not self._fabric.is_global_zero:
            return nullcontext()
        return Log(self._folder / LOG, self._start, tensorboard=self._execution.tensorboard)

    def _loop(self, log: Log | None, advance: Any, stop: Any) -> None:
        configuration, execution = self._configuration, self._execution
        began = saved = time.monotonic()
        before = self._seconds
        done = self._start
        self._module.train()
        while done < configuration.steps:
            values = self.step(done)
            done += 1
            if log is not None and (done % execution.log_steps == 0 or done == configuration.steps):
                shown = {name: float(value) for name, value in values.items()}
                log.write(done, shown)
                advance(0, "  ".join(f"{name} {value:.4g}" for name, value in shown.items()))
            advance(1)
            self._seconds = before + time.monotonic() - began
            if log is not None and self._snapshot_due(done):
                self._snapshot(log, done)
            due = execution.checkpoint_steps and done % execution.checkpoint_steps == 0
            late = execution.checkpoint_seconds and time.monotonic() - saved >= execution.checkpoint_seconds
            if stop.signal is not None or due or late or done == configuration.steps:
                self._save(done)
                saved = time.monotonic()
            if stop.signal is not None and done < configuration.steps:
                self._record("interrupted", done)
                break
        if done == configuration.steps and self._fabric.is_global_zero:
            self._model.eval()
            save_run(self._folder, configuration, self._model, self._data, seconds=self._seconds)
        if stop.signal is not None:
            raise KeyboardInterrupt if stop.signal == signal.SIGINT else SystemExit(128 + stop.signal)
        self._fabric.barrier()

    def step(self, step: int) -> dict[str, Tensor]:
        """One step of training; the loss, its terms and those of the adversaries."""
        images = self._images(step)
        generator = stream(self._configuration.seed, "terms", step, self._fabric.global_rank, self._fabric.device)
        with seeded(self._configuration.seed, "modules", step, self._fabric.global_rank, self._fabric.device):
            values, losses = self._module(images, step, generator)
        for name, value in values.items():
            if value.ndim:
                raise InputError(f"the term {name} must be a scalar, got shape {tuple(value.shape)}.")
        weights = self._objective.weights(step)
        loss = sum((weights[name] * value for name, value in values.items()), torch.zeros((), device=images.device))
        total = sum(losses.values(), loss)
        asked = (
            self._fabric.device.type == "cpu" or step % self._execution.log_steps == 0
        )  # elsewhere asking is waiting
        if asked and not torch.isfinite(total):
            self._fail(step, values | losses)
        if total.requires_grad:  # else every term that could teach something is still to come
            self._update(total)
        adversaries = {f"{name}.adversary": value.detach() for name, value in losses.items()}
        return {"loss": loss.detach()} | {name: value.detach() for name, value in values.items()} | adversaries

    def _update(self, total: Tensor) -> None:
        for optimiser in self._wrapped:
            optimiser.zero_grad(set_to_none=True)
        self._fabric.backward(total)
        if self._configuration.optimiser.clip is not None:
            torch.nn.utils.clip_grad_value_(self._model.parameters(), self._configuration.optimiser.clip)
        for optimiser in self._wrapped:
            optimiser.step()

    def _images(self, step: int) -> Tensor:
        """The batch of a step, float in [0, 1]; pairs lie half a batch apart."""
        configuration, data = self._configuration, self._data
        size = configuration.batch // configuration.devices
        generator = stream(configuration.seed, "data", step, self._fabric.global_rank)
        if configuration.grouping is None:
            images = data.sample(size, generator).images
        else:
            pairs = data.space.pairs(size // 2, changed_of(configuration, data), generator)
            images = data.images(torch.cat([pairs.first, pairs.second]), generator)
        floats = images.to(self._fabric.device, non_blocking=True).float().div_(255)
        return floats.to(memory_format=torch.channels_last)  # also of one channel, whose strides decide the output's

    def _fail(self, step: int, values: dict[str, Tensor]) -> None:
        wrong = next((name for name, value in values.items() if not torch.isfinite(value)), "the sum of the terms")
        value = float(values[wrong].detach()) if wrong in values else float("inf")
        error = f"at step {step} {wrong} is {value}."
        self._record("failed", step, error)
        raise Diverged(f"the run {self._folder} diverged: {error} Its last good checkpoint is kept.")

    def _save(self, done: int) -> None:
        """Keep everything."""
        self._check_weights(done)
        if self._fabric.is_global_zero:
            metadata = {"run": self._configuration.name, "step": str(done), "version": versions()}
            save_tensors(self._folder / CHECKPOINT, everything(self._objective, self._optimisers), metadata)
            self._record("running", done)

    def _check_weights(self, done: int) -> None:
        """Nothing is kept that the last update has left not finite."""
        for name, parameter in self._objective.named_parameters():
            if not torch.isfinite(parameter).all():
                self._fail(done - 1, {f"the update of {name}": torch.tensor(float("nan"))})

    def _restore(self) -> int:
        """Go back to the last checkpoint, or to the start; the steps that are done."""
        path = self._folder / CHECKPOINT
        if not path.exists():
            start_at_the_mean(self._model, self._configuration, self._data)
            return 0
        tensors, metadata = load_tensors(path, self._configuration.name)
        restore(self._objective, self._optimisers, tensors)
        return int(metadata["step"])

    def _snapshot_due(self, done: int) -> bool:
        count, steps = self._configuration.snapshots, self._configuration.steps
        return count > 0 and done * count // steps > (done - 1) * count // steps

    def _snapshot(self, log: Log, done: int) -> None:
        self._check_weights(done)
        metadata = {"run": self._configuration.name, "step": str(done)}
        save_tensors(snapshot_path(self._folder, done), self._model.state_dict(), metadata)
        self._model.eval()
        log.write(done, {"psnr": measure_psnr(self._model, self._configuration, self._data)})
        self._model.train()

    def _record(self, status: Any, step: int, error: str = "") -> None:
        if self._fabric.is_global_zero:
            write_state(self._folder, State(status, step, versions(), self._seconds, error))
