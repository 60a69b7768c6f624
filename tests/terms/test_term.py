from __future__ import annotations

import math
from typing import Any

import pytest
import torch

from tests.terms.models import SHAPE, forward, gradient
from unweave.cli.parts import plain_formula
from unweave.errors import InputError
from unweave.latents import LATENTS, Gaussian
from unweave.model import Forward
from unweave.terms import TERMS, AdversarialTerm, StatefulTerm, Term

SENTENCES = {  # why each restricted term refuses other latents
    "kl": "a KL divergence needs a Gaussian or Laplace posterior",
    "controlled_kl": "it controls a KL divergence, which needs a Gaussian posterior",
    "mmd": "its prior is a standard normal",
    "capacity": "a capacity is a KL divergence, which needs a Gaussian posterior",
    "total_correlation": "its aggregate posterior is a mixture of Gaussian posteriors",
    "dip": "it matches the covariance of a Gaussian posterior to that of the prior",
    "quantisation": "only a codebook has values that are trained",
    "commitment": "only a quantised latent has a value to commit to",
}
GOES_WITH = {
    "kl": {"gaussian", "laplace"},
    "controlled_kl": {"gaussian"},
    "mmd": {"gaussian", "deterministic"},
    "capacity": {"gaussian"},
    "total_correlation": {"gaussian"},
    "dip": {"gaussian"},
    "quantisation": {"codebook"},
    "commitment": {"codebook", "fsq"},
}
PAIRS = [(name, latent) for name in TERMS for latent in LATENTS]


def adversaries(term: Term) -> list[torch.nn.Module]:
    """The adversary or the state of a term in a list, which is empty if it has none."""
    if isinstance(term, StatefulTerm):
        return [term.make_state(SHAPE).double()]
    return [term.make_adversary(3).double()] if isinstance(term, AdversarialTerm) else []


@pytest.mark.parametrize("name", TERMS)
def test_a_term_says_what_it_is(name: str) -> None:
    term = TERMS[name]
    assert term.title == f"the {name.replace('_', ' ')} term"
    assert term.formula
    assert "\n" not in term.formula
    assert not set("\\$^") & set(plain_formula(term.formula))  # as a terminal prints it
    assert "20" in term.paper  # a year


@pytest.mark.parametrize(("name", "latent"), PAIRS)
def test_a_term_refuses_a_latent_or_gives_a_scalar_that_moves_the_model(name: str, latent: str) -> None:
    term, kind = TERMS[name](), LATENTS[latent](size=3)
    passed = forward(kind)
    if latent not in GOES_WITH.get(name, LATENTS):
        assert term.refusal(kind) == SENTENCES[name]
        return
    assert term.refusal(kind) is None
    value = term(passed, *adversaries(term))
    assert value.shape == ()
    assert value.dtype == torch.float64
    assert math.isfinite(value.item())
    if name != "capacity":  # whose start is at the modulus of the KL, or at 0
        torch.autograd.backward(value)
        assert gradient(passed.model) > 0
        assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in passed.model.parameters())


@pytest.mark.parametrize("name", ["kl", "capacity", "total_correlation", "dip", "quantisation", "commitment"])
def test_calling_a_term_on_a_refused_latent_is_an_error(name: str) -> None:
    with pytest.raises(InputError, match=f"^{TERMS[name].title} needs a"):
        TERMS[name]()(forward(LATENTS["deterministic"](size=3)))


@pytest.mark.parametrize("name", TERMS)
def test_random_numbers_come_from_the_generator_of_the_pass(name: str) -> None:
    settings: dict[str, Any] = {"share": 0.5} if "share" in TERMS[name].model_fields else {}
    term = TERMS[name](**settings)
    networks = adversaries(term)
    latent = "gaussian" if "gaussian" in GOES_WITH.get(name, LATENTS) else "codebook"
    values = []
    for _ in range(2):
        torch.rand(3)  # the global stream moves on
        again = networks if isinstance(term, AdversarialTerm) else adversaries(term)  # a state changes with each call
        values.append(term(forward(LATENTS[latent](size=3)), *again))
    assert torch.equal(values[0], values[1])


@pytest.mark.parametrize("name", TERMS)
def test_a_term_of_float32_is_float32_and_of_one_row_is_finite(name: str) -> None:
    latent = "gaussian" if "gaussian" in GOES_WITH.get(name, LATENTS) else "codebook"
    passed = forward(LATENTS[latent](size=3), rows=TERMS[name].members)
    passed.model.float()
    passed.images = passed.images.float()
    term = TERMS[name]()
    value = term(passed, *(network.float() for network in adversaries(term)))
    assert value.dtype == torch.float32
    torch.autograd.backward(value)
    assert all(p.grad is None or bool(p.grad.isfinite().all()) for p in passed.model.parameters())


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
def test_wrong_settings_have_a_clear_error(name: str, given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        TERMS[name](**given)
    assert sentence in str(error.value)


def test_a_term_of_your_own_needs_only_a_value() -> None:
    class Mean(Term):
        """The mean of the codes."""

        def __call__(self, forward: Forward) -> torch.Tensor:
            return forward.code.z.mean()

    assert Mean().refusal(Gaussian(size=3)) is None
    Mean().check_model(forward().model)
    assert not Mean.smooth
    assert Mean()(forward()).shape == ()
    with pytest.raises(NotImplementedError):
        Term()(forward())


def test_an_adversarial_term_of_your_own_is_given_its_adversary() -> None:
    class Guess(AdversarialTerm):
        """How well a linear map guesses the first latent from the others."""

        def make_adversary(self, latents: int) -> torch.nn.Module:
            return torch.nn.Linear(latents - 1, 1)

        def __call__(self, forward: Forward, adversary: torch.nn.Module) -> torch.Tensor:  # type: ignore[override]
            return -self.adversary_loss(forward, adversary)

        def adversary_loss(self, forward: Forward, adversary: torch.nn.Module) -> torch.Tensor:
            z = forward.code.z
            loss: torch.Tensor = (adversary(z[:, 1:])[:, 0] - z[:, 0]).square().mean()
            return loss

    term = Guess(lr=0.1)
    assert (term.lr, term.beta1, term.beta2) == (0.1, 0.9, 0.999)
    adversary = term.make_adversary(3).double()
    assert term(forward(), adversary).item() == -term.adversary_loss(forward(), adversary).item()
    bare = AdversarialTerm()
    for call in (bare, bare.adversary_loss):
        with pytest.raises(NotImplementedError):
            call(forward(), adversary)
    with pytest.raises(NotImplementedError):
        bare.make_adversary(3)
