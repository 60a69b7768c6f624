"""The objective: one forward pass, every term of it that has a weight at this step, and the adversaries' losses."""

from __future__ import annotations

import torch
from torch import Tensor, nn

from unweave.model import Forward, Model
from unweave.training.configuration import Configuration


class Objective(nn.Module):
    """A model with its terms and their adversaries: one module, one call of which devices and precision wrap.

    A term gives its adversary no gradient, and an adversary's loss gives the model none; so one backward pass of the
    sum serves all, and each optimiser steps its own.
    """

    def __init__(self, model: Model, configuration: Configuration) -> None:
        super().__init__()
        self.model = model
        self._configuration = configuration
        latents = configuration.latent.size
        made = {weighted.name: weighted.term.adversary(latents) for weighted in configuration.terms}
        self.adversaries = nn.ModuleDict({name: net for name, net in made.items() if net is not None})

    def weights(self, step: int) -> dict[str, float]:
        """Each term's weight at a step."""
        steps = self._configuration.steps
        return {w.name: w.schedule.at(step, steps, w.weight) for w in self._configuration.terms}

    def forward(
        self, images: Tensor, step: int, generator: torch.Generator
    ) -> tuple[dict[str, Tensor], dict[str, Tensor]]:
        """The values of the terms that count at this step, and the losses of the adversaries."""
        batch = Forward(
            self.model,
            images,
            generator=generator,
            step=step,
            steps=self._configuration.steps,
            dataset_size=self._configuration.data.size,
            regroup=self._configuration.grouping,
            adversaries=dict(self.adversaries.items()),
        )
        weights = self.weights(step)
        values = {w.name: w.term(batch) for w in self._configuration.terms if weights[w.name] != 0}
        terms = {w.name: w.term for w in self._configuration.terms}
        losses = {name: terms[name].adversary_loss(batch, net) for name, net in self.adversaries.items()}
        return values, losses
