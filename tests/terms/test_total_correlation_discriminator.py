from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from tests.terms.models import forward, gradient, randn
from unweave.errors import InputError
from unweave.terms import TotalCorrelationDiscriminator
from unweave.terms.total_correlation_discriminator import density_ratio, discriminator_loss, permute_latents

TERM = TotalCorrelationDiscriminator(layers=2, width=8)
NAME = "total_correlation_discriminator"


def test_the_value_is_the_mean_difference_of_the_two_logits() -> None:
    adversary, z = TERM.adversary(3).double(), randn(6, 3)
    logits = adversary(z).tolist()
    assert density_ratio(adversary, z).item() == pytest.approx(sum(a - b for a, b in logits) / 6)


def test_the_loss_is_half_of_two_cross_entropies() -> None:
    adversary, z, shuffled = TERM.adversary(3).double(), randn(6, 3), randn(6, 3, seed=1)
    total = 0.0
    for codes, label in [(z, 0), (shuffled, 1)]:
        for logits in adversary(codes).tolist():
            total -= math.log(math.exp(logits[label]) / (math.exp(logits[0]) + math.exp(logits[1])))
    assert discriminator_loss(adversary, z, shuffled).item() == pytest.approx(0.5 * total / 6)


def test_the_value_moves_the_model_and_leaves_the_discriminator_alone() -> None:
    adversary = TERM.adversary(3).double()
    batch = forward(adversaries={NAME: adversary})
    value = TERM(batch)
    assert torch.equal(value, density_ratio(adversary, batch.code.z))
    torch.autograd.backward(value)
    assert gradient(batch.model.encoder) > 0
    assert all(parameter.grad is None for parameter in adversary.parameters())
    assert all(parameter.requires_grad for parameter in adversary.parameters())


def test_the_discriminators_loss_moves_it_and_leaves_the_model_alone() -> None:
    adversary = TERM.adversary(3).double()
    batch = forward(adversaries={NAME: adversary})
    torch.autograd.backward(TERM.adversary_loss(batch, adversary))
    assert all(parameter.grad is not None for parameter in adversary.parameters())
    assert all(parameter.grad is None for parameter in batch.model.parameters())


def test_both_gradients_of_one_pass_do_not_meet() -> None:
    """The order of a training step: the model's loss, the discriminator's, then both steps."""
    adversary = TERM.adversary(3).double()
    batch = forward(adversaries={NAME: adversary})
    weight = next(batch.model.encoder.parameters())
    (alone,) = torch.autograd.grad(TERM(batch), weight, retain_graph=True)
    torch.autograd.backward(TERM(batch) + TERM.adversary_loss(batch, adversary))
    assert weight.grad is not None
    assert torch.equal(weight.grad, alone)


def test_permuting_keeps_each_latents_values_and_parts_them_from_their_rows() -> None:
    z = torch.arange(400.0).reshape(100, 4)
    shuffled = permute_latents(z, torch.Generator().manual_seed(0))
    for latent in range(4):
        assert sorted(shuffled[:, latent].tolist()) == z[:, latent].tolist()
    rows = (shuffled // 4).long()  # where each value came from
    for one in range(4):
        for other in range(one + 1, 4):
            assert (rows[:, one] == rows[:, other]).float().mean() < 0.1  # each latent has its own permutation


def test_a_trained_discriminator_finds_the_total_correlation_of_a_gaussian() -> None:
    generator = torch.Generator().manual_seed(0)
    with torch.random.fork_rng():
        torch.manual_seed(0)
        adversary = TotalCorrelationDiscriminator(layers=2, width=32).adversary(2)
    optimiser = torch.optim.Adam(adversary.parameters(), 1e-2)
    covariance = torch.tensor([[1.0, 0.8], [0.8, 1.0]])
    factor = torch.linalg.cholesky(covariance)
    for _ in range(300):
        z = torch.randn(512, 2, generator=generator) @ factor.T
        optimiser.zero_grad()
        torch.autograd.backward(discriminator_loss(adversary, z, permute_latents(z, generator)))
        optimiser.step()
    z = torch.randn(20_000, 2, generator=generator) @ factor.T
    assert density_ratio(adversary, z).item() == pytest.approx(-0.5 * math.log(1 - 0.64), abs=0.1)


def test_the_default_discriminator_is_as_published() -> None:
    adversary = TotalCorrelationDiscriminator().adversary(10)
    linear = [module for module in adversary.modules() if isinstance(module, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in linear] == [
        (10, 1000),
        *[(1000, 1000)] * 5,
        (1000, 2),
    ]
    slopes = [module.negative_slope for module in adversary.modules() if isinstance(module, nn.LeakyReLU)]
    assert slopes == [0.2] * 6


def test_a_batch_without_the_discriminator_is_a_sentence() -> None:
    with pytest.raises(InputError, match="needs its discriminator, 'total_correlation_discriminator', among"):
        TERM(forward())
