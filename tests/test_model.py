from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unweave.errors import InputError
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


def model(likelihood: str = "bernoulli", **options: Any) -> Model:
    encoder = nn.Sequential(nn.Flatten(), nn.Linear(16, 6))
    return Model(encoder, Counting(), Gaussian(size=3), likelihood, **options)  # type: ignore[arg-type]


IMAGES = torch.rand(8, 1, 4, 4, generator=torch.Generator().manual_seed(0))


def test_a_pass_is_computed_once_however_often_it_is_asked_for() -> None:
    made = model()
    passed = Forward(made, IMAGES, generator=torch.Generator().manual_seed(0))
    assert made.decoder.calls == 0
    assert passed.reconstructions is passed.reconstructions
    assert torch.equal(passed.logits.sigmoid(), passed.reconstructions)
    assert made.decoder.calls == 1
    assert passed.code.z is passed.code.z


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
    passed = Forward(made, IMAGES, generator=generator, regroup=regroup)  # type: ignore[arg-type]
    assert torch.equal(passed.code.z, made.code(IMAGES).continuous)  # the posterior mean, not a sample
    assert seen[0][1] is generator


def test_some_rows_are_a_random_part_without_repetition() -> None:
    passed = Forward(model(), IMAGES, generator=torch.Generator().manual_seed(0))
    assert passed.some_rows(1.0).tolist() == list(range(8))
    rows = passed.some_rows(0.5).tolist()
    assert len(set(rows)) == 4
    assert len(passed.some_rows(0.01)) == 1


def test_a_codebook_is_part_of_the_model() -> None:
    made = Model(nn.Flatten(), nn.Identity(), Codebook(size=16, levels=3), "bernoulli")
    assert [name for name, _ in made.named_parameters()] == ["learned.codebook"]
    assert made.values is not None
    assert made.values.shape == (16, 3)
    assert model().values is None


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_an_offset_is_added_to_everything_that_is_decoded(likelihood: str) -> None:
    made = model(likelihood, channels=1, offset=True)
    codes = torch.randn(2, 3)
    bare = made.decoder(codes)
    assert torch.equal(made.outputs(codes), bare)  # zeros at first
    assert made.offset is not None
    made.offset.fill_(-1.5)
    passed = Forward(made, IMAGES, generator=torch.Generator().manual_seed(0))
    for outputs, expected in ((made.outputs(codes), bare), (passed.logits, made.decoder(passed.code.z))):
        torch.testing.assert_close(outputs, expected - 1.5)
    images = (bare - 1.5).sigmoid() if likelihood == "bernoulli" else bare - 1.5
    torch.testing.assert_close(made.decode(codes), images)
    assert made.state_dict()["offset"].tolist() == [[[-1.5]]]
    assert "offset" not in dict(made.named_parameters())


def test_a_model_without_options_has_no_buffers() -> None:
    assert not list(model().buffers())
    assert "offset" not in model().state_dict()
    assert model().standardise(IMAGES) is IMAGES


def test_standardised_images_go_in_and_come_out_as_images() -> None:
    made = model("gaussian", channels=1, standardised=True)
    assert made.mean is not None
    assert made.std is not None
    made.mean.fill_(0.25)
    made.std.fill_(0.5)
    standardised = (IMAGES - 0.25) / 0.5
    mean, _ = made.encoder(standardised).chunk(2, dim=1)
    torch.testing.assert_close(made.code(IMAGES).representation, mean)
    passed = Forward(made, IMAGES, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(passed.targets, standardised)
    torch.testing.assert_close(passed.code.continuous, mean)
    torch.testing.assert_close(passed.logits, made.decoder(passed.code.z))
    torch.testing.assert_close(passed.reconstructions, made.decoder(passed.code.z) * 0.5 + 0.25)
    torch.testing.assert_close(made.to_images(made.standardise(IMAGES)), IMAGES)
    assert sorted(name for name, _ in made.named_buffers()) == ["mean", "std"]


def test_options_that_cannot_be_combined_are_refused() -> None:
    with pytest.raises(InputError, match="'bernoulli' is not defined for them: use likelihood 'gaussian'"):
        model("bernoulli", channels=1, standardised=True)
    with pytest.raises(InputError, match="a model: channels must be a whole number of at least 1, got None"):
        model(offset=True)


def test_the_mean_of_a_continuous_bernoulli_and_its_inverse() -> None:
    made = Model(nn.Identity(), nn.Identity(), Gaussian(size=2), "continuous_bernoulli")
    logits = torch.linspace(-12, 12, 121, dtype=torch.float64)
    means = made.to_images(logits)
    torch.testing.assert_close(means, torch.distributions.ContinuousBernoulli(logits=logits).mean, atol=1e-7, rtol=1e-6)
    torch.testing.assert_close(made.to_outputs(means), logits, atol=1e-6, rtol=1e-6)
