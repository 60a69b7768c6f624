from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

import unweave
from tests.training.small import SMALL, bars, pictures, trained
from tests.training.test_loop import own_net
from unweave.errors import InputError
from unweave.model import Forward
from unweave.recipes.recipe import Optimiser
from unweave.terms import AdversarialTerm, Term
from unweave.training.assembly import (
    Objective,
    adversary_optimisers,
    build_model,
    clip_gradients,
    fit_to_data,
    main_optimiser,
    set_learning_rate,
    split_by_decay,
)
from unweave.training.configuration import configure


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
@pytest.mark.parametrize("net", ["conv16", "mlp", own_net])
def test_with_the_balanced_start_every_decoder_begins_at_the_mean_image(likelihood: str, net: object) -> None:
    configuration, _ = configure("beta_vae", bars(), {**SMALL, "likelihood": likelihood, "net": net})
    model = build_model(configuration)
    fit_to_data(model, configuration, bars())
    assert model.offset is not None
    blank = model.to_images(model.offset)
    assert blank.item() == pytest.approx(float(pictures().float().mean()) / 255, abs=0.02)


def test_published_starts_have_no_mean_image() -> None:
    for start in ("pytorch", "tensorflow", "jl1"):
        configuration, _ = configure("beta_vae", bars(), {**SMALL, "start": start})
        model = build_model(configuration)
        fit_to_data(model, configuration, bars())
        assert model.offset is None
    biases = list(model.encoder.parameters())[-1]
    assert biases[10:].tolist() == [-3.0] * 10  # log-variances in the code of Rhodes & Lee 2021


def test_images_are_standardised_by_the_constants_of_the_data() -> None:
    data = unweave.load("xysquares", size=16)
    settings = {**SMALL, "standardised": True, "likelihood": "gaussian"}
    configuration, _ = configure("beta_vae", data, settings)
    model = build_model(configuration)
    fit_to_data(model, configuration, data)
    images = data.sample(2000, torch.Generator().manual_seed(0)).images.float() / 255
    seen = model.standardise(images)
    torch.testing.assert_close(seen.mean((0, 2, 3)), torch.zeros(3), atol=0.02, rtol=0)
    torch.testing.assert_close(seen.std((0, 2, 3)), torch.ones(3), atol=0.02, rtol=0)
    torch.testing.assert_close(model.to_images(seen), images, atol=1e-5, rtol=0)


def objective(recipe: str, **settings: object) -> Objective:
    configuration, _ = configure(recipe, bars(), {**SMALL, **settings})
    return Objective(build_model(configuration), configuration)


IMAGES = torch.rand(8, 1, 16, 16, generator=torch.Generator().manual_seed(0))


def test_terms_without_weight_are_not_computed() -> None:
    made = objective("jl1_vae", steps=12)
    values = made(IMAGES, 0, torch.Generator()).values
    assert set(values) == {"loss", "reconstruction"}  # both ramps start at 0
    values = made(IMAGES, 1, torch.Generator()).values
    assert set(values) == {"loss", "reconstruction", "kl", "jacobian_l1"}
    assert made.weights(2) == {"reconstruction": 1.0, "kl": 2.0, "jacobian_l1": 0.05}


def test_the_loss_is_the_weighted_sum_of_the_terms() -> None:
    made = objective("jl1_vae", steps=12)
    total, values = made(IMAGES, 2, torch.Generator().manual_seed(0))
    expected = sum(weight * values[name] for name, weight in made.weights(2).items())
    torch.testing.assert_close(total, expected)
    torch.testing.assert_close(values["loss"], expected)


def test_one_backward_pass_gives_each_side_its_own_gradient_alone() -> None:
    made = objective("factor_vae", **{"total_correlation_discriminator.width": 8})
    total, values = made(IMAGES, 0, torch.Generator().manual_seed(0))
    against = values["total_correlation_discriminator.adversary"]
    torch.testing.assert_close(total, values["loss"] + against)
    model, adversary = list(made.model.parameters()), list(made.adversaries.parameters())
    gradients = torch.autograd.grad(values["loss"], model, retain_graph=True)
    adversarial = torch.autograd.grad(against, adversary, retain_graph=True)
    total.backward()
    for parameter, gradient in zip([*model, *adversary], [*gradients, *adversarial], strict=True):
        torch.testing.assert_close(parameter.grad, gradient)


class Rival(AdversarialTerm):
    """An adversarial term from outside the package: a line that guesses the first latent from the second."""

    lr: float = 0.5

    def __call__(self, forward: Forward, adversary: nn.Module) -> Tensor:  # type: ignore[override]
        """Reward latents that cannot be guessed."""
        z = forward.code.z
        frozen = [parameter.detach() for parameter in adversary.parameters()]
        return -(nn.functional.linear(z[:, 1:2], *frozen) - z[:, :1]).square().mean()

    def make_adversary(self, latents: int) -> nn.Module:
        """Make the line."""
        return nn.Linear(1, 1)

    def adversary_loss(self, forward: Forward, adversary: nn.Module) -> Tensor:
        """Measure its error."""
        z = forward.code.z.detach()
        error: Tensor = (adversary(z[:, 1:2]) - z[:, :1]).square().mean()
        return error


def test_an_adversarial_term_from_outside_trains_its_adversary(tmp_path: Path) -> None:
    name = "tests.training.test_assembly:Rival"
    run = trained(tmp_path, "vae", terms={name: 0.01}, log_steps=1)
    assert set(run.log[-1]) == {"step", "loss", "reconstruction", "kl", name, f"{name}.adversary"}
    kept = load_file(run.folder / "checkpoint.safetensors")
    weight = next(key for key in kept if key.startswith("adversaries.") and key.endswith("Rival.weight"))
    start = trained(tmp_path, "vae", terms={name: 0.01}, steps=1)
    assert not torch.equal(kept[weight], load_file(start.folder / "checkpoint.safetensors")[weight])
    assert run.configuration.sources.keys() == {name}


class Flat(Term):
    """A term that is no scalar."""

    def __call__(self, forward: Forward) -> Tensor:
        """Return one value per row."""
        return forward.code.z.sum(1)


def test_a_term_that_is_no_scalar_is_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"the term tests.training.test_assembly:Flat must return a scalar, got shape"):
        trained(tmp_path, "ae", terms={"tests.training.test_assembly:Flat": 1.0})


def test_a_second_batch_is_drawn_where_a_term_asks_for_it(tmp_path: Path) -> None:
    small: dict[str, Any] = {"total_correlation_discriminator.width": 16}
    same = trained(tmp_path, "factor_vae", log_steps=1, **small)
    small["total_correlation_discriminator.permuted"] = "second"
    second = trained(tmp_path, "factor_vae", log_steps=1, **small)
    key = "total_correlation_discriminator.adversary"
    assert same.log[0]["reconstruction"] == second.log[0]["reconstruction"]
    assert same.log[0][key] != second.log[0][key]


@pytest.mark.parametrize("start", ["tensorflow", "xavier_normal", "balanced"])
def test_the_discriminator_follows_the_start_of_published_codes(start: str) -> None:
    """Glorot's weights of 200 × 200 units have a variance of 2 / 400, and biases of 0; PyTorch's have 1 / 600."""
    made = objective("factor_vae", start=start, **{"total_correlation_discriminator.width": 200})
    hidden = [layer for layer in made.adversaries.modules() if isinstance(layer, nn.Linear)][1]
    glorot = start != "balanced"
    assert float(hidden.weight.detach().var()) == pytest.approx(2 / 400 if glorot else 1 / 600, rel=0.03)
    assert (float(hidden.bias.detach().abs().max()) == 0) == glorot


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
