from __future__ import annotations

import pytest
import torch
from torch import nn

from unweave.errors import InputError
from unweave.metrics.encoders import evaluating


def test_every_part_is_put_back_as_it_was() -> None:
    module = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2), nn.Dropout())
    module.train()
    module[1].eval()
    with evaluating(module.forward, lambda x: x) as like:
        assert not any(part.training for part in module.modules())
        assert like.device.type == "cpu"
        assert not module(torch.ones(3, 2)).requires_grad
    assert [part.training for part in module.modules()] == [True, True, False, True]


def test_what_cannot_be_called_is_refused() -> None:
    with pytest.raises(InputError, match="must be callable, from images to codes, got int"), evaluating(3):  # type: ignore[arg-type]
        pass
