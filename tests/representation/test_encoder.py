"""Encoders of the user's own, with and without a decoder, wherever a run is taken."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import unweave
from unweave.errors import InputError
from unweave.figures import FIGURES


def corners(images: Tensor) -> Tensor:
    """Return row and column of the first square, and noise-free brightness."""
    red = images[:, 0]
    return torch.stack([red.amax(2).argmax(1), red.amax(1).argmax(1), images.mean((1, 2, 3))], dim=1).float()


class Linear(nn.Module):
    """An encoder with a decoder: a random projection and its pseudo-inverse."""

    def __init__(self) -> None:
        super().__init__()
        weights = torch.randn(3 * 8 * 8, 4, generator=torch.Generator().manual_seed(0))
        self.weights = nn.Parameter(weights)

    def forward(self, images: Tensor) -> Tensor:
        assert not self.training
        return images.flatten(1) @ self.weights

    def decode(self, codes: Tensor) -> Tensor:
        images: Tensor = (codes @ torch.linalg.pinv(self.weights)).unflatten(1, (3, 8, 8))
        return images


@pytest.fixture(scope="module")
def data() -> unweave.FactorData:
    return unweave.load("xysquares", size=8)


def test_a_callable_with_data_is_a_representation(data: unweave.FactorData) -> None:
    encoder = unweave.Encoder(corners, data)
    assert (encoder.size, encoder.method, encoder.decodes) == (3, "corners", False)
    images = data.sample(5, torch.Generator().manual_seed(0)).images
    torch.testing.assert_close(encoder.encode(images), corners(images.float() / 255))
    found = encoder.follows()
    assert found is not None
    assert {link.factor for link in found.links} == {"x0", "y0"}
    with pytest.raises(InputError, match="corners on XYSquares has no decoder"):
        encoder.decode(torch.zeros(1, 3))


def test_figures_take_it_and_say_what_needs_a_decoder(data: unweave.FactorData) -> None:
    encoder, generator = unweave.Encoder(corners, data, name="mine"), torch.Generator().manual_seed(0)
    drawn = {name for name, figure in FIGURES.items() if figure.source != "table" and not figure.refusal(encoder, data)}
    assert {"mutual_information", "dci_importance", "latent_marginals", "latent_pairs", "distances"} <= drawn
    assert not drawn & {"traversals", "reconstructions", "samples", "jacobian", "curvature", "training_curves"}
    with pytest.raises(InputError, match="traversals needs a decoder: a run, or an encoder with a method decode"):
        FIGURES["traversals"].of_runs([encoder], [data], generator)
    made = FIGURES["latent_marginals"].of_runs([encoder], [data], generator, samples=50)
    assert made.title.startswith("mine on XYSquares: latent marginals")
    assert unweave.figure("mutual_information", corners, data=data) is not None


def test_with_a_decoder_it_is_traversed(data: unweave.FactorData) -> None:
    module = Linear().train()
    encoder = unweave.Encoder(module, data)
    assert encoder.decodes
    images = data.sample(3, torch.Generator().manual_seed(0)).images
    codes = encoder.encode(images)
    assert module.training  # restored
    torch.testing.assert_close(encoder.encode(encoder.decode(codes)).shape, codes.shape)
    low, high = encoder.summary.range
    torch.testing.assert_close(encoder.traversal_values(steps=3)[:, [0, 2]], torch.stack([low, high], 1))
    jacobian = encoder.jacobian(codes[:1])[0]  # (D, C, H, W)
    inverse = torch.linalg.pinv(module.weights.detach()).unflatten(1, (3, 8, 8))
    torch.testing.assert_close(jacobian, inverse, atol=1e-5, rtol=0)
    made = FIGURES["traversals"].of_runs([encoder], [data], torch.Generator().manual_seed(0), steps=3)
    assert len(made.rows) == 4
    module.requires_grad_(False).decode = torch.no_grad()(module.decode)  # type: ignore[method-assign]
    with pytest.raises(InputError, match="the decoder of Linear on XYSquares passes no gradients to its codes"):
        encoder.jacobian(codes[:1])


def test_its_scores_are_those_of_the_callable(data: unweave.FactorData) -> None:
    options: dict[str, Any] = {"metrics": ["mig", "follows"], "samples": 300}
    scores = unweave.score(unweave.Encoder(corners, data), **options)
    assert scores.table == unweave.score(corners, data, **options).table
    assert scores.factors == data.space.names
    assert "→ y0" in str(scores)
    assert "→ y0" in unweave.score(corners, data, **options)["follows"].links[0].__str__()


def test_what_is_no_encoder_is_refused(data: unweave.FactorData) -> None:
    with pytest.raises(InputError, match="an encoder must be callable"):
        unweave.Encoder(np.zeros(3), data)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="an encoder needs data"):
        unweave.Encoder(corners, "xysquares")  # type: ignore[arg-type]


def test_a_report_of_an_encoder_says_what_it_has_separated(data: unweave.FactorData, tmp_path: Path) -> None:
    small = unweave.load(data.rows(torch.arange(0, 4096, 16)), factors=data.space.at(torch.arange(0, 4096, 16))[:, -4:])
    page = unweave.report(corners, tmp_path / "mine.html", data=small).read_text()
    assert "What has it separated?" in page
    assert "corners on" in page
