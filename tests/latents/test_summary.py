from __future__ import annotations

import pytest
import torch

from unweave.latents import Summary
from unweave.metrics import active_units


def test_latents_are_ordered_by_what_their_kind_has() -> None:
    by_kl = Summary([0.0] * 3, [5.0, 1.0, 1.0], [0.1, 2.0, 1.0], None)
    assert (by_kl.order, by_kl.order_name) == ([1, 2, 0], "KL")
    usage = [[1.0, 0.0], [0.9, 0.1], [0.5, 0.5]]  # entropies 0, 0.325, 0.693
    by_entropy = Summary([0.0] * 3, [5.0, 1.0, 1.0], None, usage)
    assert (by_entropy.order, by_entropy.order_name) == ([2, 1, 0], "entropy")
    by_spread = Summary([0.0] * 3, [1.0, 5.0, 1.0], None, None)
    assert (by_spread.order, by_spread.order_name) == ([1, 0, 2], "standard deviation")  # ties keep their order


@pytest.mark.parametrize(
    ("summary", "active"),
    [
        (Summary([0] * 3, [0.2, 0.05, 0.2], [1.0, 0.2, 0.09], None), [True, False, True]),  # variances 0.04, 0.0025
        (Summary([0, 0], [1.0, 1.0], None, [[0.5, 0.5], [0.995, 0.005]]), [True, False]),
        (Summary([0, 0], [10.0, 0.4], None, None), [True, False]),  # less than a twentieth of the largest
        (Summary([0, 0], [10.0, 0.6], None, None), [True, True]),
    ],
)
def test_inactive_latents_do_not_depend_on_the_image(summary: Summary, active: list[bool]) -> None:
    assert summary.active == active


def test_active_gaussian_latents_are_the_active_units_of_burda_et_al() -> None:
    scale = torch.linspace(0.02, 0.3, 8)  # standard deviations around the threshold of 0.1
    mean = scale * torch.randn(2_000, 8, generator=torch.Generator().manual_seed(0))
    summary = Summary(mean.mean(0).tolist(), mean.std(0).tolist(), [0.0] * 8, None)
    assert sum(summary.active) == active_units(mean).score
    assert 0 < sum(summary.active) < 8
