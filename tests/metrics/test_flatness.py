from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor

from unweave.factors import FactorSpace
from unweave.metrics import flatness, linearity

SPACE = FactorSpace.of(a=4, b=3, c=1)
A = torch.tensor([[0.0, 0, 0], [1, 0.5, 0], [2, 0.25, 1], [2.5, -1, 3]])
B = torch.tensor([[0.0, 0, 0], [0.1, 2, 0], [0.3, 5, -1]])


def represent(points: Tensor) -> Tensor:
    """Codes that are a sum over factors, so that all traversals of a factor are alike."""
    return A[points[:, 0]] + B[points[:, 1]]


def test_flatness_is_disents() -> None:
    """metric_flatness of disent 0.8.0 on the same traversals."""
    result = flatness(represent, SPACE, traversals=5)
    assert result.score == pytest.approx(0.6741258230106542, abs=1e-7)
    assert result.l1 == pytest.approx(0.9333333333333333, abs=1e-7)
    assert result.l2 == pytest.approx(0.8998310026995295, abs=1e-7)


def test_linearity_is_disents() -> None:
    """compute_linear_score and compute_axis_score of disent 0.8.0 with variances, on the same traversals."""
    result = linearity(represent, SPACE, traversals=5)
    expected = [
        [0.8462199882373929, 0.3193456614509245, 0.37737901005635127],
        [0.9886871599424414, 0.920029895366218, 0.9305571394492264],
    ]
    np.testing.assert_allclose(result.per_factor, expected, atol=1e-6)
    assert result.score == pytest.approx(np.sqrt(expected[0][0] * expected[1][0]), abs=1e-6)
    assert result.axis_alignment == pytest.approx(np.sqrt(expected[0][2] * expected[1][2]), abs=1e-6)


@pytest.mark.parametrize("angle", [0.0, np.pi / 4])
def test_known_codes(angle: float) -> None:
    """One latent per factor is flat and aligned; turned by 45° codes stay linear, and each latent has half."""
    turn = torch.tensor([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])

    def turned(points: Tensor) -> Tensor:
        return points[:, :2].double() @ turn

    lines = linearity(turned, SPACE, traversals=3)
    assert lines.score == pytest.approx(1)
    assert lines.axis_alignment == pytest.approx(1 if angle == 0 else 0, abs=1e-6)
    assert flatness(turned, SPACE, traversals=3).score == pytest.approx(1 if angle == 0 else np.sqrt(0.5))


def test_constant_codes_score_0() -> None:
    constant = lambda points: torch.zeros(len(points), 2)  # noqa: E731
    assert flatness(constant, SPACE, traversals=3).score == 0
    assert linearity(constant, SPACE, traversals=3).score == 0
