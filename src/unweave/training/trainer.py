"""Train a configuration in its folder of the store: a finished run is opened, a stopped one is continued.

Linear recipes (principal and independent components) are fitted by scikit-learn and stored as two linear layers.
"""

from __future__ import annotations

import contextlib
import json
import logging
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from threadpoolctl import threadpool_limits
from torch import Tensor, nn

from unweave.data import FactorData, described, prepared
from unweave.errors import Diverged, InputError, Unavailable, first_line, is_of_machine, whole
from unweave.model import Model
from unweave.recipes.composition import Source
from unweave.store.files import remove_leftovers, versions, write_text
from unweave.store.folder import CHECKPOINT, LOG, check_label, is_complete, store_folder, write_label
from unweave.store.lock import Busy, beating, locked
from unweave.store.state import Hook, State, Status, read_log, read_state, write_state
from unweave.streams import number, stream
from unweave.training.assembly import build_model
from unweave.training.checkpoint import load_tensors, save_tensors
from unweave.training.configuration import (
    Configuration,
    Execution,
    check_device,
    check_execution,
    configure,
    write_configuration,
)
from unweave.training.loop import Callback, Keeper, Moment, Session
from unweave.training.run import Outcome, Run, open_folder_of, open_run, save_run


def train(
    recipe: Source,
    data: str | FactorData,
    *,
    store: str | Path | None = None,
    label: str = "",
    callback: Callable[[Moment], object] | None = None,
    callback_steps: int = 100,
    log: Hook | None = None,
    **settings: Any,
) -> Run:
    """Train a recipe on data and return the run; a stopped run is continued, a finished one is opened.

    Args:
        recipe: A name, ``package.module:name``, a function that returns a Recipe, or a Recipe.
        data: A data set, or its name as for :func:`unweave.load`.
        store: Where runs are kept; by default ``UNWEAVE_STORE`` of the environment, or ``./runs``.
        label: A readable name, which does not change the identity of the run.
        callback: A function that is called with a :class:`Moment` every ``callback_steps`` steps.
        callback_steps: The number of steps between two calls of ``callback``.
        log: A function ``(step, values)`` that is called with every line of the log: the loss and all terms every
            ``log_steps`` steps and at the end, and the PSNR of snapshots.
        **settings: Settings of the recipe (``beta``), of the run (``steps``, ``batch``, ``seed``, ``lr``, ``net``,
            ``latent``, ``terms={"jacobian_l1": 0.1}``), of its execution (``device``, ``threads``,
            ``checkpoint_seconds``), and of parts, with a dot: ``**{"kl.schedule": "linear"}``.

    Returns:
        The finished run.

    Examples:
        >>> import unweave
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> run = unweave.train("beta_vae", data, beta=2, latents=6, net="mlp", steps=20, batch=8, store="runs")
        >>> run.state.status
        'finished'
        >>> run.encode(data.images([[0, 0, 1, 2, 3, 4]])).shape
        torch.Size([1, 6])
    """
    folder = store_folder(store)
    check_device(str(settings.get("device", "auto")))
    images = described(data) if isinstance(data, str) else data
    configuration, execution = configure(recipe, images, settings)
    label = check_label(label, folder, configuration.name)
    if callback is not None and not callable(callback):
        raise InputError(f"callback must be a function of a Moment, got {callback!r}.")
    if log is not None and not callable(log):
        raise InputError(f"log must be a function of a step and a dictionary of values, got {log!r}.")
    called = Callback(callback, whole("callback_steps", callback_steps, at_least=1), log)
    if isinstance(data, str):
        prepared(images)  # after all checks, because it may take minutes
    return fit(configuration, execution, images, folder, label=label, callback=called)


