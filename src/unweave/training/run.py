"""A run: a representation with the configuration, log and scores that belong to it, and the measurements at its end."""

from __future__ import annotations

import json
import os
from functools import cached_property
from pathlib import Path
from typing import Any, Literal

import torch

from unweave.data import FactorData, open_data
from unweave.errors import InputError, Unavailable, first_line
from unweave.latents import Summary
from unweave.lazy_imports import later
from unweave.metrics import psnr
from unweave.model import Model
from unweave.own_code import guarded
from unweave.representation import TrainedModel
from unweave.representation.interface import BATCH
from unweave.store.damage import promise_of
from unweave.store.files import versions, write_text
from unweave.store.folder import CHECKPOINT, LOG, SUMMARY, WEIGHTS, read_label, store_folder, write_label
from unweave.store.measurements import StoredScores, name_of_data, read_scores
from unweave.store.remote.hub import is_on_hub
from unweave.store.state import State, read_log, read_state, status_of, write_state
from unweave.streams import stream
from unweave.terms.gaussians import kl_to_prior
from unweave.terms.kl import laplace_kl
from unweave.training.assembly import with_weights
from unweave.training.checkpoint import OPTIMISER, load_tensors, save_tensors
from unweave.training.configuration import Configuration, collapse_advice, only_code_of, read_configuration

Outcome = Literal["trained", "continued", "opened"]
FEW = 1_000  # steps, below which a run may only not have begun to learn
HARDLY = 1.0  # dB over the mean image, below which a run has learned almost nothing
SUMMARISED = 2048  # images that a summary is computed from
MEASURED = 512  # images that the PSNR is computed from
PERFECT = 200.0  # dB, for a reconstruction without error


