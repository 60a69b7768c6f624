from __future__ import annotations

import pytest
import torch

from tests.terms.models import forward, gradient
from unweave.errors import InputError
from unweave.latents import Code, Codebook
from unweave.terms import Quantisation
from unweave.terms.quantisation import chosen_values, quantisation_loss

LATENT = Codebook(size=3, levels=4)


def test_it_is_the_mean_square_over_latents_and_rows_by_a_loop() -> None:
    passed = forward(LATENT)
    codes, codebook = passed.code.continuous.tolist(), passed.model.learned["codebook"].tolist()
    total = sum(min((codes[b][j] - value) ** 2 for value in codebook[j]) for b in range(6) for j in range(3))
    assert Quantisation()(passed).item() == pytest.approx(total / 18)


def test_the_codebook_learns_and_the_encoder_does_not() -> None:
    passed = forward(LATENT)
    torch.autograd.backward(Quantisation()(passed))
    assert gradient(passed.model.learned) > 0
    assert gradient(passed.model.encoder) == 0
    codebook, before = passed.model.learned["codebook"], Quantisation()(passed).item()
    assert codebook.grad is not None
    with torch.no_grad():
        codebook -= 0.5 * codebook.grad
    assert Quantisation()(forward(made=passed.model)).item() < before


def test_gradients() -> None:
    continuous, values = torch.randn(4, 3).double(), torch.randn(4, 3).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda chosen: quantisation_loss(continuous, chosen), values)


def test_a_code_that_is_not_quantised_has_a_clear_error() -> None:
    with pytest.raises(
        InputError, match="the quantisation term needs a quantised code, but this code is not quantised"
    ):
        chosen_values("the quantisation term", Code(torch.zeros(1, 1), torch.zeros(1, 1)))