def fit(
    configuration: Configuration,
    execution: Execution,
    data: FactorData,
    store: Path,
    *,
    label: str = "",
    callback: Callback | None = None,
    keeper: Keeper | None = None,
) -> Run:
    """Train a configuration in its folder of the store, or open the run if it is finished.

    Args:
        configuration: What identifies the run: the recipe, the data and all settings that change its weights.
        execution: How it is carried out: device, threads and checkpoints.
        data: The data set to train on.
        store: The folder of all runs.
        label: A readable name, which is written before training, so that a run in training or a killed one has it.
        callback: What to call during training, and how often; nothing by default.
        keeper: What is asked after every step whether to go on, and told of checkpoints; nothing by default.

    Returns:
        The finished run.

    Examples:
        >>> from pathlib import Path
        >>> import unweave
        >>> from unweave.training import configure, fit
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> configuration, execution = configure("ae", data, {"net": "mlp", "steps": 10, "batch": 8})
        >>> fit(configuration, execution, data, Path("runs")).state.status
        'finished'
    """
    folder = store / configuration.name
    model = build_model(configuration)  # invalid combinations are refused before anything is written
    for weighted in configuration.terms:
        weighted.term.check_model(model)
    fabric = launched(configuration, execution)
    first = fabric.is_global_zero
    outcome: Outcome = "opened"
    with locked(folder) if first else nullcontext():
        state = read_state(folder)
        if state is not None and state.status == "failed" and state.diverged:
            raise Diverged(f"the run {folder} failed before: {state.error} Remove it to train it again.")
        if state is None or state.status != "finished" or not is_complete(folder):
            if first:
                write_configuration(folder, configuration)
                remove_leftovers(folder)
                if label:
                    write_label(folder, label)
            fabric.barrier()
            with beating(folder) if first else nullcontext(), _recorded(folder, state, first) as record:
                if configuration.linear is not None:
                    _fit_linear(folder, configuration, model, data)
                    outcome = "trained"
                else:
                    session = Session(configuration, execution, data, folder, model, state, fabric, callback, keeper)
                    record.append(session.record)
                    session.run()
                    outcome = "continued" if session.start else "trained"
        elif first and label:
            write_label(folder, label)
    run = open_folder_of(configuration, folder)
    run.outcome = outcome
    return run


def extend(
    run: Run | str | Path,
    steps: int,
    *,
    store: str | Path | None = None,
    data: FactorData | None = None,
    **settings: Any,
) -> Run:
    """Continue a finished run to more steps and return the longer run, which is a new run.

    The result has the same bits as a run of ``steps`` steps from the start. If a schedule depends on the total number
    of steps, the longer run would differ from its first step on, and this is refused.

    Args:
        run: A run, the path of its folder, or its name, label or first digits in the store.
        steps: The number of steps of the longer run, counted from the start.
        store: Where the longer run is kept, and where ``run`` is found by its name; by default beside ``run``.
        data: The data set of the run, which is opened again by default.
        **settings: Settings of the execution: ``device``, ``threads``, ``checkpoint_seconds``.

    Returns:
        The longer run, finished.

    Examples:
        >>> import unweave
        >>> data = unweave.load("xysquares", size=16, square=2)
        >>> run = unweave.train("ae", data, net="mlp", steps=10, batch=8, store="runs")
        >>> longer = unweave.extend(run, 20)
        >>> run.configuration.steps, longer.configuration.steps
        (10, 20)
    """
    run = run if isinstance(run, Run) else open_run(run, store=store)
    done = run.state.step
    steps = whole("steps", steps, at_least=done + 1)
    fields = {name: getattr(run.configuration, name) for name in Configuration.model_fields}
    longer = Configuration(**{**fields, "steps": steps})
    longer.check()
    if reason := longer.needs_total() or ("the spacing of the snapshots" if longer.snapshots else None):
        raise InputError(
            f"{run.name} cannot be continued to more steps: {reason} depends on the total number of steps."
        )
    if longer.linear or not (run.folder / CHECKPOINT).exists():
        raise InputError(f"{run.name} has no checkpoint to continue from.")
    execution = Execution(**settings)
    check_execution(execution)
    folder = (run.folder.parent if store is None else store_folder(store)) / longer.name
    with locked(folder):
        if not (folder / CHECKPOINT).exists():
            write_configuration(folder, longer)
            tensors, metadata = load_tensors(run.folder / CHECKPOINT, run.name)
            lines = [json.dumps(line) for line in read_log(run.folder / LOG)]
            write_text(folder / LOG, "".join(f"{line}\n" for line in lines))
            save_tensors(folder / CHECKPOINT, tensors, {**metadata, "run": longer.name})
    return fit(longer, execution, data or run.data(), folder.parent)


def launched(configuration: Configuration, execution: Execution) -> Any:
    """Return the Fabric of a run; with several devices this process is one of them and starts the others."""
    if configuration.devices == 1:
        return _on_one_device(execution.device, configuration.precision)
    return _launched(execution.device, configuration.precision, configuration.devices)


@cache
def _on_one_device(device: str, precision: str) -> Any:
    """Return a Fabric for all runs of this process: making one reads the metadata of every installed package."""
    return _launched(device, precision, 1)


