from __future__ import annotations

import torch

from unweave.latents import Codebook

LATENT = Codebook(size=3, levels=4)


def test_each_latent_takes_its_nearest_value() -> None:
    codebook = torch.tensor([[-1.0, 0.0, 0.5, 2.0], [3.0, 1.0, 2.0, 0.0], [0.0, 0.1, 0.2, 0.3]])
    outputs = torch.randn(50, 3, generator=torch.Generator().manual_seed(0)) * 2
    code = LATENT.code(outputs, {"codebook": codebook})
    assert code.indices is not None
    for row in range(50):
        for latent in range(3):
            nearest = min(range(4), key=lambda value: abs(outputs[row, latent] - codebook[latent, value]))
            assert code.indices[row, latent] == nearest
            assert code.z[row, latent] == codebook[latent, nearest]
    assert LATENT.values({"codebook": codebook})[1].tolist() == [0.0, 1.0, 2.0, 3.0]


def test_it_starts_evenly_spaced() -> None:
    codebook = Codebook(size=2, levels=10).start()["codebook"]
    torch.testing.assert_close(codebook[0], torch.linspace(-0.5, 0.5, 10))
    assert codebook.shape == (2, 10)


def test_the_decoders_gradient_reaches_the_encoder_and_not_the_codebook() -> None:
    codebook = LATENT.start()["codebook"].requires_grad_()
    outputs = torch.randn(5, 3, requires_grad=True)
    code = LATENT.code(outputs, {"codebook": codebook})
    code.z.sum().backward()
    assert outputs.grad is not None
    assert (outputs.grad == 1).all()
    assert codebook.grad is None


def test_the_chosen_values_carry_the_codebooks_gradient() -> None:
    codebook = LATENT.start()["codebook"].requires_grad_()
    outputs = torch.zeros(5, 3, requires_grad=True)
    code = LATENT.code(outputs, {"codebook": codebook})
    assert code.quantised is not None
    code.quantised.sum().backward()
    assert codebook.grad is not None
    assert codebook.grad.sum() == 15
    assert outputs.grad is None
