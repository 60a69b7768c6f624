from __future__ import annotations

import pytest
import torch

from tests.terms.models import randn
from unweave.terms.term import batch_scale, over_batch


def test_sums_and_means_are_of_each_row_and_then_of_the_batch() -> None:
    values = torch.tensor([[[1.0, 2.0], [3.0, 4.0]], [[0.0, 0.0], [0.0, 2.0]]])
    assert over_batch(values, "sum") == (10 + 2) / 2
    assert over_batch(values, "mean") == (10 + 2) / 8


def test_the_scale_is_the_biased_standard_deviation() -> None:
    codes = randn(7, 2)
    for latent in range(2):
        column = codes[:, latent].tolist()
        mean = sum(column) / 7
        expected = (sum((value - mean) ** 2 for value in column) / 7) ** 0.5 + 1e-6
        assert float(batch_scale(codes)[latent]) == pytest.approx(expected, rel=1e-12)


def test_a_constant_latent_has_a_small_scale_and_no_gradient() -> None:
    codes = torch.full((5, 2), 3.0, requires_grad=True)
    scale = batch_scale(codes)
    assert scale.tolist() == pytest.approx([1e-6, 1e-6])
    torch.autograd.backward(scale.sum())
    assert codes.grad is not None
    assert (codes.grad == 0).all()
