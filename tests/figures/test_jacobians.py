from __future__ import annotations

import pytest
import torch
from sklearn.decomposition import PCA

from unweave import FactorData, Run
from unweave.errors import InputError
from unweave.figures.jacobians import Columns, Jacobians, area_of_energy, draw_jacobians, make_jacobians


def test_columns_of_a_linear_decoder_are_its_weights(linear: Run, data: FactorData, generator: torch.Generator) -> None:
    (block,) = make_jacobians([linear], [data], generator).blocks
    weights = next(p for p in linear.model.decoder.parameters() if p.ndim == 2).detach()  # (pixels, D)
    scaled = weights.T * torch.tensor(linear.summary.std)[:, None]
    norms = scaled.norm(dim=1)
    order = norms.argsort(descending=True)
    assert block.latents == tuple(order.tolist())
    torch.testing.assert_close(torch.tensor(block.norms), norms[order], rtol=1e-4, atol=1e-5)
    torch.testing.assert_close(block.columns.flatten(1), scaled[order], rtol=1e-3, atol=1e-5)


def test_columns_are_ordered_by_norm_and_agree_with_finite_differences(
    gaussian: Run, data: FactorData, generator: torch.Generator
) -> None:
    (block,) = make_jacobians([gaussian], [data], generator, most=2).blocks
    assert list(block.norms) == sorted(block.norms, reverse=True)
    code = gaussian.encode(block.image[None]).double()
    model = gaussian.model.double()
    try:
        for latent, column in zip(block.latents, block.columns, strict=True):
            step = torch.zeros_like(code)
            step[0, latent] = 1e-5
            with torch.no_grad():
                difference = (model.decode(code + step) - model.decode(code - step))[0] / 2e-5
            torch.testing.assert_close(column.double(), difference, rtol=1e-3, atol=1e-5)
    finally:
        gaussian.model.float()


def test_the_area_of_most_of_the_energy() -> None:
    columns = torch.zeros(4, 2, 10, 10)
    columns[0] = 1.0  # uniform: 90 of 100 pixels
    columns[1, 0, 3, 4] = -5.0  # one pixel
    columns[2, :, 0, :2] = 1.0  # two pixels, 90 % needs both
    assert area_of_energy(columns).tolist() == pytest.approx([0.9, 0.01, 0.02, 0.0])
    assert area_of_energy(columns, 0.5).tolist() == pytest.approx([0.5, 0.01, 0.01, 0.0])


def test_bases_are_principal_and_independent_components(gaussian: Run, data: FactorData) -> None:
    result = make_jacobians([gaussian], [data], torch.Generator().manual_seed(1), bases=True, samples=60, most=3)
    own, principal, independent = result.blocks
    assert (own.basis, principal.name, independent.name) == (False, "PCA", "ICA")
    generator = torch.Generator().manual_seed(1)
    data.sample(1, generator)
    pixels = data.sample(60, generator).images.flatten(1).numpy() / 255.0
    fitted = PCA(4).fit(pixels)
    expected = torch.tensor(fitted.explained_variance_[:3]).sqrt().float()
    torch.testing.assert_close(torch.tensor(principal.norms), expected, rtol=1e-3, atol=1e-4)
    assert {row["run"] for row in result.records()} == {"β-VAE", "PCA", "ICA"}


def test_channels_are_apart_with_one_contrast_and_white_at_zero() -> None:
    columns = torch.zeros(2, 3, 4, 4)
    columns[0, 0], columns[1, 2, 0, 0] = 2.0, -1.0
    image = torch.full((3, 4, 4), 100, dtype=torch.uint8)
    block = Columns("run", image, False, columns, (5, 1), (8.0, 1.0), (0.5, 0.1))
    figure = draw_jacobians(Jacobians("title", (block,)))
    texts = [text.get_text() for text in figure.texts]
    assert [text for text in texts if "red" in text or text in ("green", "blue")][1:] == ["run\nred", "green", "blue"]
    assert "z5\n8\n50%" in texts
    red, _, blue = (axes.images[0].get_array() for axes in figure.axes)
    assert red is not None
    assert blue is not None
    inside = red[1:5, 7:11].reshape(-1, 3)  # the first column after the image
    assert (inside[:, 0] > 80).all()
    assert (inside[:, 2] < 50).all()
    half = blue[1, 13].tolist()  # −1 of ±2 is pale blue
    assert half[2] > half[0]
    assert half[2] > 150
    together = draw_jacobians(Jacobians("title", (block,), "mean"))
    assert len(together.axes) == 1


def test_energy_of_nothing_is_refused(gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    with pytest.raises(InputError, match="energy must be above 0"):
        make_jacobians([gaussian], [data], generator, energy=0.0)


def test_columns_at_images_of_ones_choice(gaussian: Run, data: FactorData, generator: torch.Generator) -> None:
    point = [size - 1 for size in data.space.sizes]
    (block,) = make_jacobians([gaussian], [data], generator, factors=point).blocks
    assert torch.equal(block.image, data.images([point], generator)[0])
    assert len(make_jacobians([gaussian], [data], generator, factors=[point, [0] * len(point)]).blocks) == 2
    with pytest.raises(InputError, match="points has no effect"):
        make_jacobians([gaussian], [data], generator, factors=point, points=2)
    with pytest.raises(InputError, match="columns"):
        make_jacobians([gaussian], [data], generator, factors=[0])
