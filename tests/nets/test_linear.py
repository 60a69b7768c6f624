from __future__ import annotations

import torch
from torch import nn

from unweave.nets.linear import linear


def test_is_one_matrix_each_way() -> None:
    encoder, decoder = linear((3, 5, 4), 6, 2)
    to_outputs, to_pixels = (
        next(m for m in module.modules() if isinstance(m, nn.Linear)) for module in (encoder, decoder)
    )
    images, codes = torch.rand(2, 3, 5, 4), torch.randn(2, 2)
    torch.testing.assert_close(encoder(images), images.reshape(2, 60) @ to_outputs.weight.T + to_outputs.bias)
    torch.testing.assert_close(decoder(codes), (codes @ to_pixels.weight.T + to_pixels.bias).reshape(2, 3, 5, 4))
    assert sum(p.numel() for p in encoder.parameters()) == 60 * 6 + 6
    assert sum(p.numel() for p in decoder.parameters()) == 2 * 60 + 60
