from __future__ import annotations

import pytest

from unweave import Run
from unweave.errors import InputError
from unweave.figures.drawing.ordering import active_latents, ordered_latents
from unweave.latents import Summary


@pytest.mark.parametrize(
    ("summary", "active"),
    [
        (
            Summary([0] * 3, [0.2, 0.05, 0.2], [1.0, 0.2, 0.09], None),
            [True, False, False],
        ),  # variances 0.04, 0.0025, 0.04
        (Summary([0, 0], [1.0, 1.0], None, [[0.5, 0.5], [0.995, 0.005]]), [True, False]),
        (Summary([0, 0], [10.0, 0.4], None, None), [True, False]),  # less than a twentieth of the largest
        (Summary([0, 0], [10.0, 0.6], None, None), [True, True]),
    ],
)
def test_inactive_latents_do_not_depend_on_the_image(summary: Summary, active: list[bool]) -> None:
    assert active_latents(summary) == active


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