class Run(TrainedModel):
    """A trained model in its folder of the store.

    Args:
        folder: The folder of the run.
        configuration: Its configuration.
        model: The model, with the weights of one step.
        state: The state that was last recorded.
        step: The step of the weights; None for the step of ``state``.

    Examples:
        >>> import torch, unweave
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> images, _ = run.data().sample(2, torch.Generator().manual_seed(0))
        >>> codes = run.encode(images)
        >>> codes.shape, run.decode(codes).shape, run.traverse(codes[0]).shape
        (torch.Size([2, 9]), torch.Size([2, 3, 32, 32]), torch.Size([9, 7, 3, 32, 32]))
    """

    outcome: Outcome = "opened"  # what the call that returned this run did

    def __init__(
        self, folder: Path, configuration: Configuration, model: Model, state: State, *, step: int | None = None
    ) -> None:
        super().__init__(model, configuration.data.shape, f"the run {folder}")
        self.folder, self.configuration, self.state = folder, configuration, state
        self.step = state.step if step is None else step  # of the weights

    @property
    def name(self) -> str:
        """The hash of the configuration."""
        return self.configuration.name

    @property
    def method(self) -> str:  # type: ignore[override]
        """The recipe."""
        return self.configuration.recipe

    @property
    def linear(self) -> bool:  # type: ignore[override]
        """Return whether the recipe is fitted by linear algebra, without training."""
        return self.configuration.linear is not None

    @property
    def finished(self) -> bool:  # type: ignore[override]
        """Return whether training has ended, so that there is a summary."""
        return (self.folder / SUMMARY).exists()

    @property
    def seed(self) -> int:  # type: ignore[override]
        """The seed of the training."""
        return self.configuration.seed

    @property
    def data_label(self) -> str:
        """The name of the data that the run was trained on."""
        return self.configuration.data.label

    @property
    def label(self) -> str:
        """The label that was given to the run, "" if there is none; it can be set."""
        return read_label(self.folder)

    @label.setter
    def label(self, label: str) -> None:
        write_label(self.folder, label)

    def data(self) -> FactorData:
        """Open the data that the run was trained on."""
        return open_data(self.configuration.data)

    @cached_property
    def summary(self) -> Summary:
        """Statistics of each latent over the data, measured when the run ended."""
        try:
            return Summary(**json.loads((self.folder / SUMMARY).read_text(encoding="utf-8")))
        except (OSError, ValueError, TypeError) as error:
            raise Unavailable(f"the run {self.folder} has no complete {SUMMARY}: has it finished? ({error})") from error

    def figure(self, name: str, **settings: Any) -> Any:
        """Draw a figure of the run, as in ``run.figure("traversals")``; see :func:`unweave.figure`."""
        return later("unweave.questions._figure:figure", name, self, **settings)

    @property
    def log(self) -> list[dict[str, Any]]:
        """The values of every term during training, one dictionary per line of the log."""
        return read_log(self.folder / LOG)

    @property
    def scores(self) -> StoredScores:
        """The scores that were measured so far on the data that the run was trained on; they are stored with it."""
        data = name_of_data(self.configuration.data.canonical())
        return read_scores(self.folder).select(step=self.step, data=data)

    @property
    def hint(self) -> str:  # type: ignore[override]
        """A sentence for a run that has collapsed or is clearly undertrained, otherwise ""."""
        psnr, baseline = self.state.psnr, self.state.baseline
        if psnr is not None and self.has_collapsed:
            kl = sum(self.summary.kl or ())
            told = "its posterior is the same for every image"
            short = " It is short, too: train it for more steps." if self.step < FEW else ""
            return f"This run has collapsed: KL {kl:.2g} nats, {told}. {collapse_advice(self.configuration)}{short}"
        if self.configuration.linear or psnr is None or baseline is None or psnr >= baseline + HARDLY:
            return ""
        return (
            f"This run reconstructs barely better than the mean image ({psnr:.1f} dB against {baseline:.1f} dB): "
            "train it for more steps."
        )

    @property
    def has_collapsed(self) -> bool:
        """Return whether no latent of a posterior depends on the image."""
        return self.summary.collapsed

    def snapshots(self, *, psnr: float = 0.0) -> list[int]:
        """Return the steps of the snapshots with at least this PSNR, in dB (Hsu et al. 2024, sec. 4.1)."""
        measured = {line["step"]: line["psnr"] for line in self.log if "psnr" in line}
        return [step for step, value in measured.items() if value >= psnr]

    def at(self, step: int) -> Run:
        """Return the run as it was at one of its snapshots."""
        path = snapshot_path(self.folder, step)
        if not path.exists():
            raise InputError(f"the run {self.folder} has no snapshot at step {step}: it has {self.snapshots()}.")
        tensors, _ = load_tensors(path, self.name)
        model = with_weights(self.configuration, tensors).to(next(self.model.parameters()).device)
        return Run(self.folder, self.configuration, model, self.state, step=step)

    def _repr_html_(self) -> str:
        return str(later("unweave.questions._notebook:run_html", self))

    def __repr__(self) -> str:
        c = self.configuration
        where = "" if c.linear else f" at step {self.step:,}"
        return f"<run {self.name}: {c.recipe} on {c.data.label}, {status_of(self.folder, self.state.status)}{where}>"


def open_run(
    run: str | Path,
    *,
    store: str | Path | None = None,
    device: str | torch.device = "cpu",
    trust: bool | None = None,
) -> Run:
    """Open a run: finished, or as far as its last checkpoint.

    Args:
        run: The path of its folder, its name, label or first digits in the store, ``zoo:NAME`` for a model that comes
            with Unweave, ``public:NAME`` for one that others published, or ``hf://OWNER/NAME`` for one that was pushed
            to the Hugging Face hub (``unweave push``); the last two are downloaded on first use.
        store: Where runs are kept; by default ``UNWEAVE_STORE`` of the environment, or ``./runs``.
        device: Where the model is placed.
        trust: Whether code outside of Unweave that the configuration names, as ``package.module:name``, is imported. If
            False, such a run is refused, and opening a run runs no code, which is the choice for the run of somebody
            else. By default, only runs of the hub are not trusted.

    Returns:
        The run, with its model on the device.

    Examples:
        >>> import unweave
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> run.label, run.configuration.recipe, run.state.status
        ('ada-gvae-xysquares', 'ada_gvae', 'finished')
    """
    if not isinstance(run, str | os.PathLike):
        raise InputError(f"open takes the folder or the name of a run, got {run!r}.")
    from unweave.training.adoption import locate_run  # which adopts public models, and so opens runs itself

    trust = not is_on_hub(run) if trust is None else trust
    folder = Path(run) if isinstance(run, Path) else locate_run(str(run), store_folder(store))
    configuration, state = read_configuration(folder, trust=trust), read_state(folder)
    if state is None:
        raise Unavailable(f"the run {folder} was never started.")
    weights, checkpoint = folder / WEIGHTS, folder / CHECKPOINT
    if weights.exists():
        tensors, _ = load_tensors(weights, configuration.name)
    elif checkpoint.exists():
        everything, _ = load_tensors(checkpoint, configuration.name)
        prefix = "model."
        tensors = {
            name.removeprefix(prefix): value
            for name, value in everything.items()
            if name.startswith(prefix) and not name.startswith(OPTIMISER)
        }
    else:
        raise Unavailable(
            f"the run {folder} has no weights yet: it is {status_of(folder, state.status)} at step {state.step}."
        )
    with guarded(trust):
        model = with_weights(configuration, tensors)
    return Run(folder, configuration, _on(device, model), state)


