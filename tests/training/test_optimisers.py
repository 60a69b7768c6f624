from __future__ import annotations

import torch

from tests.training.small import SMALL, bars
from unweave.recipes.recipe import Optimiser
from unweave.training.assembly import (
    adversary_optimisers,
    build_model,
    clip_gradients,
    main_optimiser,
    set_learning_rate,
    split_by_decay,
)
from unweave.training.configuration import configure
from unweave.training.objective import Objective


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
    vae, _ = configure("vae", bars(), SMALL)
    assert adversary_optimisers(Objective(build_model(vae), vae), vae) == []


def test_the_learning_rate_follows_its_schedule() -> None:
    configuration, _ = configure("vae", bars(), {**SMALL, "lr": 1.0, "lr.schedule": "linear", "lr.over": 10})
    settings = configuration.optimiser
    optimiser = main_optimiser(build_model(configuration), settings)
    rates = []
    for step in (0, 5, 10, 11):
        set_learning_rate(optimiser, settings, step, 12)
        rates.append({group["lr"] for group in optimiser.param_groups})
    assert rates == [{0.0}, {0.5}, {1.0}, {1.0}]


def test_gradients_are_clipped_entry_by_entry_everywhere_or_where_they_decay() -> None:
    for clipped in ("all", "decayed"):
        configuration, _ = configure("qlae", bars(), {**SMALL, "optimiser.clipped": clipped})
        model = build_model(configuration)
        for parameter in model.parameters():
            parameter.grad = torch.full_like(parameter, 5.0)
        clip_gradients(model, configuration.optimiser)
        decayed, others = split_by_decay(model, Optimiser())
        assert {float(p.grad.max()) for p in decayed if p.grad is not None} == {1.0}
        assert {float(p.grad.max()) for p in others if p.grad is not None} == {1.0 if clipped == "all" else 5.0}


def test_decay_of_everything_but_the_codebook_is_that_of_tripods_code() -> None:
    configuration, _ = configure("qlae", bars(), {**SMALL, "optimiser.decayed": "all"})
    model = build_model(configuration)
    decayed, others = main_optimiser(model, configuration.optimiser).param_groups
    assert [parameter is model.learned["codebook"] for parameter in others["params"]] == [True]
    assert any(parameter.ndim == 1 for parameter in decayed["params"])
    plain, _ = configure("qlae", bars(), SMALL)
    assert configuration.name != plain.name
    assert "decayed" not in plain.canonical()  # runs without it keep their names
