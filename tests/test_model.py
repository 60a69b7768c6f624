from __future__ import annotations

import torch
from torch import Tensor, nn

from unweave.latents import Codebook, Gaussian
from unweave.model import Forward, Model


class Counting(nn.Module):
    """A decoder that counts its calls."""

    def __init__(self) -> None:
        super().__init__()
        self.layer = nn.Linear(3, 16)
        self.calls = 0

    def forward(self, codes: Tensor) -> Tensor:
        self.calls += 1
        logits: Tensor = self.layer(codes).unflatten(1, (1, 4, 4))
        return logits


def model(likelihood: str = "bernoulli") -> Model:
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(16, 6))
    return Model(encoder, Counting(), Gaussian(size=3), likelihood)  # type: ignore[arg-type]


IMAGES = torch.rand(8, 1, 4, 4, generator=torch.Generator().manual_seed(0))


def test_a_pass_is_computed_once_however_often_it_is_asked_for() -> None:
    made = model()
    batch = Forward(made, IMAGES, generator=torch.Generator().manual_seed(0))
    assert made.decoder.calls == 0
    assert batch.reconstructions is batch.reconstructions
    assert torch.equal(batch.logits.sigmoid(), batch.reconstructions)
    assert made.decoder.calls == 1
    assert batch.code.z is batch.code.z


def test_means_pass_no_sigmoid() -> None:
    made = model("gaussian")
    codes = torch.randn(2, 3)
    assert torch.equal(made.decode(codes), made.decoder(codes))


def test_a_decoder_without_activations_shows_its_images() -> None:
    made = model()
    codes = torch.randn(2, 3)
    assert torch.equal(made.activations(codes)[0], made.decode(codes))


def test_pairs_are_regrouped_before_they_are_drawn() -> None:
    made = model()
    seen = []

    def regroup(code: object, generator: object) -> object:
        seen.append((code, generator))
        return code

    generator = torch.Generator()
    batch = Forward(made, IMAGES, generator=generator, regroup=regroup)  # type: ignore[arg-type]
    assert torch.equal(batch.code.z, made.code(IMAGES).continuous)  # the posterior's mean went in, nothing was drawn
    assert seen[0][1] is generator


def test_some_rows_are_a_random_part_without_repetition() -> None:
    batch = Forward(model(), IMAGES, generator=torch.Generator().manual_seed(0))
    assert batch.some_rows(1.0).tolist() == list(range(8))
    rows = batch.some_rows(0.5).tolist()
    assert len(set(rows)) == 4
    assert len(batch.some_rows(0.01)) == 1


def test_a_codebook_is_part_of_the_model() -> None:
    made = Model(nn.Flatten(), nn.Identity(), Codebook(size=16, levels=3), "bernoulli")
    assert [name for name, _ in made.named_parameters()] == ["learned.codebook"]
    assert made.values is not None
    assert made.values.shape == (16, 3)
    assert model().values is None
