from __future__ import annotations

import pytest
import torch

from unweave.errors import InputError
from unweave.latents import LATENTS, Latent
from unweave.latents.latent import straight_through


@pytest.mark.parametrize("kind", LATENTS.values())
def test_every_latent_codes_a_batch_and_can_be_asked_for_any_size(kind: type[Latent]) -> None:
    latent = kind(size=7)
    code = latent.code(torch.randn(5, latent.outputs), latent.start(), torch.Generator().manual_seed(0))
    assert code.z.shape == code.continuous.shape == code.representation.shape == (5, 7)
    values = latent.values(latent.start())
    assert (values is None) == (code.indices is None)
    with pytest.raises(InputError, match="size must be greater than or equal to 1, got 0"):
        kind(size=0)
    with pytest.raises(InputError, match="did you mean 'size'"):
        kind(sizes=3)  # type: ignore[call-arg]


def test_straight_through_is_exact_in_value() -> None:
    continuous, quantised = torch.randn(1000), torch.randn(1000)
    assert torch.equal(straight_through(continuous, quantised), quantised)
