from __future__ import annotations

from typing import Literal

import pytest
import torch
from torch import Tensor

from tests.terms.models import forward, randn
from unweave.terms import DIP
from unweave.terms.dip import code_covariance, dip_penalty, mean_covariance


def by_loops(mean: Tensor, logvar: Tensor | None, diagonal: float) -> float:
    rows, latents = mean.shape
    values = mean.tolist()
    centre = [sum(row[j] for row in values) / rows for j in range(latents)]
    total = 0.0
    for i in range(latents):
        for j in range(latents):
            entry = sum(row[i] * row[j] for row in values) / rows - centre[i] * centre[j]
            if i != j:
                total += entry**2
                continue
            if logvar is not None:
                entry += logvar[:, i].exp().sum().item() / rows
            total += diagonal * (entry - 1) ** 2
    return total


@pytest.mark.parametrize(("kind", "diagonal"), [("i", 10.0), ("ii", 1.0)])
def test_the_term_by_loops_with_the_published_ratio(kind: Literal["i", "ii"], diagonal: float) -> None:
    passed = forward()
    mean, logvar = passed.code.continuous, passed.code.logvar
    used = logvar if kind == "ii" else None
    assert DIP(kind=kind)(passed).item() == pytest.approx(by_loops(mean, used, diagonal))
    assert DIP(kind=kind, diagonal=3.0)(passed).item() == pytest.approx(by_loops(mean, used, 3.0))
    assert DIP(kind=kind, diagonal=0)(passed).item() == pytest.approx(by_loops(mean, used, 0.0))


def test_codes_of_unit_covariance_cost_nothing() -> None:
    corners = torch.tensor([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])
    assert dip_penalty(mean_covariance(corners + 5), diagonal=10.0) == 0
    shrunk = corners * 0.6  # variances of 0.36, made up by posteriors of 0.64
    covariance = code_covariance(shrunk, torch.full((4, 2), 0.64).log())
    assert float(dip_penalty(covariance, diagonal=1.0)) == pytest.approx(0, abs=1e-12)


def test_the_variances_are_each_latents_own() -> None:
    covariance = code_covariance(torch.zeros(4, 3), torch.tensor([1.0, 2.0, 3.0]).log().expand(4, 3))
    torch.testing.assert_close(covariance, torch.diag(torch.tensor([1.0, 2.0, 3.0])))


def test_gradients() -> None:
    assert torch.autograd.gradcheck(
        lambda mean, logvar: dip_penalty(code_covariance(mean, logvar), diagonal=2.0),
        (randn(5, 3).requires_grad_(), randn(5, 3, seed=1).requires_grad_()),
    )
