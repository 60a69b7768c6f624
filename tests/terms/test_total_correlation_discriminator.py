from __future__ import annotations

import math

import pytest
import torch
from torch import nn

from tests.terms.models import forward, gradient, randn
from unweave.latents import Code
from unweave.terms import TotalCorrelationDiscriminator
from unweave.terms.total_correlation_discriminator import density_ratio, discriminator_loss, permute_latents

TERM = TotalCorrelationDiscriminator(layers=2, width=8)


def test_the_value_is_the_mean_difference_of_the_two_logits() -> None:
    adversary, z = TERM.make_adversary(3).double(), randn(6, 3)
    logits = adversary(z).tolist()
    assert density_ratio(adversary, z).item() == pytest.approx(sum(a - b for a, b in logits) / 6)


def test_the_loss_is_half_of_two_cross_entropies() -> None:
    adversary, z, shuffled = TERM.make_adversary(3).double(), randn(6, 3), randn(6, 3, seed=1)
    total = 0.0
    for codes, label in [(z, 0), (shuffled, 1)]:
        for logits in adversary(codes).tolist():
            total -= math.log(math.exp(logits[label]) / (math.exp(logits[0]) + math.exp(logits[1])))
    assert discriminator_loss(adversary, z, shuffled).item() == pytest.approx(0.5 * total / 6)


def test_the_value_moves_the_model_and_leaves_the_discriminator_alone() -> None:
    adversary = TERM.make_adversary(3).double()
    passed = forward()
    value = TERM(passed, adversary)
    assert torch.equal(value, density_ratio(adversary, passed.code.z))
    torch.autograd.backward(value)
    assert gradient(passed.model.encoder) > 0
    assert all(parameter.grad is None for parameter in adversary.parameters())
    assert all(parameter.requires_grad for parameter in adversary.parameters())


def test_the_discriminators_loss_moves_it_and_leaves_the_model_alone() -> None:
    adversary = TERM.make_adversary(3).double()
    passed = forward()
    torch.autograd.backward(TERM.adversary_loss(passed, adversary))
    assert all(parameter.grad is not None for parameter in adversary.parameters())
    assert all(parameter.grad is None for parameter in passed.model.parameters())


def test_both_gradients_of_one_pass_do_not_meet() -> None:
    """The order of a training step: the model's loss, the discriminator's, then both steps."""
    adversary = TERM.make_adversary(3).double()
    passed = forward()
    weight = next(passed.model.encoder.parameters())
    (alone,) = torch.autograd.grad(TERM(passed, adversary), weight, retain_graph=True)
    torch.autograd.backward(TERM(passed, adversary) + TERM.adversary_loss(passed, adversary))
    assert weight.grad is not None
    assert torch.equal(weight.grad, alone)


def test_permuting_keeps_the_values_of_each_latent_and_breaks_up_rows() -> None:
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
        adversary = TotalCorrelationDiscriminator(layers=2, width=32).make_adversary(2)
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
    adversary = TotalCorrelationDiscriminator().make_adversary(10)
    linear = [module for module in adversary.modules() if isinstance(module, nn.Linear)]
    assert [(layer.in_features, layer.out_features) for layer in linear] == [
        (10, 1000),
        *[(1000, 1000)] * 5,
        (1000, 2),
    ]
    slopes = [module.negative_slope for module in adversary.modules() if isinstance(module, nn.LeakyReLU)]
    assert slopes == [0.2] * 6


def test_the_permuted_codes_can_be_those_of_a_second_batch() -> None:
    term = TotalCorrelationDiscriminator(width=4, layers=1, permuted="second")
    torch.manual_seed(0)
    adversary = term.make_adversary(3)
    first, second = torch.randn(6, 3), torch.randn(6, 3) + 5

    class Passed:
        """A forward pass of codes that are given."""

        def __init__(self) -> None:
            self.code, self.second_codes = Code(first, first), second
            self.generator = torch.Generator().manual_seed(1)

    loss = term.adversary_loss(Passed(), adversary)  # type: ignore[arg-type]
    shuffled = permute_latents(second, torch.Generator().manual_seed(1))
    torch.testing.assert_close(loss, discriminator_loss(adversary, first, shuffled))
