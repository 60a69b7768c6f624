from __future__ import annotations

import torch

from unweave.latents import Deterministic


def test_the_code_is_what_the_encoder_gave() -> None:
    outputs = torch.randn(3, 4)
    code = Deterministic(size=4).code(outputs, {}, torch.Generator())
    assert code.z is outputs
    assert code.representation is outputs
