from __future__ import annotations

import math

import pytest
import torch

from unweave.errors import InputError
from unweave.latents import FSQ


@pytest.mark.parametrize("levels", [2, 3, 8, 12, 144])
def test_codes_are_equation_10_of_tripod(levels: int) -> None:
    latent = FSQ(size=3, levels=levels)
    outputs = torch.randn(200, 3, generator=torch.Generator().manual_seed(0), dtype=torch.float64) * 2
    code = latent.code(outputs, {})
    assert code.quantised is not None
    assert code.indices is not None
    for row in range(len(outputs)):
        for column in range(3):
            steps = round((levels - 1) / 2 * (math.tanh(outputs[row, column]) + 1))
            assert code.indices[row, column] == steps
            assert code.quantised[row, column].item() == pytest.approx(2 / (levels - 1) * steps - 1, abs=1e-12)
    assert torch.equal(code.z, code.quantised)
    assert len(code.z.unique()) <= levels
    values = latent.values({}).double()
    torch.testing.assert_close(values.gather(1, code.indices.T).T, code.quantised, atol=1e-6, rtol=0)


def test_both_ends_are_reached() -> None:
    code = FSQ(size=2, levels=5).code(torch.tensor([[-50.0, 50.0]]), {})
    assert code.z.tolist() == [[-1.0, 1.0]]


def test_gradients_pass_the_rounding_as_if_it_were_not_there() -> None:
    outputs = torch.randn(4, 2, requires_grad=True)
    FSQ(size=2).code(outputs, {}).z.sum().backward()
    torch.testing.assert_close(outputs.grad, 1 - outputs.detach().tanh() ** 2)


def test_one_level_is_refused() -> None:
    with pytest.raises(InputError, match="the fsq latent: levels must be greater than or equal to 2, got 1"):
        FSQ(levels=1)
