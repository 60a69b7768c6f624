from __future__ import annotations

import pytest
import torch

from tests.terms.models import forward, gradient
from unweave.latents import FSQ, Codebook
from unweave.terms import Commitment
from unweave.terms.commitment import commitment_loss


def test_it_is_the_mean_square_over_latents_and_rows_by_a_loop() -> None:
    for latent in (Codebook(size=3, levels=4), FSQ(size=3, levels=4)):
        passed = forward(latent)
        codes = passed.code.continuous.tolist()
        values = passed.model.latent.values(dict(passed.model.learned.items()))
        assert values is not None
        total = sum(min((codes[b][j] - float(v)) ** 2 for v in values[j]) for b in range(6) for j in range(3))
        assert Commitment()(passed).item() == pytest.approx(total / 18)


def test_the_encoder_learns_and_the_codebook_does_not() -> None:
    for latent in (Codebook(size=3, levels=10), FSQ(size=3, levels=12)):
        passed = forward(latent)
        torch.autograd.backward(Commitment()(passed))
        assert gradient(passed.model.encoder) > 0
        assert gradient(passed.model.learned) == 0


def test_gradients() -> None:
    continuous, values = torch.randn(4, 3).double().requires_grad_(), torch.randn(4, 3).double()
    assert torch.autograd.gradcheck(lambda codes: commitment_loss(codes, values), continuous)
