from __future__ import annotations

from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from unweave.errors import InputError, Unavailable
from unweave.training.checkpoint import everything, load_tensors, restore, save_tensors, step_of


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
    restore(tmp_path / "c", other, optimisers, tensors, step=3)
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
    with pytest.raises(Unavailable, match="damaged or not a safetensors file"):
        load_tensors(tmp_path / "c", "r")


WEIGHT = "optimiser/exp_avg/0.weight"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"0.weight": None}, "it has no tensor 0.weight"),
        ({"strange": torch.ones(1)}, "it has an unknown tensor strange"),
        ({"0.weight": torch.ones(4)}, r"0.weight has shape \(4,\), expected \(4, 3, 3, 3\)"),
        ({"0.bias": torch.ones(4, dtype=torch.int64)}, "0.bias has type int64, expected float32"),
        ({WEIGHT: None}, "the optimiser state exp_avg of 0.weight is missing"),
        ({"optimiser/step/3.bias": None}, "the optimiser state step of 3.bias is missing"),
        ({WEIGHT: torch.ones(2)}, r"exp_avg of 0.weight has shape \(2,\), expected \(4, 3, 3, 3\)"),
        ({WEIGHT: torch.ones(4, 3, 3, 3, dtype=torch.int32)}, "exp_avg of 0.weight has type int32, expected float32"),
        ({"optimiser/step/0.weight": torch.ones(2)}, "step of 0.weight is not a number from 1 to 2"),
        ({"optimiser/step/0.weight": torch.tensor(3.0)}, "step of 0.weight is not a number from 1 to 2"),
        ({"optimiser/step/0.weight": torch.tensor(torch.nan)}, "step of 0.weight is not a number from 1 to 2"),
        ({"optimiser/step/0.weight": torch.tensor(1)}, "step of 0.weight is not a number from 1 to 2"),
        ({"optimiser/colour/0.weight": torch.tensor(1.0)}, "the optimiser state colour of 0.weight is unknown"),
        ({"optimiser/exp_avg/strange": torch.ones(1)}, "it has optimiser states for strange, which is not optimised"),
    ],
)
def test_a_checkpoint_of_other_tensors_is_a_sentence(change: dict[str, Tensor | None], reason: str) -> None:
    module, optimisers = network()
    steps(module, optimisers, 2, seed=0)
    changed = {**everything(module, optimisers), **change}
    tensors = {name: value for name, value in changed.items() if value is not None}
    other, others = network()
    before = {name: value.clone() for name, value in other.state_dict().items()}
    with pytest.raises(Unavailable, match=rf"c does not fit this run \(.*{reason}\): remove it, and the run starts"):
        restore(Path("c"), other, others, tensors, step=2)
    assert all(torch.equal(value, before[name]) for name, value in other.state_dict().items())


def test_a_checkpoint_without_optimiser_states_is_one_of_step_0_only() -> None:
    module, optimisers = network()
    start = everything(module, optimisers)
    restore(Path("c"), module, optimisers, start, step=0)
    with pytest.raises(Unavailable, match=r"does not fit this run \(it has no optimiser states\)"):
        restore(Path("c"), module, optimisers, start, step=1)
    steps(module, optimisers, 1, seed=0)
    half = {name: value for name, value in everything(module, optimisers).items() if "/3." not in name}
    with pytest.raises(Unavailable, match="it has no optimiser states"):  # those of the second optimiser
        restore(Path("c"), *network(), half, step=1)


@pytest.mark.parametrize("step", [{}, {"step": "-1"}, {"step": "13"}, {"step": "two"}, {"step": ""}])
def test_a_wrong_step_is_a_sentence(step: dict[str, str]) -> None:
    with pytest.raises(Unavailable, match="its step must be between 0 and 12"):
        step_of(Path("c"), step, 12)
    assert step_of(Path("c"), {"step": "12"}, 12) == 12
