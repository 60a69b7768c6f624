from __future__ import annotations

import torch

from tests.training.small import SMALL, bars
from unweave.training.configuration import configure
from unweave.training.objective import Objective
from unweave.training.run import build_model


def objective(recipe: str, **settings: object) -> Objective:
    configuration, _ = configure(recipe, bars(), {**SMALL, **settings})
    return Objective(build_model(configuration), configuration)


IMAGES = torch.rand(8, 1, 16, 16, generator=torch.Generator().manual_seed(0))


def test_terms_without_weight_are_not_computed() -> None:
    made = objective("jl1_vae", steps=12)
    values, _ = made(IMAGES, 0, torch.Generator())
    assert set(values) == {"reconstruction"}  # both ramps start at 0
    values, _ = made(IMAGES, 1, torch.Generator())
    assert set(values) == {"reconstruction", "kl", "jacobian_l1"}
    assert made.weights(2) == {"reconstruction": 1.0, "kl": 2.0, "jacobian_l1": 0.05}


def test_one_backward_pass_gives_each_side_its_own_gradient_alone() -> None:
    made = objective("factor_vae", **{"total_correlation_discriminator.width": 8})
    values, losses = made(IMAGES, 0, torch.Generator().manual_seed(0))
    weights = made.weights(0)
    loss = sum(weights[name] * value for name, value in values.items())
    model, adversary = list(made.model.parameters()), list(made.adversaries.parameters())
    alone = torch.autograd.grad(loss, model, retain_graph=True)
    against = torch.autograd.grad(losses["total_correlation_discriminator"], adversary, retain_graph=True)
    torch.autograd.backward(loss + losses["total_correlation_discriminator"])
    for parameter, gradient in zip([*model, *adversary], [*alone, *against], strict=True):
        torch.testing.assert_close(parameter.grad, gradient)
