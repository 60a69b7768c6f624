from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from torch import Tensor

from unweave import Categorical, FactorSpace
from unweave.errors import InputError
from unweave.metrics import local, local_mig, local_modularity, mcc, mig, modularity, total_correlation

SPACE = FactorSpace.of(x=40, y=40, shape=Categorical(12), few=4)
SMALL: dict[str, Any] = {"neighbourhoods": 4, "points": 1500}


def folded(points: Tensor) -> np.ndarray:
    """Aligned with x and y within each half of the plane, turned about between the halves."""
    x, y = points[:, 0].numpy(), points[:, 1].numpy()
    swap = x >= 20
    return np.column_stack([np.where(swap, y, x), np.where(swap, x, y)]).astype(float)


def test_disentangled_nearby_and_entangled_at_large() -> None:
    result = local(mig, folded, SPACE, rho=[0.1, 1.0], **SMALL)
    assert result.rho.tolist() == [0.1, 1.0]
    assert result.per_neighbourhood.shape == (2, 4)
    near, far = result.per_rho
    assert near > far + 0.3
    assert result.score == pytest.approx((near + far) / 2)


def test_a_neighbourhood_scores_as_the_metric_does() -> None:
    """With one radius that is everything, the score is the metric's on a sample with the categories held."""
    generator_points = []

    def remember(points: Tensor) -> np.ndarray:
        generator_points.append(points)
        return folded(points)

    result = local_modularity(remember, SPACE, rho=1.0, neighbourhoods=2, points=800)
    for points, score in zip(generator_points, result.per_neighbourhood[0], strict=True):
        assert (points[:, 2:] == points[0, 2:]).all()  # category and few-valued factor held
        assert score == modularity(folded(points), points, bins=5).score


def test_any_metric_goes() -> None:
    assert local(mcc, folded, SPACE, rho=0.2, **SMALL).score > 0.5
    assert local_mig(folded, SPACE, rho=0.2, **SMALL).score == local(mig, folded, SPACE, rho=0.2, **SMALL).score


def test_what_cannot_move_is_said() -> None:
    with pytest.raises(InputError, match=r"no factor of this space can vary at rho = 0\.01"):
        local_mig(folded, SPACE, rho=0.01)
    with pytest.raises(InputError, match="no factor"):
        local_mig(folded, SPACE, rho=0.5, fixed=["x", "y"])
    for rho in ("wide", [[0.1], [0.2, 0.3]], []):
        with pytest.raises(InputError, match="rho"):
            local_mig(folded, SPACE, rho=rho)
    with pytest.raises(InputError, match="fixed must be a list"):
        local_mig(folded, SPACE, rho=0.5, fixed="x")
    for metric in ("mig", total_correlation):
        with pytest.raises(InputError, match="must be a function of codes and factors"):
            local(metric, folded, SPACE)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="above 0 and at most 1"):
        local_mig(folded, SPACE, rho=[0.5, 2])
