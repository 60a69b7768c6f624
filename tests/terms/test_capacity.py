from __future__ import annotations

import pytest
import torch

from tests.terms.models import forward
from unweave.terms import KL, Capacity
from unweave.terms.capacity import capacity_loss


def test_the_modulus_is_of_the_batchs_mean() -> None:
    mean = torch.tensor([[2.0], [4.0]])  # KLs of 2 and 8
    logvar = torch.zeros(2, 1)
    assert float(capacity_loss(mean, logvar, capacity=5.0)) == 0.0  # each image by itself would be 3 away
    assert float(capacity_loss(mean, logvar, capacity=1.0)) == 4.0
    assert float(capacity_loss(mean, logvar, capacity=7.5)) == 2.5


def test_the_term_reads_the_batchs_step() -> None:
    for step, over, capacity in [(0, 0.5, 0.0), (25, 0.5, 10.0), (80, 0.5, 20.0), (5, 10, 10.0), (50, 1.0, 10.0)]:
        passed = forward(step=step, steps=100)
        expected = abs(KL()(passed).item() - capacity)
        assert Capacity(maximum=20.0, over=over)(passed).item() == pytest.approx(expected)


def test_its_gradient_pulls_towards_the_capacity_from_both_sides() -> None:
    for capacity, sign in [(1.0, 1.0), (9.0, -1.0)]:
        mean = torch.tensor([[2.0], [4.0]], requires_grad=True)
        torch.autograd.backward(capacity_loss(mean, torch.zeros(2, 1), capacity=capacity))
        assert mean.grad is not None
        assert mean.grad.flatten().tolist() == [sign * 1.0, sign * 2.0]
