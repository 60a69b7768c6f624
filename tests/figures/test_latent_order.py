from __future__ import annotations

import pytest

from unweave import Run
from unweave.errors import InputError
from unweave.figures.drawing.latent_order import ordered_latents


def test_orders_have_names(gaussian: Run, quantised: Run, plain: Run) -> None:
    assert ordered_latents(gaussian)[1] == "KL"
    assert ordered_latents(gaussian, "kl") == ordered_latents(gaussian)
    assert ordered_latents(quantised)[1] == "entropy"
    assert ordered_latents(quantised, "entropy") == ordered_latents(quantised)
    assert ordered_latents(plain) == ordered_latents(plain, "spread")
    std = gaussian.summary.std
    assert ordered_latents(gaussian, "spread") == (sorted(range(4), key=lambda j: -std[j]), "standard deviation")
    with pytest.raises(InputError, match="order=entropy needs quantised latents"):
        ordered_latents(gaussian, "entropy")
