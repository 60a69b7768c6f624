from __future__ import annotations

import pytest
import torch

from tests.terms.models import forward
from unweave.errors import InputError
from unweave.terms import FeatureReconstruction
from unweave.terms.feature_reconstruction import RandomFeatures, feature_reconstruction_loss


def test_the_formula() -> None:
    """Two layers: means of squares of 4 and 0.25; a sum is over 12 pixels and channels."""
    ours, theirs = (
        [torch.full((2, 3), 2.0), torch.full((2, 1, 2, 2), 0.5)],
        [torch.zeros(2, 3), torch.zeros(2, 1, 2, 2)],
    )
    assert float(feature_reconstruction_loss(ours, theirs, pixels=12, reduction="mean")) == pytest.approx(4.25)
    assert float(feature_reconstruction_loss(ours, theirs, pixels=12)) == pytest.approx(51)


def test_only_the_model_learns() -> None:
    made = forward()
    net = FeatureReconstruction().make_state((2, 3, 4)).double()
    FeatureReconstruction()(made, net).backward()
    assert all(p.grad is None for p in net.parameters())
    assert any(p.grad is not None and p.grad.abs().sum() > 0 for p in made.model.parameters())
    again = RandomFeatures((2, 3, 4)).double()
    assert all(torch.equal(one, other) for one, other in zip(net.parameters(), again.parameters(), strict=True))


def test_a_net_must_be_known() -> None:
    with pytest.raises(InputError, match="unknown feature net 'vgg'"):
        FeatureReconstruction(net="vgg").make_state((3, 8, 8))
