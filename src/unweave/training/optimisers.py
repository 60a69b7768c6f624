"""Optimisers: one for the model, and one for each adversary."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn

from unweave.model import Model
from unweave.recipes import Optimiser
from unweave.training.configuration import Configuration
from unweave.training.objective import Objective


def main_optimiser(model: Model, settings: Optimiser) -> torch.optim.Optimizer:
    """Adam or AdamW of the model; decay is for the matrices and kernels of encoder and decoder alone."""
    learned = set(model.learned.parameters())
    decayed = [p for p in model.parameters() if p.ndim in (2, 4) and p not in learned]
    others = [p for p in model.parameters() if p.ndim not in (2, 4) or p in learned]
    groups = [{"params": decayed, "weight_decay": settings.weight_decay}, {"params": others, "weight_decay": 0.0}]
    kind: type[torch.optim.Adam] = {"adam": torch.optim.Adam, "adamw": torch.optim.AdamW}[settings.name]
    return kind(
        [group for group in groups if group["params"]],
        lr=settings.lr,
        betas=(settings.beta1, settings.beta2),
        eps=settings.eps,
        **_fused(model),
    )


def adversary_optimisers(objective: Objective, configuration: Configuration) -> list[torch.optim.Optimizer]:
    """Adam of each adversary, with the settings that its term has."""
    terms: dict[str, Any] = {weighted.name: weighted.term for weighted in configuration.terms}
    return [
        torch.optim.Adam(
            net.parameters(), lr=terms[name].lr, betas=(terms[name].beta1, terms[name].beta2), **_fused(net)
        )
        for name, net in objective.adversaries.items()
    ]


def _fused(module: nn.Module) -> dict[str, bool]:
    """One kernel for the whole update, where the device has it."""
    devices = {parameter.device.type for parameter in module.parameters()}
    return {"fused": devices <= {"cpu", "cuda"}}
