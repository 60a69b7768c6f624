from __future__ import annotations

import torch

from tests.training.small import SMALL, bars
from unweave.training.configuration import configure
from unweave.training.objective import Objective
from unweave.training.optimisers import adversary_optimisers, main_optimiser
from unweave.training.run import build_model


def test_decay_is_for_kernels_and_matrices_alone() -> None:
    configuration, _ = configure("qlae", bars(), SMALL)
    model = build_model(configuration)
    optimiser = main_optimiser(model, configuration.optimiser)
    assert isinstance(optimiser, torch.optim.AdamW)
    decayed, others = optimiser.param_groups
    assert (decayed["weight_decay"], others["weight_decay"]) == (0.1, 0.0)
    assert all(parameter.ndim >= 2 for parameter in decayed["params"])
    assert any(parameter is model.learned["codebook"] for parameter in others["params"])
    assert len(decayed["params"]) + len(others["params"]) == len(list(model.parameters()))


def test_an_adversary_has_the_optimiser_that_its_term_says() -> None:
    configuration, _ = configure("factor_vae", bars(), {**SMALL, "total_correlation_discriminator.width": 8})
    objective = Objective(build_model(configuration), configuration)
    (optimiser,) = adversary_optimisers(objective, configuration)
    assert optimiser.defaults["lr"] == 1e-4
    assert optimiser.defaults["betas"] == (0.5, 0.9)
    assert adversary_optimisers(Objective(objective.model, configure("vae", bars(), SMALL)[0]), configuration) == []
