"""Full precision within mixed precision, for computations that need more digits than bfloat16 has."""

from __future__ import annotations

from contextlib import AbstractContextManager

import torch
from torch import Tensor


def full_precision(like: Tensor) -> AbstractContextManager[object]:
    """Disable autocast on the tensor's device, so that layers compute in the precision of their weights."""
    return torch.autocast(like.device.type, enabled=False)
