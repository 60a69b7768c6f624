"""Adopt a model that was trained elsewhere: its weights become a finished run, and are used like one."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

from unweave.data import FactorData, load
from unweave.errors import InputError, Unavailable
from unweave.nets import Net
from unweave.recipes.composition import Source
from unweave.store.folder import WEIGHTS, check_label, store_folder
from unweave.store.lock import locked
from unweave.training.assembly import with_weights
from unweave.training.configuration import configure, write_configuration
from unweave.training.run import Run, open_folder_of, save_run

HALVES = ("encoder", "decoder")


def adopt(
    weights: Net | nn.Module | Mapping[str, Tensor],
    data: str | FactorData,
    *,
    net: Any,
    recipe: Source = "vae",
    store: str | Path | None = None,
    label: str = "",
    **settings: Any,
) -> Run:
    """Store a model that was trained elsewhere as a finished run.

    The run is scored, drawn, explored, reported and exported like one that was trained here. Its name depends on its
    weights as well as on its configuration, so it is never mistaken for a run that was trained.

    Args:
        weights: A :class:`~unweave.nets.Net`, a module with the parts ``encoder`` and ``decoder``, or its
            ``state_dict()``.
        data: The data set that it was trained on, or its name as for :func:`unweave.load`.
        net: The net that the weights belong to, as for :func:`unweave.train`; your own is ``"module:function"``. Its
            encoder returns what the latent of the recipe reads (means, then log-variances, for a Gaussian one), its
            decoder logits, or images if ``likelihood="gaussian"``.
        recipe: The method that it was trained with; what matters here is its latent.
        store: Where runs are kept; by default ``UNWEAVE_STORE`` of the environment, or ``./runs``.
        label: A readable name.
        **settings: Settings of the recipe and of the run, as for :func:`unweave.train`: ``latents``, ``likelihood``,
            ``steps``, ``seed``.

    Returns:
        The run.
    """
    data = load(data) if isinstance(data, str) else data
    tensors = _tensors(weights)
    configuration, _ = configure(recipe, data, {"start": "pytorch", "net": net, **settings})
    if configuration.linear or configuration.snapshots:
        raise InputError("adopt: a recipe that is fitted in closed form, or that keeps snapshots, cannot be adopted.")
    own = {**configuration.sources, "weights": _hash(tensors)}
    configuration = configuration.model_copy(update={"sources": own})
    try:
        model = with_weights(configuration, tensors)
    except Unavailable as error:
        raise InputError(f"adopt: {error}") from error
    place = store_folder(store)
    label = check_label(label, place, configuration.name)
    folder = place / configuration.name
    with locked(folder):
        if not (folder / WEIGHTS).exists():
            write_configuration(folder, configuration)
            save_run(folder, configuration, model.eval(), data, seconds=0.0, threads=torch.get_num_threads())
    run = open_folder_of(configuration, folder)
    if label:
        run.label = label
    return run


def _tensors(weights: Net | nn.Module | Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the tensors of encoder and decoder by name, checked."""
    weights = nn.ModuleDict(weights._asdict()) if isinstance(weights, Net) else weights
    found = weights.state_dict() if isinstance(weights, nn.Module) else weights
    if not isinstance(found, Mapping) or not all(isinstance(value, Tensor) for value in found.values()):
        raise InputError(f"adopt: weights must be a Net, a module or its state_dict, got {type(weights).__name__}.")
    wrong = sorted(str(name) for name in found if str(name).partition(".")[0] not in HALVES)
    if wrong or not found:
        have = f"got {wrong[0]!r}" if wrong else "got none"
        raise InputError(f"adopt: the names of weights must begin with 'encoder.' or 'decoder.', {have}.")
    for name, value in found.items():
        if value.is_floating_point() and not value.isfinite().all():
            raise InputError(f"adopt: the weights {name!r} have NaN or infinite values.")
    return {name: value.detach().cpu() for name, value in found.items()}


def _hash(tensors: Mapping[str, Tensor]) -> str:
    """Return 16 digits of the hash of names, shapes and values."""
    digest = hashlib.sha256()
    for name, value in sorted(tensors.items()):
        digest.update(f"{name} {value.dtype} {tuple(value.shape)}\n".encode())
        digest.update(value.contiguous().flatten().view(torch.uint8).numpy().tobytes())
    return digest.hexdigest()[:16]
