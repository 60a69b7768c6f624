from __future__ import annotations

import math

import pytest
import torch
import torch.nn.functional as F
from torch import Tensor

import unweave
from unweave.data.distances import (
    bce,
    blurred_mse,
    box_blur,
    channel_statistics,
    correlation_text,
    distance_matrices,
    distance_named,
    factor_importance,
    ground_truth_distance,
    mse,
    perceived_distance,
)
from unweave.errors import InputError


@pytest.fixture
def images(generator: torch.Generator) -> tuple[Tensor, Tensor]:
    return torch.rand(5, 3, 9, 9, generator=generator), torch.rand(5, 3, 9, 9, generator=generator)


def test_losses_are_means_over_pixels(images: tuple[Tensor, Tensor]) -> None:
    a, b = images
    for row in range(5):
        assert mse(a, b)[row] == pytest.approx(float(F.mse_loss(a[row], b[row])))
        assert bce(a, b)[row] == pytest.approx(float(F.binary_cross_entropy(b[row], a[row])), rel=1e-5)


@pytest.mark.parametrize("radius", [0, 1, 3, 8, 31])
def test_the_blur_is_a_padded_box_and_a_product_of_fourier_transforms(
    images: tuple[Tensor, Tensor], radius: int
) -> None:
    a, _ = images
    window = 2 * radius + 1
    box = F.avg_pool2d(a, window, stride=1, padding=0) if radius == 0 else None
    padded = F.pad(a, (radius,) * 4)
    expected = F.avg_pool2d(padded, window, stride=1) if box is None else box
    torch.testing.assert_close(box_blur(a, radius), expected)
    size = 9 + 2 * radius  # by Fourier transform, as the paper does it
    kernel = torch.fft.rfft2(torch.full((window, window), 1 / window**2), s=(size, size))
    blurred = torch.fft.irfft2(torch.fft.rfft2(a, s=(size, size)) * kernel, s=(size, size))
    torch.testing.assert_close(box_blur(a, radius), blurred[..., radius : radius + 9, radius : radius + 9])


def test_the_augmented_loss_adds_the_weighted_blurred_one(images: tuple[Tensor, Tensor]) -> None:
    a, b = images
    blurred = mse(box_blur(a, 31), box_blur(b, 31))
    torch.testing.assert_close(blurred_mse(a, b), mse(a, b) + 63**2 * blurred)
    torch.testing.assert_close(blurred_mse(a, b, radius=31, weight=2.0), mse(a, b) + 2 * blurred)


def test_distances_have_names() -> None:
    a, b = torch.rand(2, 1, 8, 8), torch.rand(2, 1, 8, 8)
    assert distance_named("mse") is mse
    torch.testing.assert_close(distance_named("blurred_mse:2")(a, b), blurred_mse(a, b, radius=2))
    for name in ("msee", "mse:3", "blurred_mse:x"):
        with pytest.raises(InputError, match=r"distance|radius"):
            distance_named(name)


def test_ground_truth_counts_steps() -> None:
    assert ground_truth_distance(torch.tensor([[0, 5], [3, 3]]), torch.tensor([[2, 1], [3, 3]])).tolist() == [6, 0]


def test_table_a1_of_xysquares(generator: torch.Generator) -> None:
    """Michlo et al. 2023, Table A1: 0.0104 ± 0.0000 along every factor, 0.0308 ± 0.0022 between random pairs."""
    rows = {row.factor: row for row in factor_importance(unweave.load("xysquares"), generator, pairs=30_000)}
    assert (f"{rows['random'].mean:.4f}", f"{rows['random'].std:.4f}") == ("0.0308", "0.0022")
    for axis in ("x0", "y0", "x1", "y1", "x2", "y2"):
        assert (f"{rows[axis].mean:.4f}", f"{rows[axis].std:.4f}") == ("0.0104", "0.0000")


def test_table_a1_of_dsprites(generator: torch.Generator) -> None:
    """Michlo et al. 2023, Table A1; x and y are level here, as the set's symmetry has it."""
    published = {
        "random": (0.0754, 0.0289),
        "y": (0.0584, 0.0378),
        "x": (0.0559, 0.0363),
        "scale": (0.0250, 0.0148),
        "shape": (0.0214, 0.0095),
        "orientation": (0.0172, 0.0106),
    }
    rows = factor_importance(unweave.load("dsprites"), generator, pairs=50_000)
    for row in rows:
        assert row.mean == pytest.approx(published[row.factor][0], abs=0.002)
        assert row.std == pytest.approx(published[row.factor][1], abs=0.002)
    order = [row.factor for row in rows]
    assert order[0] == "random"
    assert set(order[1:3]) == {"x", "y"}
    assert order[3:] == ["scale", "shape", "orientation"]


@pytest.mark.parametrize(
    ("name", "mean", "std"),
    [("dsprites", 0.042494423521890, 0.195166458806261), ("xysquares", 0.015625, 0.124034734589209)],
)
def test_table_a2(name: str, mean: float, std: float, generator: torch.Generator) -> None:
    """Michlo et al. 2023, Table A2, to six digits, over all images."""
    statistics = channel_statistics(unweave.load(name), generator)
    assert statistics.exact
    for value in statistics.mean:
        assert f"{value:.6f}" == f"{mean:.6f}"
    for value in statistics.std:
        assert f"{value:.6f}" == f"{std:.6f}"


def test_channel_statistics_of_a_few_images(generator: torch.Generator) -> None:
    pixels = torch.randint(256, (10, 3, 6, 6), dtype=torch.uint8, generator=generator)
    statistics = channel_statistics(unweave.load(pixels, factors=torch.arange(10)), generator)
    floats = pixels.double() / 255
    torch.testing.assert_close(statistics.mean, floats.mean((0, 2, 3)))
    torch.testing.assert_close(statistics.std, floats.flatten(2).std(2).mean(0), atol=1e-6, rtol=0)
    assert not channel_statistics(unweave.load("noisy_dsprites"), generator).exact


