from __future__ import annotations

import pytest
import torch

from tests.training.small import SMALL, bars, pictures
from tests.training.test_loop import own_net
from unweave.training.configuration import configure
from unweave.training.run import build_model
from unweave.training.starting import start_at_the_mean


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_the_decoder_starts_at_the_mean_image(likelihood: str) -> None:
    configuration, _ = configure("beta_vae", bars(), {**SMALL, "likelihood": likelihood})
    model = build_model(configuration)
    start_at_the_mean(model, configuration, bars())
    with torch.no_grad():
        blank = model.to_images(model.decoder.output.bias)  # type: ignore[union-attr, arg-type]
    assert blank.item() == pytest.approx(float(pictures().float().mean()) / 255, abs=0.02)


def test_other_nets_are_left_as_they_are() -> None:
    configuration, _ = configure("beta_vae", bars(), {**SMALL, "net": own_net})
    model = build_model(configuration)
    before = [parameter.clone() for parameter in model.parameters()]
    start_at_the_mean(model, configuration, bars())
    assert all(torch.equal(a, b) for a, b in zip(before, model.parameters(), strict=True))
