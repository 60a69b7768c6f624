"""Models that were trained elsewhere: adopt weights as a finished run, and open public models by name.

Public weights are read without running code of the file: ``torch.load(weights_only=True)`` refuses any pickle that does
more than build tensors, for the zip format and the one of 2019 that most public files have, and ``.npz`` is read
without pickles. A ``.pt`` file is read only if it has the published checksum.
"""

from __future__ import annotations

import hashlib
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn

from unweave.data import FactorData, load
from unweave.data.files.downloads import fetch, verify
from unweave.errors import InputError, Unavailable, first_line
from unweave.nets import Net
from unweave.recipes.composition import Source
from unweave.representation import TrainedModel
from unweave.store.folder import WEIGHTS, check_label, find_run, read_label, runs_in, store_folder
from unweave.store.lock import locked
from unweave.store.remote.hub import HubAddress, download_run, is_on_hub
from unweave.training.assembly import with_weights
from unweave.training.configuration import configure, write_configuration
from unweave.training.run import Run, open_folder_of, save_run
from unweave.zoo.public import PREFIX, PublicModel, find_public

HALVES = ("encoder", "decoder")
ENCODER = {"conv1": "0", "conv2": "2", "conv3": "4", "conv_64": "6", "lin1": "9", "lin2": "11", "mu_logvar_gen": "13"}
DECODER = {
    "lin1": "layers.0.0",
    "lin2": "layers.1.0",
    "lin3": "layers.2.0",
    "convT_64": "layers.3",
    "convT1": "layers.4",
    "convT2": "layers.5",
    "convT3": "output",
}
FILES = "files"  # where downloads are kept, beside the runs
CHANNELS, CELLS = 32, 4  # of the last convolution of the encoder


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

    Examples:
        >>> import unweave
        >>> trained = unweave.open("zoo:ada-gvae-xysquares").model  # stands for a model from elsewhere
        >>> weights = {f"{part}.{name}": value for part in ("encoder", "decoder")
        ...            for name, value in getattr(trained, part).state_dict().items()}
        >>> data = unweave.load("xysquares", size=32, square=4, spacing=1)
        >>> net = {"name": "mlp", "width": 0.4}
        >>> run = unweave.adopt(weights, data, net=net, latents=9, likelihood="gaussian", label="mine", store="runs")
        >>> run.label, run.state.status
        ('mine', 'finished')
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


def locate_run(name: str, store: Path) -> Path:
    """Return the folder of a run as :func:`find_run` does; one of the hub or a public model is fetched if need be."""
    if is_on_hub(name):
        return download_run(HubAddress.of(name))
    return public_run(find_public(name)) if name.startswith(PREFIX) else find_run(name, store)


def public_run(model: PublicModel, *, source: Path | None = None, store: Path | None = None) -> Path:
    """Return the folder of the run of a public model; it is made on first use.

    Args:
        model: The model.
        source: A folder that has its weights, as ``NAME.npz``, ``NAME.pt`` or ``NAME/model.pt``, directly or in a
            folder of the name of its collection or ``results``; by default they are downloaded.
        store: Where the run is kept; by default in the data folder.

    Returns:
        The folder of the run.
    """
    place = model.folder if store is None else store
    for folder in runs_in(place):
        if read_label(folder) == model.label:
            return folder
    path = fetch(model.file, model.folder / FILES) if source is None else find_weights(model, source)
    tensors = renamed(read_weights(path, model))
    settings = {"recipe": model.recipe, **model.settings}
    return adopt(tensors, model.data, store=place, label=model.label, **settings).folder


def is_local(model: PublicModel) -> bool:
    """Return whether a model, or its file, is in the data folder, so that nothing needs to be downloaded."""
    known = any(read_label(folder) == model.label for folder in runs_in(model.folder))
    return known or (model.folder / FILES / model.file.name).exists()


