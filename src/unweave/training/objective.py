"""The objective: one forward pass, the weighted sum of all terms at a step, and the losses of the adversaries."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.model import Forward, Model
from unweave.nets.start import start_adversary
from unweave.terms import AdversarialTerm, StatefulTerm
from unweave.training.configuration import Configuration


class Losses(NamedTuple):
    """The scalar to differentiate, and what is logged: the loss, each term, and each adversary's loss."""

    total: Tensor
    values: dict[str, Tensor]


class Objective(nn.Module):
    """A model with its terms and their adversaries, as one module that Fabric can wrap.

    A term passes no gradient to its adversary, and the loss of an adversary passes none to the model. So one backward
    pass of the sum serves all of them, and each optimiser updates its own parameters.
    """

    def __init__(self, model: Model, configuration: Configuration) -> None:
        super().__init__()
        self.model = model
        self._configuration = configuration
        self.adversaries = nn.ModuleDict(
            {
                _key(weighted.name): weighted.term.make_adversary(configuration.latent.size)
                for weighted in configuration.terms
                if isinstance(weighted.term, AdversarialTerm)
            }
        )

        for adversary in self.adversaries.values():
            start_adversary(adversary, configuration.start)
        shape = configuration.data.shape
        self.states = nn.ModuleDict(
            {
                _key(weighted.name): weighted.term.make_state(shape)
                for weighted in configuration.terms
                if isinstance(weighted.term, StatefulTerm)
            }
        )

    def weights(self, step: int) -> dict[str, float]:
        """Return the weight of each term at a step."""
        steps = self._configuration.steps
        return {w.name: w.schedule.at(step, steps, w.weight) for w in self._configuration.terms}

    def forward(
        self, images: Tensor, step: int, generator: torch.Generator, second: Callable[[], Tensor] | None = None
    ) -> Losses:
        """Return the losses of a batch of images (B, C, H, W); terms whose weight is 0 at this step are not computed.

        ``second`` returns a second batch, for terms that need one.
        """
        forward = Forward(
            self.model,
            images,
            generator=generator,
            step=step,
            steps=self._configuration.steps,
            dataset_size=self._configuration.data.num_images,
            regroup=self._configuration.grouping,
            augment=self._configuration.augment,
            second=second,
        )
        weights = self.weights(step)
        loss = torch.zeros((), device=images.device)
        values: dict[str, Tensor] = {}
        losses: dict[str, Tensor] = {}
        for name, term in ((w.name, w.term) for w in self._configuration.terms):
            if isinstance(term, AdversarialTerm):
                adversary = self.adversaries[_key(name)]
                losses[f"{name}.adversary"] = _scalar(name, term.adversary_loss(forward, adversary))
                value = term(forward, adversary) if weights[name] else None
            elif isinstance(term, StatefulTerm):
                value = term(forward, self.states[_key(name)]) if weights[name] else None
            else:
                value = term(forward) if weights[name] else None
            if value is not None:
                values[name] = _scalar(name, value)
                loss = loss + weights[name] * value
        return Losses(sum(losses.values(), loss), {"loss": loss} | values | losses)


def _key(name: str) -> str:
    """Return the name of an adversary among the modules, which must not contain dots."""
    return name.replace(".", "/")


def _scalar(name: str, value: object) -> Tensor:
    if not isinstance(value, Tensor):
        raise InputError(f"the term {name} must return a scalar tensor, got {type(value).__name__}.")
    if value.ndim:
        raise InputError(f"the term {name} must return a scalar, got shape {tuple(value.shape)}.")
    return value
