"""Build what a configuration trains: its model with the constants of its data, its optimisers, and its objective."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import torch
from torch import Tensor, nn

from unweave.data import DataIdentity, FactorData
from unweave.data.distances import ChannelStatistics, channel_statistics
from unweave.errors import InputError, Unavailable
from unweave.model import IN_UNIT_RANGE, Forward, Model
from unweave.nets import build_net
from unweave.nets.pair import start_adversary
from unweave.recipes import Optimiser
from unweave.streams import seeded, stream
from unweave.terms import AdversarialTerm, StatefulTerm
from unweave.training.configuration import Configuration

IMAGES = 512  # images that the mean image is computed from
DARKEST = 1e-3  # channel means are clamped to this distance from 0 and 1, where the logit is infinite


def build_model(configuration: Configuration) -> Model:
    """Return the model of a configuration with its initial weights; tensors are channels-last, which is faster."""
    latent = configuration.latent
    with seeded(configuration.seed, "weights"):
        net = build_net(
            configuration.net, configuration.data.shape, latent.outputs, latent.size, start=configuration.start
        )
        model = Model(
            net.encoder,
            net.decoder,
            latent,
            configuration.likelihood,
            channels=configuration.data.shape[0],
            offset=configuration.start == "balanced" and configuration.linear is None,
            standardised=configuration.standardised,
        )
    return model.to(memory_format=torch.channels_last)  # type: ignore[call-overload, no-any-return]


def with_weights(configuration: Configuration, tensors: dict[str, Tensor]) -> Model:
    """Return the model of a configuration with saved weights."""
    model = build_model(configuration)
    try:
        model.load_state_dict(tensors)
    except RuntimeError as error:
        raise Unavailable(f"the weights do not fit the net {configuration.net.name}: {error}") from error
    return model


@torch.no_grad()
def fit_to_data(model: Model, configuration: Configuration, data: FactorData) -> None:
    """Set the constants that a model takes from the data: those that standardise images, and the mean image.

    With ``start=balanced`` the decoder's outputs start at the mean of each channel. On mostly black images, a decoder
    that starts with grey ones pushes all codes in the same direction at first; quantised latents that saturate then
    never recover.
    """
    if configuration.standardised:
        assert model.mean is not None
        assert model.std is not None
        statistics = _statistics_of(data)
        model.mean.copy_(statistics.mean[:, None, None])
        model.std.copy_(statistics.std[:, None, None].clamp_min(DARKEST))
    if model.offset is not None:
        images = data.sample(IMAGES, stream(configuration.seed, "start")).images
        mean = images.float().mean((0, 2, 3))[:, None, None] / 255  # (C, 1, 1)
        limited = mean.clamp(DARKEST, 1 - DARKEST) if model.likelihood in IN_UNIT_RANGE else mean
        model.offset.copy_(model.to_outputs(limited))


def _statistics_of(data: FactorData) -> ChannelStatistics:
    """Return mean and standard deviation of each channel, computed once per process and data set."""
    if data.identity not in _STATISTICS:
        _STATISTICS[data.identity] = channel_statistics(data, stream(0, "standardise"))
    return _STATISTICS[data.identity]


_STATISTICS: dict[DataIdentity, ChannelStatistics] = {}


def main_optimiser(model: Model, settings: Optimiser) -> torch.optim.Optimizer:
    """Return Adam or AdamW for the model, with weight decay only for matrices and kernels of encoder and decoder."""
    decayed, others = split_by_decay(model, settings)
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


def split_by_decay(model: Model, settings: Optimiser) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Return the parameters that weight decay applies to, and the others."""
    learned, every = set(model.learned.parameters()), settings.decayed == "all"
    decays = {p: (every or p.ndim in (2, 4)) and p not in learned for p in model.parameters()}
    return [p for p, decay in decays.items() if decay], [p for p, decay in decays.items() if not decay]


def clip_gradients(model: Model, settings: Optimiser) -> None:
    """Limit the absolute value of each entry of the gradient, if the settings say so."""
    if settings.clip is not None:
        clipped = model.parameters() if settings.clipped == "all" else split_by_decay(model, settings)[0]
        torch.nn.utils.clip_grad_value_(clipped, settings.clip)


def set_learning_rate(optimiser: torch.optim.Optimizer, settings: Optimiser, step: int, steps: int) -> None:
    """Set the learning rate of a step, if it has a schedule.

    Args:
        optimiser: The optimiser, all of whose groups get the rate.
        settings: Its settings, with the schedule and the rate that the schedule leads to.
        step: The step, from 0.
        steps: The number of steps of the whole run.
    """
    if settings.schedule.kind != "constant":
        for group in optimiser.param_groups:
            group["lr"] = settings.schedule.at(step, steps, settings.lr)


def _fused(module: nn.Module) -> dict[str, bool]:
    """Use one kernel for the whole update if the device supports it."""
    devices = {parameter.device.type for parameter in module.parameters()}
    return {"fused": devices <= {"cpu", "cuda"}}


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

        Args:
            images: The batch, in [0, 1].
            step: The step of training, from 0, which weights depend on.
            generator: The source of all random numbers of the step.
            second: A function that returns a second batch, for terms that need one; None if there is none.

        Returns:
            The sum to differentiate, and the value of each term and adversary.
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
