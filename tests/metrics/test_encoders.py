from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from unweave.errors import InputError
from unweave.metrics.scoring.encoders import evaluating, is_discrete, likelihood_of, posterior_of, reconstruction_of


class Quantised:
    """An encoder that offers everything, as a method of its own or as an object."""

    discrete = True
    likelihood = "gaussian"

    def __call__(self, images: Tensor) -> Tensor:
        return images.flatten(1).round()

    def encode(self, images: Tensor) -> Tensor:
        return self(images)

    def reconstruct(self, images: Tensor) -> Tensor:
        return images

    def posterior(self, images: Tensor) -> Any:
        return images.flatten(1), images.flatten(1)


def test_every_part_is_put_back_as_it_was() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout())
    module.train()
    module[1].eval()
    with evaluating(module.forward, lambda x: x) as like:
        assert not any(part.training for part in module.modules())
        assert like.device.type == "cpu"
        assert not module(torch.ones(3, 2)).requires_grad
    assert [part.training for part in module.modules()] == [True, True, False, True]


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(InputError, match="must be callable, from images to codes, got int"), evaluating(3):  # type: ignore[arg-type]
        pass


@pytest.mark.parametrize("encode", [Quantised(), Quantised().encode])
def test_an_encoder_is_asked_for_what_it_offers(encode: Any) -> None:
    assert is_discrete(encode)
    assert likelihood_of(encode) == "gaussian"
    assert reconstruction_of(encode) is not None
    assert posterior_of(encode) is not None


def test_a_plain_function_offers_codes_only() -> None:
    assert not is_discrete(lambda images: images)
    assert not is_discrete(nn.Linear(2, 2))
    for ask in (likelihood_of, reconstruction_of, posterior_of):
        assert ask(lambda images: images) is None
    quantised = Quantised()
    quantised.has_posterior = False  # type: ignore[attr-defined]
    assert posterior_of(quantised) is None
    quantised.discrete = "yes"  # type: ignore[assignment]
    with pytest.raises(InputError, match="discrete must be True or False, got 'yes'"):
        is_discrete(quantised)
