from __future__ import annotations

import pytest
import torch

from tests.terms.models import Layers, randn
from unweave.terms.curvature import ROWS, normal, over_entries, rademacher, second_differences, variance


def test_a_quadratic_gives_exactly_its_hessian_in_one_call() -> None:
    forms = randn(4, 3, 3)
    forms = forms + forms.transpose(1, 2)  # four symmetric Hessians
    decoder = Layers(
        lambda z: 0.5 * torch.einsum("bi,cij,bj->bc", z, forms, z) + z.sum(1, keepdim=True) + 7,
        lambda z: z.reshape(-1, 1, 3, 1) ** 2,
    )
    z, steps = randn(5, 3, seed=1), randn(2, 5, 3, seed=2)
    first, second = second_differences(decoder.activations, z, steps)
    assert decoder.calls == [5 * (1 + 2 * 2)]
    for k in range(2):
        for row in range(5):
            v = steps[k, row]
            for entry in range(4):
                assert float(first[k][row, entry]) == pytest.approx(float(v @ forms[entry] @ v), abs=1e-10)
            assert second[k][row].flatten().tolist() == pytest.approx((2 * v**2).tolist(), abs=1e-10)


def test_directions_are_signs_and_normals_of_their_own_for_each_row() -> None:
    z, generator = torch.zeros(500, 4), torch.Generator().manual_seed(0)
    signs = rademacher(3, z, generator)
    assert signs.shape == (3, 500, 4)
    assert (signs.abs() == 1).all()
    assert abs(signs.mean()) < 0.05
    flat = signs.permute(1, 0, 2).reshape(500, 12)
    assert (torch.corrcoef(flat.T) - torch.eye(12)).abs().max() < 0.25
    normals = normal(3, z.double(), generator)
    assert normals.dtype == torch.float64
    assert normals.var().item() == pytest.approx(1, abs=0.05)


def test_many_rows_pass_in_parts_and_come_to_the_same() -> None:
    decoder = Layers(lambda z: z**3, lambda z: z[:, :1] * z)
    z, steps = randn(ROWS // 2 + 1, 3), randn(3, ROWS // 2 + 1, 3, seed=1)
    together = second_differences(decoder.activations, z, steps)
    assert decoder.calls == [len(z)] * 7
    for row in (0, 40):
        alone = second_differences(decoder.activations, z[row : row + 1], steps[:, row : row + 1])
        for layer in range(2):
            for k in range(3):
                torch.testing.assert_close(together[layer][k][row], alone[layer][k][0])


@pytest.mark.parametrize("k", [2, 3, 7])
@pytest.mark.parametrize("correction", [0, 1])
def test_the_variance_is_torchs(k: int, correction: int) -> None:
    values = randn(k, 5, 2, 3)
    torch.testing.assert_close(variance(list(values), correction=correction), values.var(0, correction=correction))
    torch.testing.assert_close(over_entries(values[0]), values[0].flatten(1).mean(1))
    torch.testing.assert_close(over_entries(values[0], torch.amax), values[0].flatten(1).amax(1))


@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("correction", [0, 1])
def test_gradients_keep_the_memory_format_of_activations(k: int, correction: int) -> None:
    generator = torch.Generator().manual_seed(0)
    z, steps = torch.randn(6, 12, generator=generator), torch.randn(k, 6, 12, generator=generator)
    decoder = torch.nn.ConvTranspose2d(12, 8, 4)
    formats = []

    def activations(codes: torch.Tensor) -> list[torch.Tensor]:
        layer = decoder(codes[:, :, None, None]).contiguous(memory_format=torch.channels_last)
        layer.register_hook(lambda grad: formats.append(grad.is_contiguous(memory_format=torch.channels_last)))
        return [torch.nn.functional.gelu(layer)]

    for differences in second_differences(activations, z, steps):
        over_entries(variance(differences, correction=correction)).mean().backward()
    assert formats
    assert all(formats)
