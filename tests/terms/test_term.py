from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from tests.terms.models import forward, gradient
from unweave.errors import InputError
from unweave.latents import LATENTS, Gaussian
from unweave.terms import TERMS, Term
from unweave.terms.total_correlation_discriminator import TotalCorrelationDiscriminator

SENTENCES = {  # what each restricted term says to the latents it does not go with
    "kl": "a KL divergence needs a Gaussian posterior",
    "capacity": "a capacity is a KL divergence, which needs a Gaussian posterior",
    "total_correlation": "its aggregate posterior is a mixture of Gaussian posteriors",
    "dip": "it matches the covariance of a Gaussian posterior to the prior's",
    "quantisation": "only a codebook has values that can learn",
    "commitment": "only a quantised latent has a value to commit to",
}
GOES_WITH = {
    "kl": {"gaussian"},
    "capacity": {"gaussian"},
    "total_correlation": {"gaussian"},
    "dip": {"gaussian"},
    "quantisation": {"codebook"},
    "commitment": {"codebook", "fsq"},
}
PAIRS = [(name, latent) for name in TERMS for latent in LATENTS]


def adversaries(name: str) -> dict[str, torch.nn.Module]:
    adversary = TERMS[name]().adversary(3)
    return {} if adversary is None else {name: adversary.double()}


@pytest.mark.parametrize("name", TERMS)
def test_a_term_says_what_it_is(name: str) -> None:
    term = TERMS[name]
    assert term.title == f"the {name.replace('_', ' ')} term"
    assert term.formula
    assert "\n" not in term.formula
    assert "20" in term.paper  # a year
    assert name == "total_correlation_discriminator" or term().adversary(3) is None


@pytest.mark.parametrize(("name", "latent"), PAIRS)
def test_a_term_refuses_a_latent_or_gives_a_scalar_that_moves_the_model(name: str, latent: str) -> None:
    term, kind = TERMS[name](), LATENTS[latent](size=3)
    batch = forward(kind, adversaries=adversaries(name))
    if latent not in GOES_WITH.get(name, LATENTS):
        assert term.refusal(kind) == SENTENCES[name]
        return
    assert term.refusal(kind) is None
    value = term(batch)
    assert value.shape == ()
    assert value.dtype == torch.float64
    assert math.isfinite(value.item())
    if name != "capacity":  # whose start is at the modulus of the KL, or at 0
        torch.autograd.backward(value)
        assert gradient(batch.model) > 0
        assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in batch.model.parameters())


@pytest.mark.parametrize("name", ["kl", "capacity", "total_correlation", "dip", "quantisation", "commitment"])
def test_a_refused_latent_that_is_tried_all_the_same_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match=f"^{TERMS[name].title} needs a"):
        TERMS[name]()(forward(LATENTS["deterministic"](size=3)))


@pytest.mark.parametrize("name", TERMS)
def test_chance_comes_from_the_batchs_generator_alone(name: str) -> None:
    networks = adversaries(name)
    settings: dict[str, Any] = {"share": 0.5} if "share" in TERMS[name].model_fields else {}
    latent = "gaussian" if "gaussian" in GOES_WITH.get(name, LATENTS) else "codebook"
    values = []
    for _ in range(2):
        torch.rand(3)  # the global stream moves on
        values.append(TERMS[name](**settings)(forward(LATENTS[latent](size=3), adversaries=networks)))
    assert torch.equal(values[0], values[1])


@pytest.mark.parametrize("name", TERMS)
def test_a_term_of_float32_is_float32_and_of_one_row_is_finite(name: str) -> None:
    latent = "gaussian" if "gaussian" in GOES_WITH.get(name, LATENTS) else "codebook"
    batch = forward(LATENTS[latent](size=3), rows=1, adversaries=adversaries(name))
    batch.model.float()
    for network in batch.adversaries.values():
        network.float()
    batch.images = batch.images.float()
    value = TERMS[name]()(batch)
    assert value.dtype == torch.float32
    torch.autograd.backward(value)
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in batch.model.parameters())


@pytest.mark.parametrize(
    ("name", "given", "sentence"),
    [
        ("reconstruction", {"reductions": "sum"}, "unknown setting of the reconstruction term 'reductions': did you"),
        ("blurred_reconstruction", {"radius": -1}, "the blurred reconstruction term: radius must be greater than"),
        ("blurred_reconstruction", {"radius": 0}, "radius must be greater than or equal to 1, got 0"),
        ("kl", {"reduction": "max"}, "the kl term: reduction must be 'sum' or 'mean', got 'max'"),
        ("capacity", {"over": 0}, "the capacity term: over must be greater than 0, got 0"),
        ("capacity", {"maximum": -1}, "maximum must be greater than or equal to 0, got -1"),
        ("total_correlation", {"estimator": "mss"}, "estimator must be 'weighted' or 'stratified', got 'mss'"),
        ("total_correlation_discriminator", {"layers": 0}, "layers must be greater than or equal to 1, got 0"),
        ("total_correlation_discriminator", {"beta1": 1}, "beta1 must be less than 1, got 1"),
        ("dip", {"kind": "iii"}, "the dip term: kind must be 'i' or 'ii', got 'iii'"),
        ("dip", {"diagonal": -1}, "diagonal must be greater than or equal to 0, got -1"),
        ("jacobian_l1", {"share": 0}, "the jacobian l1 term: share must be greater than 0, got 0"),
        ("jacobian_l2", {"colums": 3}, "unknown setting of the jacobian l2 term 'colums': did you mean 'columns'"),
        ("jacobian_l2", {"columns": 0}, "columns must be greater than or equal to 1, got 0"),
        ("hessian_penalty", {"directions": 1}, "directions must be greater than or equal to 2, got 1"),
        ("hessian_penalty", {"share": 1.5}, "share must be less than or equal to 1, got 1.5"),
        ("normalised_hessian", {"share": 0}, "the normalised hessian term: share must be greater than 0, got 0"),
        ("kernel_multiinformation", {"bandwidth": "s"}, "bandwidth must be 'scaled' or 'fixed', got 's'"),
        ("quantisation", {"weight": 1}, "unknown setting of the quantisation term 'weight': there are none"),
        ("commitment", {"weight": 1}, "unknown setting of the commitment term 'weight': there are none"),
    ],
)
def test_wrong_settings_are_a_sentence(name: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        TERMS[name](**given)
    assert sentence in str(error.value)


def test_a_term_of_ones_own_needs_only_a_value() -> None:
    class Mean(Term):
        """The mean of the codes."""

        def __call__(self, batch: Any) -> torch.Tensor:
            value: torch.Tensor = batch.code.z.mean()
            return value

    assert Mean().refusal(Gaussian(size=3)) is None
    assert Mean().adversary(3) is None
    assert Mean()(forward()).shape == ()
    with pytest.raises(NotImplementedError):
        Term()(forward())
    with pytest.raises(NotImplementedError):
        Mean().adversary_loss(forward(), torch.nn.Identity())


def test_the_discriminators_name_is_its_terms() -> None:
    assert TERMS[TotalCorrelationDiscriminator.name] is TotalCorrelationDiscriminator
