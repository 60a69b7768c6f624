from __future__ import annotations

import pytest
import torch

import unweave
from tests.training.small import SMALL, bars, pictures
from tests.training.test_loop import own_net
from unweave.training.assembly import build_model, fit_to_data
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
