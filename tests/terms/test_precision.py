"""Terms under bfloat16 autocast: finite differences and log-densities keep their values."""

from __future__ import annotations

from typing import Any

import pytest
import torch

from tests.terms.models import net_model
from unweave.latents import FSQ, Gaussian, Latent
from unweave.model import Forward
from unweave.terms import TERMS

CASES: list[tuple[str, Latent, dict[str, Any]]] = [
    ("jacobian_l1", Gaussian(size=4), {}),
    ("jacobian_l2", Gaussian(size=4), {}),
    ("hessian_penalty", FSQ(size=4), {"form": "tripod"}),
    ("hessian_penalty", FSQ(size=4), {}),
    ("normalised_hessian", FSQ(size=4), {}),
    ("normalised_hessian", FSQ(size=4), {"layers": "single"}),
    ("kernel_multiinformation", FSQ(size=4), {}),
    ("total_correlation", Gaussian(size=4), {}),
    ("kl", Gaussian(size=4), {}),
    ("dip", Gaussian(size=4), {}),
    ("reconstruction", Gaussian(size=4), {}),
]


@pytest.mark.parametrize(("name", "latent", "settings"), CASES)
def test_mixed_precision_changes_a_term_by_less_than_5_percent(
    name: str, latent: Latent, settings: dict[str, Any]
) -> None:
    made = net_model("conv64", latent, activation="gelu")
    images = torch.rand(32, 1, 32, 32, generator=torch.Generator().manual_seed(0)).round()
    term = TERMS[name](**settings)
    values = []
    for mixed in (False, True):
        with torch.autocast("cpu", torch.bfloat16, enabled=mixed):
            passed = Forward(made, images, generator=torch.Generator().manual_seed(0), dataset_size=1000)
            value = term(passed)
        assert value.dtype == passed.code.z.dtype == passed.logits.dtype == torch.float32
        values.append(value.item())
    assert values[1] == pytest.approx(values[0], rel=0.05)
