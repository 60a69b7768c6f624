from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.terms.models import forward, randn
from unweave.errors import InputError
from unweave.latents import Code, Deterministic
from unweave.terms import Triplet
from unweave.terms.triplet import triplet_loss

A, P, N = (randn(6, 4, seed=seed) for seed in range(3))


@pytest.mark.parametrize(
    ("form", "norm", "expected"),
    [
        ("hinge", 1, 3.0889237987447657),
        ("hinge", 2, 3.413869402544942),
        ("sigmoid", 1, 0.5061434409140398),
        ("sigmoid", 2, 0.5334405473192236),
        ("soft", 1, 1.1444946234872335),
        ("soft", 2, 1.0291923777220393),
        ("clamped", 2, 3.424467855365311),
        ("split", 1, 2.6370854296671715),
        ("split", 2, 1.4644314434168895),
    ],
)
def test_the_values_of_disent(form: Any, norm: int, expected: float) -> None:
    """disent.nn.loss.triplet of disent 0.8.0 with a margin of 3 and a smallest distance of 2."""
    value = triplet_loss(A - P, A - N, form=form, margin=3.0, least=2.0, norm=norm)
    assert float(value) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"shared": 0.95}, 10.44222036352687),
        ({"shared": 0.5, "margin": 3.0, "ratio": 0.3}, 3.5808801044684113),
    ],
)
def test_the_adaptive_values_of_disent(settings: dict[str, float], expected: float) -> None:
    """AdaNegTripletVae.estimate_ada_triplet_loss_from_zs of disent 0.8.0, divided by its scale of 100."""
    made = forward(Deterministic(size=4), rows=18)
    codes = torch.cat([A, P, N])
    made.__dict__["code"] = Code(codes, codes)
    assert float(Triplet(**settings)(made)) == pytest.approx(expected, abs=1e-12)  # type: ignore[arg-type]


def test_triplets_are_needed() -> None:
    with pytest.raises(InputError, match="multiple of 3 images, got 7"):
        Triplet()(forward(rows=7))