def open_folder_of(configuration: Configuration, folder: Path) -> Run:
    """Open the run of a configuration; a folder with another one is refused, and code that it names is not imported."""
    with only_code_of(configuration):
        run = open_run(folder)
    if run.name != configuration.name:
        raise Unavailable(f"{folder} has a different configuration from the one that it is named after.")
    return run


def save_run(
    folder: Path, configuration: Configuration, model: Model, data: FactorData, *, seconds: float, threads: int
) -> None:
    """Write a finished run: its weights, its summary, and finally its state.

    Args:
        folder: The folder of the run.
        configuration: Its configuration.
        model: The trained model.
        data: The data that it is measured on.
        seconds: The time that training took.
        threads: The number of threads that it used.
    """
    save_tensors(folder / WEIGHTS, model.state_dict(), {"run": configuration.name, "version": versions()})
    write_text(folder / SUMMARY, json.dumps(vars(summarise(model, configuration, data))) + "\n")
    quality, baseline = measure_psnr(model, configuration, data), measure_baseline(configuration, data)
    snapshots = [path.name for path in folder.glob("snapshot-*.safetensors")]
    write_state(
        folder,
        State(
            "finished",
            configuration.steps,
            versions(),
            seconds,
            psnr=quality,
            baseline=baseline,
            threads=threads,
            files=promise_of(folder, [WEIGHTS, SUMMARY, *snapshots]),
        ),
    )


def snapshot_path(folder: Path, step: int) -> Path:
    """Return the path of the weights of a snapshot."""
    return folder / f"snapshot-{step:08}.safetensors"


def _on(device: str | torch.device, model: Model) -> Model:
    try:
        return model.to(device)
    except (RuntimeError, AssertionError) as error:
        raise InputError(f"the device {str(device)!r} is not available: {first_line(error)}.") from error


@torch.no_grad()
def summarise(model: Model, configuration: Configuration, data: FactorData) -> Summary:
    """Return statistics of each latent over a sample of the data."""
    images = data.sample(SUMMARISED, stream(configuration.seed, "summary")).images
    device = next(model.parameters()).device
    codes = [model.code(part.to(device).float() / 255) for part in images.split(BATCH)]
    code = torch.cat([c.representation for c in codes]).cpu()
    kl = None
    if codes[0].logvar is not None:
        logvar = torch.cat([c.logvar for c in codes if c.logvar is not None]).cpu()
        kl = kl_to_prior(code, logvar).mean(0).tolist()
    if codes[0].logscale is not None:
        logscale = torch.cat([c.logscale for c in codes if c.logscale is not None]).cpu()
        kl = laplace_kl(code, logscale).mean(0).tolist()
    return Summary.of_codes(code, kl=kl, levels=None if model.values is None else model.values.cpu())


def measure_baseline(configuration: Configuration, data: FactorData) -> float:
    """Return the mean PSNR of the mean image in place of every reconstruction, in dB."""
    images = data.sample(MEASURED, stream(configuration.seed, "psnr")).images
    mean = images.float().mean(0, keepdim=True) / 255
    return min(psnr(images, mean.expand(images.shape)).score, PERFECT)


@torch.no_grad()
def measure_psnr(model: Model, configuration: Configuration, data: FactorData) -> float:
    """Return the mean PSNR of the reconstructions of a sample of the data, in dB."""
    images = data.sample(MEASURED, stream(configuration.seed, "psnr")).images
    device = next(model.parameters()).device
    again = [model.decode(model.code(part.to(device).float() / 255).representation) for part in images.split(BATCH)]
    return min(psnr(images, torch.cat(again).cpu().clamp(0, 1)).score, PERFECT)
