"""Optimisers: one for the model, and one for each adversary."""

from __future__ import annotations

import torch
from torch import nn

from unweave.model import Model
from unweave.recipes import Optimiser
from unweave.terms import AdversarialTerm
from unweave.training.configuration import Configuration
from unweave.training.objective import Objective


def main_optimiser(model: Model, settings: Optimiser) -> torch.optim.Optimizer:
    """Return Adam or AdamW for the model, with weight decay only for matrices and kernels of encoder and decoder."""
    decayed, others = split_by_decay(model)
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
    """Return Adam for each adversary, with the settings of its term."""
    terms = [weighted.term for weighted in configuration.terms if isinstance(weighted.term, AdversarialTerm)]
    return [
        torch.optim.Adam(net.parameters(), lr=term.lr, betas=(term.beta1, term.beta2), **_fused(net))
        for term, net in zip(terms, objective.adversaries.values(), strict=True)
    ]


def split_by_decay(model: Model) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Return the parameters that weight decay applies to, and the others."""
    learned = set(model.learned.parameters())
    decays = {p: p.ndim in (2, 4) and p not in learned for p in model.parameters()}
    return [p for p, decay in decays.items() if decay], [p for p, decay in decays.items() if not decay]


def clip_gradients(model: Model, settings: Optimiser) -> None:
    """Limit the absolute value of each entry of the gradient, if the settings say so."""
    if settings.clip is not None:
        clipped = model.parameters() if settings.clipped == "all" else split_by_decay(model)[0]
        torch.nn.utils.clip_grad_value_(clipped, settings.clip)


def set_learning_rate(optimiser: torch.optim.Optimizer, settings: Optimiser, step: int, steps: int) -> None:
    """Set the learning rate of a step, if it has a schedule."""
    if settings.schedule.kind != "constant":
        for group in optimiser.param_groups:
            group["lr"] = settings.schedule.at(step, steps, settings.lr)


def _fused(module: nn.Module) -> dict[str, bool]:
    """Use one kernel for the whole update if the device supports it."""
    devices = {parameter.device.type for parameter in module.parameters()}
    return {"fused": devices <= {"cpu", "cuda"}}
