from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import torch
from safetensors.torch import load_file
from torch import Tensor, nn

from tests.training.small import SMALL, bars, trained
from unweave.errors import InputError
from unweave.model import Forward
from unweave.terms import AdversarialTerm, Term
from unweave.training.assembly import build_model
from unweave.training.configuration import configure
from unweave.training.objective import Objective


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
    name = "tests.training.test_objective:Rival"
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
    with pytest.raises(
        InputError, match=r"the term tests.training.test_objective:Flat must return a scalar, got shape"
    ):
        trained(tmp_path, "ae", terms={"tests.training.test_objective:Flat": 1.0})


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
