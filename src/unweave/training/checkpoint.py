"""Checkpoints: weights and optimisers at a step, in one safetensors file, enough to go on to the same bits."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from unweave.errors import InputError, Unavailable
from unweave.training.writing import written_whole

SAID = "unweave"  # one key of the header: safetensors writes several in any order, and equal runs are equal files
OPTIMISER = "optimiser/"  # begins the names of what optimisers keep: optimiser/exp_avg/model.encoder.0.weight


def everything(module: nn.Module, optimisers: Sequence[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """All that has to be kept of a module and of the optimisers of its parameters, by name."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    kept = dict(module.state_dict())
    for optimiser in optimisers:
        for parameter, state in optimiser.state.items():
            kept |= {f"{OPTIMISER}{key}/{names[parameter]}": value for key, value in state.items()}
    return kept


def restore(module: nn.Module, optimisers: Sequence[torch.optim.Optimizer], tensors: Mapping[str, Tensor]) -> None:
    """Put back what :func:`everything` gave, in the layout that the parameters have now."""
    module.load_state_dict({name: value for name, value in tensors.items() if not name.startswith(OPTIMISER)})
    parameters = dict(module.named_parameters())
    owners = {parameter: opt for opt in optimisers for group in opt.param_groups for parameter in group["params"]}
    for path, value in tensors.items():
        if path.startswith(OPTIMISER):
            key, _, name = path.removeprefix(OPTIMISER).partition("/")
            parameter = parameters[name]
            like = parameter if value.shape == parameter.shape else value  # moments lie in memory as parameters do
            owners[parameter].state[parameter][key] = torch.empty_like(like, dtype=value.dtype).copy_(value)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors, and what is said of them, as a safetensors file, whole, over the one before."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with written_whole(path) as aside:
        try:
            save_file(plain, aside, metadata={SAID: json.dumps(dict(metadata), sort_keys=True)})
        except SafetensorError as error:
            raise OSError(str(error)) from error
        aside.chmod(0o644)  # as the other files; safetensors leaves it to its owner alone


def load_tensors(path: Path, run: str) -> tuple[dict[str, Tensor], dict[str, str]]:
    """What a safetensors file of this run holds; a damaged file, or another run's, is an error that says so."""
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(SAID, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is no dict
    except (SafetensorError, OSError, ValueError) as error:
        raise Unavailable(
            f"{path} is damaged or no safetensors file ({error}): remove it, and the same command makes it again."
        ) from error
    if metadata.get("run") != run:
        raise InputError(f"{path} belongs to another configuration ({metadata.get('run', 'none')}), not to {run}.")
    return tensors, metadata
