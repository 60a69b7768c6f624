"""Checkpoints: weights and optimiser states at a step, in one safetensors file; enough to continue to the same bits."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping, Sequence
from pathlib import Path

import torch
from torch import Tensor, nn

from unweave.errors import InputError, Unavailable
from unweave.store.files import atomic_write

METADATA = "unweave"  # a single key: safetensors writes several in any order, and equal runs must give equal files
OPTIMISER = "optimiser/"  # prefix of the names of optimiser states: optimiser/exp_avg/model.encoder.0.weight
MOMENTS = ("exp_avg", "exp_avg_sq")  # states of Adam that have the shape of their parameter
FROM_START = "Remove it, and the run starts again."  # what to do about a damaged checkpoint


def everything(module: nn.Module, optimisers: Sequence[torch.optim.Optimizer]) -> dict[str, Tensor]:
    """Return all tensors of a module and of the optimisers of its parameters, by name."""
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    tensors = dict(module.state_dict())
    for optimiser in optimisers:
        for parameter, state in optimiser.state.items():
            tensors |= {f"{OPTIMISER}{key}/{names[parameter]}": value for key, value in state.items()}
    return tensors


def restore(
    path: Path,
    module: nn.Module,
    optimisers: Sequence[torch.optim.Optimizer],
    tensors: Mapping[str, Tensor],
    *,
    step: int,
) -> None:
    """Load what :func:`everything` returned after ``step`` steps, in the memory layout of the parameters.

    All tensors are checked first: torch does not check the states of an optimiser, and wrong shapes crash the process.

    Args:
        path: The file that the tensors come from, for messages.
        module: The module whose weights are replaced.
        optimisers: The optimisers of its parameters, whose states are replaced.
        tensors: Weights and optimiser states by name.
        step: The number of steps that were done when they were saved.
    """
    weights = {name: value for name, value in tensors.items() if not name.startswith(OPTIMISER)}
    states: dict[str, dict[str, Tensor]] = {}
    for full in tensors.keys() - weights.keys():
        key, _, name = full.removeprefix(OPTIMISER).partition("/")
        states.setdefault(name, {})[key] = tensors[full]
    try:
        _check_weights(module, weights)
        _check_states(module, optimisers, states, step)
    except ValueError as error:
        raise Unavailable(f"{path} does not fit this run ({error}): remove it, and the run starts again.") from error
    module.load_state_dict(weights)
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    for optimiser in optimisers:
        for parameter in (parameter for group in optimiser.param_groups for parameter in group["params"]):
            for key, value in states.get(names[parameter], {}).items():
                device = parameter.device if key in MOMENTS or optimiser.defaults.get("fused") else value.device
                like = parameter if key in MOMENTS else value
                optimiser.state[parameter][key] = torch.empty_like(like, device=device).copy_(value)


def _check_weights(module: nn.Module, weights: Mapping[str, Tensor]) -> None:
    """Raise a ValueError if the tensors are not those of the module."""
    expected = module.state_dict()
    for name in sorted(expected.keys() - weights.keys()):
        raise ValueError(f"it has no tensor {name}")
    for name in sorted(weights.keys() - expected.keys()):
        raise ValueError(f"it has an unknown tensor {name}")
    for name, value in weights.items():
        _check_like(name, value, expected[name])


def _check_states(
    module: nn.Module,
    optimisers: Sequence[torch.optim.Optimizer],
    states: Mapping[str, Mapping[str, Tensor]],
    step: int,
) -> None:
    """Raise a ValueError if the states are not those of Adam for these parameters after some of ``step`` steps.

    A parameter that never had a gradient has no state, but not all parameters of an optimiser can be without.
    """
    names: dict[Tensor, str] = {parameter: name for name, parameter in module.named_parameters()}
    owned = [[names[p] for group in optimiser.param_groups for p in group["params"]] for optimiser in optimisers]
    for name in sorted(states.keys() - {name for group in owned for name in group}):
        raise ValueError(f"it has optimiser states for {name}, which is not optimised")
    if step and not all(any(name in states for name in group) for group in owned):
        raise ValueError("it has no optimiser states")
    parameters = dict(module.named_parameters())
    for name, state in states.items():
        for key in (key for key in (*MOMENTS, "step") if key not in state):
            raise ValueError(f"the optimiser state {key} of {name} is missing")
        for key, value in state.items():
            if key in MOMENTS:
                _check_like(f"the optimiser state {key} of {name}", value, parameters[name])
            elif key != "step":
                raise ValueError(f"the optimiser state {key} of {name} is unknown")
        count = state["step"]
        if count.shape != () or count.dtype != torch.float32 or not 0 < float(count) <= step:
            raise ValueError(f"the optimiser state step of {name} is not a number from 1 to {step}")


def _check_like(what: str, value: Tensor, expected: Tensor) -> None:
    if value.shape != expected.shape:
        raise ValueError(f"{what} has shape {tuple(value.shape)}, expected {tuple(expected.shape)}")
    if value.dtype != expected.dtype:
        raise ValueError(f"{what} has type {_type(value)}, expected {_type(expected)}")


def _type(value: Tensor) -> str:
    return str(value.dtype).removeprefix("torch.")


def step_of(path: Path, metadata: Mapping[str, str], steps: int) -> int:
    """Return the number of steps that a checkpoint has recorded, at most ``steps``."""
    step = str(metadata.get("step", ""))
    if not step.isdecimal() or int(step) > steps:
        raise Unavailable(f"{path} is damaged: its step must be between 0 and {steps}, got {step!r}. {FROM_START}")
    return int(step)


def save_tensors(path: Path, tensors: Mapping[str, Tensor], metadata: Mapping[str, str]) -> None:
    """Write tensors and metadata as a safetensors file, atomically."""
    from safetensors import SafetensorError
    from safetensors.torch import save_file

    plain = {name: tensor.detach().cpu().contiguous().clone() for name, tensor in tensors.items()}
    with atomic_write(path) as aside:
        try:
            save_file(plain, aside, metadata={METADATA: json.dumps(dict(metadata), sort_keys=True)})
        except SafetensorError as error:
            number = re.search(r"\(os error (\d+)\)", str(error))
            raise OSError(int(number[1]), os.strerror(int(number[1]))) if number else OSError(str(error)) from error
        aside.chmod(0o644)  # as the other files; safetensors makes it readable by the owner only


def load_tensors(path: Path, run: str, advice: str = "") -> tuple[dict[str, Tensor], dict[str, str]]:
    """Return tensors and metadata of a safetensors file; a damaged file, or one of another run, is refused.

    ``advice`` says what to do about a damaged file, by default to remove the whole run.
    """
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="pt") as file:
            metadata = json.loads((file.metadata() or {}).get(METADATA, "{}"))
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  it is not a dict
    except (SafetensorError, OSError, ValueError) as error:
        advice = advice or f"Remove the folder {path.parent}, and train or download the run again."
        raise Unavailable(f"{path} is damaged or not a safetensors file ({error}). {advice}") from error
    if not isinstance(metadata, dict) or metadata.get("run") != run:
        other = metadata.get("run", "none") if isinstance(metadata, dict) else "none"
        raise InputError(f"{path} belongs to another configuration ({other}), not to {run}.")
    return tensors, metadata