def _launched(device: str, precision: str, devices: int) -> Any:
    from lightning_fabric import Fabric

    logging.getLogger("lightning_fabric").setLevel(logging.WARNING)  # it announces the precision at every start
    try:
        fabric = Fabric(
            accelerator=device,
            devices=devices,
            strategy="auto" if devices == 1 else "ddp_find_unused_parameters_true",
            precision=precision,  # type: ignore[arg-type]
        )
    except (RuntimeError, ValueError) as error:  # how Lightning reports a missing device
        wanted = f"{devices} device{'s' if devices > 1 else ''} of type {device!r}"
        raise InputError(f"requested {wanted}, but: {first_line(error)}.") from error
    fabric.launch()
    return fabric


def _fit_linear(folder: Path, configuration: Configuration, model: Any, data: FactorData) -> None:
    start = time.monotonic()
    fit_linear(model, configuration, data)
    save_run(folder, configuration, model, data, seconds=time.monotonic() - start, threads=1)


Record = Callable[..., None]


@contextmanager
def _recorded(folder: Path, state: State | None, first: bool) -> Iterator[list[Record]]:
    """Record how training ended, whatever happens; the last function of the list that is yielded does it.

    A failure of the machine interrupts the run, which can be continued there later, or on another one.
    """

    def record(status: Status, error: str = "", trace: str = "", *, diverged: bool = False) -> None:
        if first:
            step, seconds = (state.step, state.seconds) if state else (0, 0.0)
            write_state(folder, State(status, step, versions(), seconds, error, trace, diverged=diverged))

    records: list[Record] = [record]
    try:
        yield records
    except (KeyboardInterrupt, SystemExit, Busy):  # Busy: another process has taken the run over
        saved = read_state(folder)
        if saved is None or saved.status != "finished":  # a signal during the last step ends the process, not the run
            records[-1]("interrupted")
        raise
    except BaseException as error:
        with contextlib.suppress(Unavailable):  # of a full disk, which is the error itself
            message = str(error) or type(error).__name__
            status: Status = "interrupted" if is_of_machine(error) else "failed"
            records[-1](status, message, traceback.format_exc(), diverged=isinstance(error, Diverged))
        raise


def fit_linear(model: Model, configuration: Configuration, data: FactorData) -> None:
    """Set the weights of a model with the net "linear" to the components of a sample of the data."""
    assert configuration.linear is not None
    images = data.sample(configuration.samples, stream(configuration.seed, "data")).images
    rows = images.flatten(1).numpy() / 255.0
    if not np.ptp(rows, axis=0).any():
        raise InputError(f"{configuration.recipe}: all images are equal, so there are no components.")
    seed = number(configuration.seed, "fit") % 2**32
    with threadpool_limits(1):  # a fixed order of sums, so that results depend on the seed only
        encode, decode, mean = components(configuration.linear, rows, configuration.latent.size, seed)
    _put(model.encoder, encode, -encode @ mean)
    _put(model.decoder, decode, mean)


def components(kind: Literal["pca", "ica"], rows: Any, latents: int, seed: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return the maps from pixels to codes (D, pixels) and back (pixels, D), and the mean (pixels,).

    Args:
        kind: Whether components are principal or independent.
        rows: The images (N, pixels), with values in [0, 1].
        latents: The number of components D.
        seed: The seed of the fits.

    Returns:
        The two maps and the mean, float32.
    """
    from sklearn.decomposition import PCA, FastICA

    principal = PCA(latents, random_state=seed).fit(rows)
    encode, decode = principal.components_, principal.components_.T
    if kind == "ica":
        # We whiten the data ourselves, because scikit-learn's whitening takes its signs from the first pixel, which
        # fails if that pixel is always black.
        variance = principal.explained_variance_
        scale = np.sqrt(np.maximum(variance, 1e-12 * variance.max()))  # images may span fewer directions than latents
        encode, decode = encode / scale[:, None], decode * scale
        white = (rows - principal.mean_) @ encode.T
        unmixing = FastICA(whiten=False, max_iter=1000, tol=1e-3, random_state=seed).fit(white).components_
        encode, decode = unmixing @ encode, decode @ np.linalg.pinv(unmixing)
    encoded, decoded, mean = (
        torch.from_numpy(np.ascontiguousarray(array, np.float32)) for array in (encode, decode, principal.mean_)
    )
    return encoded, decoded, mean


def _put(module: nn.Module, weight: Tensor, bias: Tensor) -> None:
    layer = next(layer for layer in module.modules() if isinstance(layer, nn.Linear))
    with torch.no_grad():
        layer.weight.copy_(weight)
        assert layer.bias is not None
        layer.bias.copy_(bias)
