from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import nn

from unweave.errors import InputError, Unavailable
from unweave.training.checkpoint import everything, load_tensors, restore, save_tensors


def network() -> tuple[nn.Module, list[torch.optim.Optimizer]]:
    torch.manual_seed(0)
    module = nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.Flatten(), nn.Linear(16, 2))
    for parameter in module.parameters():
        if parameter.ndim == 4:
            parameter.data = parameter.data.contiguous(memory_format=torch.channels_last)
    first, second = list(module[0].parameters()), list(module[3].parameters())
    return module, [torch.optim.Adam(first, fused=True), torch.optim.AdamW(second, lr=0.1)]


def steps(module: nn.Module, optimisers: list[torch.optim.Optimizer], n: int, seed: int) -> None:
    for step in range(n):
        images = torch.randn(5, 3, 4, 4, generator=torch.Generator().manual_seed(seed + step))
        for optimiser in optimisers:
            optimiser.zero_grad()
        module(images).square().sum().backward()
        for optimiser in optimisers:
            optimiser.step()


def test_what_is_restored_goes_on_as_if_never_stopped(tmp_path: Path) -> None:
    whole, whole_optimisers = network()
    steps(whole, whole_optimisers, 3, seed=0)
    save_tensors(tmp_path / "c", everything(whole, whole_optimisers), {"run": "r", "step": "3"})
    steps(whole, whole_optimisers, 3, seed=3)
    other, optimisers = network()
    steps(other, optimisers, 1, seed=50)  # to be overwritten
    tensors, metadata = load_tensors(tmp_path / "c", "r")
    assert metadata == {"run": "r", "step": "3"}
    restore(other, optimisers, tensors)
    moment = optimisers[0].state[other[0].weight]["exp_avg"]  # type: ignore[index]
    assert moment.is_contiguous(memory_format=torch.channels_last)
    steps(other, optimisers, 3, seed=3)
    first, second = everything(whole, whole_optimisers), everything(other, optimisers)
    assert first.keys() == second.keys()
    assert all(torch.equal(first[name], second[name]) for name in first)


def test_equal_tensors_are_equal_files(tmp_path: Path) -> None:
    tensors = {name: torch.ones(3) for name in "abcdef"}
    for name in ("one", "two"):
        save_tensors(tmp_path / name, tensors, {"run": "r", "step": "1", "version": "v"})
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_other_files_are_refused(tmp_path: Path) -> None:
    save_tensors(tmp_path / "c", {"a": torch.ones(3)}, {"run": "r"})
    with pytest.raises(InputError, match="belongs to another configuration \\(r\\), not to s"):
        load_tensors(tmp_path / "c", "s")
    (tmp_path / "c").write_bytes((tmp_path / "c").read_bytes()[:-1])
    with pytest.raises(Unavailable, match="damaged or no safetensors file"):
        load_tensors(tmp_path / "c", "r")
