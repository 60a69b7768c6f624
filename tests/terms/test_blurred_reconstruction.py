from __future__ import annotations

import math

import pytest
import torch
from torch import Tensor

from tests.terms.models import PIXELS, SHAPE, forward, images, standardised_forward
from unweave.errors import InputError
from unweave.model import Likelihood
from unweave.terms import BlurredReconstruction
from unweave.terms.blurred_reconstruction import EPSILON, blurred_reconstruction_loss
from unweave.terms.blurred_reconstruction import blurred as by_kernel


def blurred(image: Tensor, radius: int) -> list[list[list[float]]]:
    """A mean over a window of zeros outside the image, pixel by pixel."""
    channels, height, width = image.shape
    out = [[[0.0] * width for _ in range(height)] for _ in range(channels)]
    for c in range(channels):
        for y in range(height):
            for x in range(width):
                for dy in range(-radius, radius + 1):
                    for dx in range(-radius, radius + 1):
                        if 0 <= y + dy < height and 0 <= x + dx < width:
                            out[c][y][x] += float(image[c, y + dy, x + dx]) / (2 * radius + 1) ** 2
    return out


@pytest.mark.parametrize("radius", [1, 2, 31])
@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_it_is_the_loss_of_naively_blurred_images(likelihood: Likelihood, radius: int) -> None:
    x, y = images(2, seed=1), images(2, seed=2)
    total = 0.0
    channels, height, width = SHAPE
    for row in range(2):
        target, guess = blurred(x[row], radius), blurred(y[row], radius)
        for c in range(channels):
            for i in range(height):
                for j in range(width):
                    t, p = target[c][i][j], guess[c][i][j]
                    entropy = -t * math.log(p) - (1 - t) * math.log(1 - p)
                    total += entropy if likelihood == "bernoulli" else (t - p) ** 2
    loss = blurred_reconstruction_loss(y, x, likelihood=likelihood, radius=radius)
    assert loss.item() == pytest.approx(total / 2, rel=1e-6)


def test_it_knows_how_far_apart_shapes_are_that_do_not_overlap() -> None:
    pixels = torch.eye(9).reshape(9, 1, 1, 9)  # one white pixel, in nine places
    losses = [
        float(blurred_reconstruction_loss(pixels[[0]], pixels[[at]], likelihood="gaussian", radius=4))
        for at in range(1, 9)
    ]
    assert losses == sorted(losses)
    assert losses[0] < losses[3]


def test_black_and_white_images_stay_finite() -> None:
    white = torch.ones(1, 1, 9, 9, requires_grad=True)
    loss = blurred_reconstruction_loss(white, torch.zeros(1, 1, 9, 9), likelihood="bernoulli", radius=1)
    torch.autograd.backward(loss)
    inside = 7 * 7 * -math.log(EPSILON)  # the border blurs with zeros around it and is not quite white
    assert inside < loss.item() < inside + 9 * 9 * math.log(9)
    assert white.grad is not None
    assert white.grad.isfinite().all()


@pytest.mark.parametrize("likelihood", ["bernoulli", "gaussian"])
def test_the_term_blurs_images_not_logits_and_its_gradient_is_right(likelihood: Likelihood) -> None:
    passed = forward(likelihood=likelihood)
    expected = blurred_reconstruction_loss(passed.reconstructions, passed.images, likelihood=likelihood, radius=2)
    assert torch.equal(BlurredReconstruction(radius=2)(passed), expected)
    torch.testing.assert_close(BlurredReconstruction(radius=2, reduction="mean")(passed), expected / PIXELS)
    x = images(2)
    assert torch.autograd.gradcheck(
        lambda y: blurred_reconstruction_loss(y, x, likelihood=likelihood, radius=1),
        images(2, seed=3).requires_grad_(),
    )


def test_the_published_radius_is_the_default() -> None:
    assert BlurredReconstruction().radius == 31


def test_standardised_images_are_compared_in_their_own_space() -> None:
    passed = standardised_forward()
    mean, std = passed.model.mean, passed.model.std
    assert mean is not None
    assert std is not None
    outputs = passed.model.decoder(passed.code.z)
    expected = blurred_reconstruction_loss(outputs, (passed.images - mean) / std, likelihood="gaussian", radius=2)
    torch.testing.assert_close(BlurredReconstruction(radius=2)(passed), expected)
    in_images = blurred_reconstruction_loss(passed.reconstructions, passed.images, likelihood="gaussian", radius=2)
    assert in_images < 0.5 * expected


def test_a_gaussian_kernel_has_the_value_of_disent() -> None:
    """AugmentedReconLossHandler of disent 0.8.0 with "gau_r3" and normalize_mode="sum", without the plain loss."""
    images = torch.rand(4, 2, 6, 6, generator=torch.Generator().manual_seed(3), dtype=torch.float64)
    outputs = 3 * torch.randn(4, 2, 6, 6, generator=torch.Generator().manual_seed(4), dtype=torch.float64)
    value = blurred_reconstruction_loss(
        outputs, images, likelihood="gaussian", radius=3, kernel="gaussian", reduction="mean"
    )
    assert float(value) == pytest.approx(1.4909487962722778, abs=1e-6)
    box = by_kernel(images, 1, "box")
    torch.testing.assert_close(by_kernel(images, 1, f"{__name__}:square"), box)
    with pytest.raises(InputError, match="unknown kernel 'gauss': did you mean 'gaussian'"):
        by_kernel(images, 1, "gauss")


@pytest.mark.parametrize(
    ("kernel", "message"),
    [
        ("nope", "unknown kernel 'nope': expected one of box, gaussian"),
        ("nowhere:kernel", "the module 'nowhere' cannot be imported"),
        (f"{__name__}:even", "must have two odd dimensions"),
        (f"{__name__}:listed", "must return a tensor, got list"),
    ],
)
def test_a_kernel_that_cannot_be_used_is_refused_before_training(kernel: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        BlurredReconstruction(kernel=kernel).check_model(forward().model)


def even(radius: int) -> Tensor:
    return torch.ones(2 * radius, 2 * radius)


def listed(radius: int) -> list[int]:
    return [1]


def square(radius: int) -> Tensor:
    return torch.ones(2 * radius + 1, 2 * radius + 1)