def test_matrices_average_pairwise_distances_along_traversals(generator: torch.Generator) -> None:
    data = unweave.load("dsprites")
    again = torch.Generator().set_state(generator.get_state())
    matrices = distance_matrices(data, generator, traversals=3)
    assert [entry.factor for entry in matrices] == list(data.space.names)
    for axis, entry in enumerate(matrices):
        size = data.space.sizes[axis]
        total = torch.zeros(size, size, dtype=torch.float64)
        for point in data.space.sample(3, again):
            line = data.images(data.space.traverse(point, axis)).double() / 255
            for u in range(size):
                for v in range(size):
                    total[u, v] += (line[u] - line[v]).square().mean()
        torch.testing.assert_close(entry.perceived, total / 3, atol=1e-6, rtol=0)
        assert entry.ground_truth[0].tolist() == list(range(size))
        off = ~torch.eye(size, dtype=torch.bool)
        both = torch.stack([entry.ground_truth[off], entry.perceived[off]])
        assert entry.correlation == pytest.approx(float(torch.corrcoef(both)[0, 1]), abs=1e-6)


def test_constant_distances_order_nothing_and_overlap_or_blur_brings_the_order_back(
    generator: torch.Generator,
) -> None:
    """Sections 5.4 and 6 of the paper in three lines."""
    far = distance_matrices(unweave.load("xysquares"), generator, traversals=2)
    assert all(math.isnan(entry.correlation) for entry in far)
    near = distance_matrices(unweave.load("xysquares", spacing=2), generator, traversals=2)
    assert all(entry.correlation > 0.8 for entry in near)
    blurred = distance_matrices(unweave.load("xysquares"), generator, traversals=2, distance=blurred_mse)
    assert all(entry.correlation > 0.9 for entry in blurred)


def test_distances_are_seeded_and_cover_stochastic_sets() -> None:
    data = unweave.load("color_dsprites")

    def rows(seed: int) -> list[float]:
        return [r.mean for r in factor_importance(data, torch.Generator().manual_seed(seed), pairs=200)]

    assert rows(0) == rows(0)
    assert rows(0) != rows(1)


def test_any_function_of_two_batches_is_a_distance(generator: torch.Generator) -> None:
    data = unweave.load("xysquares")
    a, b = data.space.sample(4, generator), data.space.sample(4, generator)
    brightest = perceived_distance(data, a, b, distance=lambda x, y: (x - y).flatten(1).amax(1))
    assert brightest.tolist() == [1.0] * 4
    assert len(perceived_distance(data, a[:0], b[:0])) == 0


def test_what_has_no_distances_is_a_sentence(generator: torch.Generator) -> None:
    still = unweave.load(torch.zeros(2, 8, 8, dtype=torch.uint8), factors=torch.zeros(2, 1, dtype=torch.int64))
    with pytest.raises(InputError, match="single point"):
        factor_importance(still, generator)
    with pytest.raises(InputError, match="no factors"):
        factor_importance(unweave.load(torch.zeros(2, 8, 8, dtype=torch.uint8)), generator)
    with pytest.raises(InputError, match="pairs must be a whole number of at least 2"):
        factor_importance(unweave.load("xysquares"), generator, pairs=1)
    with pytest.raises(InputError, match="traversals must be a whole number of at least 1"):
        distance_matrices(unweave.load("xysquares"), generator, traversals=0)
    with pytest.raises(InputError, match="radius of the blur must not be negative"):
        box_blur(torch.zeros(1, 1, 4, 4), -1)


def test_a_distance_that_is_none_is_a_sentence(generator: torch.Generator) -> None:
    data = unweave.load("xysquares")
    a = data.space.sample(4, generator)
    for wrong in (lambda x, y: (x - y).mean(), lambda x, y: "far", lambda x, y: (x - y).mean((2, 3))):
        with pytest.raises(InputError, match="one number for each of the 4 pairs"):
            perceived_distance(data, a, a, distance=wrong)  # type: ignore[arg-type]
    with pytest.raises(InputError, match="same number of points, got 4 and 1"):
        perceived_distance(data, a, a[:1])


def test_faint_variation_around_a_bright_level_is_measured(generator: torch.Generator) -> None:
    pixels = torch.full((3, 1, 37, 37), 201, dtype=torch.uint8)
    pixels[1, 0, 5] = 202
    statistics = channel_statistics(unweave.load(pixels, factors=torch.arange(3)), generator)
    exact = pixels.double().div(255).flatten(2).std(2).mean(0)
    torch.testing.assert_close(statistics.std, exact, rtol=1e-4, atol=0)


def test_two_values_have_no_order_to_see(generator: torch.Generator) -> None:
    pixels = torch.randint(256, (6, 1, 8, 8), dtype=torch.uint8, generator=generator)
    labels = torch.tensor([[i // 3, i % 3] for i in range(6)])
    verdicts = [m.verdict for m in distance_matrices(unweave.load(pixels, factors=labels), generator, traversals=2)]
    assert verdicts[0] == "2 values"
    assert float(verdicts[1]) <= 1


def test_correlations_are_those_off_the_diagonal() -> None:
    truth = (torch.arange(4.0)[:, None] - torch.arange(4.0)).abs().double()
    assert correlation_text(truth, 3 * truth + 1, digits=2) == "1.00"
    assert correlation_text(truth, 4 - truth, digits=2) == "-1.00"
    assert correlation_text(truth, torch.ones(4, 4), digits=2) == "constant"
    assert correlation_text(truth[:2, :2], truth[:2, :2], digits=2) == "2 values"
