"""Open public models as runs: download or read their weights, rename them to ours, and adopt them.

Weights are read without running code of the file: ``torch.load(weights_only=True)`` refuses any pickle that does more
than build tensors, for the zip format and the one of 2019 that most public files have, and ``.npz`` is read without
pickles. A ``.pt`` file is read only if it has the published checksum.
"""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from unweave.data import load
from unweave.data.files.downloads import fetch, verify
from unweave.errors import InputError, Unavailable
from unweave.representation import TrainedModel
from unweave.store.folder import find_run, read_label, runs_in
from unweave.training.adoption import adopt
from unweave.training.assembly import with_weights
from unweave.training.configuration import configure
from unweave.zoo.public import PREFIX, PublicModel, find_public

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


def locate_run(name: str, store: Path) -> Path:
    """Return the folder of a run as :func:`find_run` does; a public model is fetched first if it is not here."""
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
        raise Unavailable(f"cannot read the weights in {path}: {str(error).splitlines()[0]}") from error
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
        raise InputError(f"the weights are not those of disentangling-vae's Burgess net: it {lacking} {wrong[0]!r}.")
    ours: dict[str, Tensor] = {}
    for name, value in theirs.items():
        half, layer, part = name.split(".")
        tensor = value.float()
        if layer == "mu_logvar_gen":
            tensor = tensor.unflatten(0, (-1, 2)).transpose(0, 1).flatten(0, 1)
        elif half == "encoder" and (layer, part) == ("lin1", "weight"):
            tensor = tensor.unflatten(1, (CHANNELS, CELLS, CELLS)).permute(0, 2, 3, 1).flatten(1)
        elif half == "decoder" and layer == "lin3":
            tensor = tensor.unflatten(0, (CHANNELS, CELLS, CELLS)).movedim(0, 2).flatten(0, 2)
        ours[f"{half}.{(ENCODER if half == 'encoder' else DECODER)[layer]}.{part}"] = tensor.contiguous()
    return ours