def read_public(model: PublicModel, source: Path) -> TrainedModel:
    """Return a public model from a folder that has its weights, without keeping a run of it."""
    tensors = renamed(read_weights(find_weights(model, source), model))
    data = load(model.data)
    configuration, _ = configure(model.recipe, data, {"start": "pytorch", **model.settings})
    return TrainedModel(with_weights(configuration, tensors), configuration.data.shape, f"the model {model.name}")


def find_weights(model: PublicModel, source: Path) -> Path:
    """Return the file with the weights of a model in a folder."""
    collection = model.name.rpartition("/")[0]
    for place in (source, source / collection, source / "results", source / collection / "results"):
        for name in (f"{model.label}.npz", f"{model.label}.pt", f"{model.label}/model.pt"):
            if (place / name).is_file():
                return place / name
    raise Unavailable(
        f"{source} has no weights of {model.name}: expected {collection}/{model.label}.npz, .pt or "
        f"{model.label}/model.pt, which is at {model.file.url}."
    )


def read_weights(path: Path, model: PublicModel) -> dict[str, Tensor]:
    """Return the tensors of a file by name, without running code that the file may contain."""
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as arrays:
                return {name: torch.from_numpy(arrays[name]) for name in arrays.files}
        verify(path, model.file)
        found = torch.load(path, map_location="cpu", weights_only=True)
    except (Unavailable, OSError):
        raise
    except (ValueError, TypeError, zipfile.BadZipFile, RuntimeError) as error:
        raise Unavailable(f"cannot read the weights in {path}: {first_line(error)}.") from error
    except Exception as error:  # the restricted unpickler raises UnpicklingError, EOFError and others
        raise Unavailable(f"{path} has more than weights, or is damaged ({type(error).__name__}).") from error
    if not isinstance(found, Mapping) or not all(isinstance(value, Tensor) for value in found.values()):
        raise Unavailable(f"{path} is not a state_dict of tensors.")
    return {str(name): value for name, value in found.items()}


def renamed(theirs: Mapping[str, Tensor]) -> dict[str, Tensor]:
    """Return the weights of disentangling-vae under the names and in the order of the net ``burgess``.

    Their encoder alternates means and log-variances where ours has all means first, and their features are flattened
    channel by channel where ours are pixel by pixel.
    """
    expected = {
        f"{half}.{layer}.{part}"
        for half, layers in (("encoder", ENCODER), ("decoder", DECODER))
        for layer in layers
        for part in ("weight", "bias")
    }
    if wrong := sorted(expected ^ theirs.keys()):
        lacking = "has no" if wrong[0] in expected else "has an unknown"
        raise Unavailable(f"the weights are not those of disentangling-vae's Burgess net: it {lacking} {wrong[0]!r}.")
    ours: dict[str, Tensor] = {}
    for name, value in theirs.items():
        half, layer, part = name.split(".")
        try:
            tensor = _reordered(half, layer, part, value.float())
        except (RuntimeError, IndexError) as error:
            raise Unavailable(
                f"the weights are not those of disentangling-vae's Burgess net: {name!r} has the shape "
                f"{tuple(value.shape)}."
            ) from error
        ours[f"{half}.{(ENCODER if half == 'encoder' else DECODER)[layer]}.{part}"] = tensor.contiguous()
    return ours


def _reordered(half: str, layer: str, part: str, tensor: Tensor) -> Tensor:
    if layer == "mu_logvar_gen":
        tensor = tensor.unflatten(0, (-1, 2)).transpose(0, 1).flatten(0, 1)
    elif half == "encoder" and (layer, part) == ("lin1", "weight"):
        tensor = tensor.unflatten(1, (CHANNELS, CELLS, CELLS)).permute(0, 2, 3, 1).flatten(1)
    elif half == "decoder" and layer == "lin3":
        tensor = tensor.unflatten(0, (CHANNELS, CELLS, CELLS)).movedim(0, 2).flatten(0, 2)
    return tensor
