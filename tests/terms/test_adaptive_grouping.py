from __future__ import annotations

import math
from typing import Literal

import pytest
import torch
from torch import Tensor

from tests.terms.models import images, model, randn
from unweave.errors import InputError
from unweave.latents import Code
from unweave.model import Forward
from unweave.recipes import compose
from unweave.terms import AdaptiveGrouping
from unweave.terms.adaptive_grouping import average, product, shared_latents

N, D = 40, 4
MEAN, LOGVAR = randn(2 * N, D), randn(2 * N, D, seed=1)


def kl(m1: float, l1: float, m2: float, l2: float) -> float:
    v1, v2 = math.exp(l1), math.exp(l2)
    return 0.5 * (math.log(v2 / v1) + (v1 + (m1 - m2) ** 2) / v2 - 1)


def by_loops(kind: str, divergence: str) -> tuple[Tensor, Tensor]:
    mean, logvar = MEAN.clone(), LOGVAR.clone()
    for row in range(N):
        quads = [
            (float(MEAN[row, j]), float(LOGVAR[row, j]), float(MEAN[N + row, j]), float(LOGVAR[N + row, j]))
            for j in range(D)
        ]
        deltas = [kl(*q) for q in quads]
        if divergence == "symmetric":
            deltas = [0.5 * delta + 0.5 * kl(*q[2:], *q[:2]) for delta, q in zip(deltas, quads, strict=True)]
        threshold = 0.5 * (min(deltas) + max(deltas))
        for j, (delta, (m1, l1, m2, l2)) in enumerate(zip(deltas, quads, strict=True)):
            if delta >= threshold:
                continue
            v1, v2 = math.exp(l1), math.exp(l2)
            if kind == "gvae":
                variance, centre = 0.5 * (v1 + v2), 0.5 * (m1 + m2)
            else:
                variance = 2 * v1 * v2 / (v1 + v2)
                centre = 0.5 * (m1 / v1 + m2 / v2) * variance
            for each in (row, N + row):
                mean[each, j], logvar[each, j] = centre, math.log(variance)
    return mean, logvar


@pytest.mark.parametrize("kind", ["gvae", "mlvae"])
@pytest.mark.parametrize("divergence", ["symmetric", "one_way"])
def test_pairs_by_loops(kind: Literal["gvae", "mlvae"], divergence: Literal["symmetric", "one_way"]) -> None:
    code = AdaptiveGrouping(kind=kind, divergence=divergence)(Code(MEAN, MEAN, LOGVAR), None)
    mean, logvar = by_loops(kind, divergence)
    assert code.logvar is not None
    torch.testing.assert_close(code.continuous, mean)
    torch.testing.assert_close(code.logvar, logvar)
    assert torch.equal(code.z, code.continuous)  # deterministic without a generator
    shared = (code.continuous[:N] == code.continuous[N:]).float().mean()
    assert 0.5 < shared < 0.9


def test_the_divergences_differ_in_what_they_share() -> None:
    pair = ((MEAN[:N], MEAN[N:]), (LOGVAR[:N], LOGVAR[N:]))
    assert not torch.equal(shared_latents(*pair, symmetric=True), shared_latents(*pair, symmetric=False))
    swapped = ((MEAN[N:], MEAN[:N]), (LOGVAR[N:], LOGVAR[:N]))
    assert torch.equal(shared_latents(*pair), shared_latents(*swapped))


def test_equal_divergences_keep_everything() -> None:
    mean = torch.tensor([[0.0, 0.0], [1.0, 1.0]])
    code = AdaptiveGrouping()(Code(mean, mean, torch.zeros(2, 2)), None)
    assert torch.equal(code.continuous, mean)
    assert not shared_latents((MEAN, MEAN), (LOGVAR, LOGVAR)).any()  # two identical images


def test_each_image_draws_a_code_of_its_own() -> None:
    code = AdaptiveGrouping()(Code(MEAN, MEAN, LOGVAR), torch.Generator().manual_seed(0))
    shared = code.continuous[:N] == code.continuous[N:]
    assert not (code.z[:N] == code.z[N:])[shared].any()
    assert code.logvar is not None
    noise = (code.z - code.continuous) / (0.5 * code.logvar).exp()
    torch.testing.assert_close(noise, randn(2 * N, D, seed=0))


def test_a_forward_pass_regroups_before_it_draws() -> None:
    made = model()
    generator = torch.Generator().manual_seed(0)
    passed = Forward(made, images(6), generator=generator, regroup=AdaptiveGrouping())
    assert (passed.code.continuous[:3] == passed.code.continuous[3:]).any()
    assert not torch.equal(passed.code.z, passed.code.continuous)
    torch.autograd.backward(passed.code.z.sum())
    assert all(parameter.grad is not None for parameter in made.encoder.parameters())


def test_extreme_variances_stay_finite() -> None:
    means, logvars = (torch.zeros(1, 1), torch.ones(1, 1)), (torch.full((1, 1), -120.0), torch.full((1, 1), 80.0))
    for joined in (average, product):
        mean, logvar = joined(means, logvars)
        assert mean.isfinite().all()
        assert logvar.isfinite().all()
    assert product(means, logvars)[0] == 0  # the certain one decides


def test_gradients() -> None:
    pair = [randn(3, 2, seed=seed).requires_grad_() for seed in range(4)]
    for joined in (average, product):
        assert torch.autograd.gradcheck(lambda a, b, c, d, f=joined: f((a, b), (c, d)), pair)


def test_what_cannot_be_grouped_has_a_clear_error() -> None:
    with pytest.raises(InputError, match="the adaptive grouping needs pairs, so an even number of images, got 3"):
        AdaptiveGrouping()(Code(MEAN[:3], MEAN[:3], LOGVAR[:3]), None)
    with pytest.raises(InputError, match="the adaptive grouping needs a Gaussian posterior"):
        AdaptiveGrouping()(Code(MEAN, MEAN), None)
    with pytest.raises(InputError, match="kind must be 'gvae', 'mlvae', 'exchange' or 'average', got 'vae'"):
        AdaptiveGrouping(kind="vae")  # type: ignore[arg-type]


def test_close_latents_exchange_their_values_and_stay_quantised() -> None:
    continuous = torch.tensor([[0.0, 0.0, 0.0], [1.0, 0.1, 0.45]], requires_grad=True)
    quantised = torch.tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]])
    z = quantised + (continuous - continuous.detach())
    code = AdaptiveGrouping(kind="exchange")(Code(z, continuous, quantised=quantised), None)
    assert code.z.tolist() == [[0.0, 4.0, 5.0], [3.0, 1.0, 2.0]]  # squares 1, 0.01 and 0.2025: the last two are close
    assert code.quantised is quantised
    code.z[0].sum().backward()
    assert continuous.grad is not None
    assert continuous.grad.tolist() == [[1.0, 0.0, 0.0], [0.0, 1.0, 1.0]]


def test_exchange_is_for_latents_without_a_posterior() -> None:
    assert compose("qlae", {"grouping": "exchange"}, factors=2).recipe == "qlae+pairs"
    for recipe, kind in (("dip_vae_i", "exchange"), ("qlae", "gvae")):
        with pytest.raises(InputError, match="kind exchange"):
            compose(recipe, {"grouping": kind}, factors=2)


def test_averages_of_an_autoencoder_are_those_of_disent() -> None:
    """AdaVae.compute_shared_mask_from_zs and make_shared_zs of disent 0.8.0: squares of the new codes."""
    codes = torch.cat([randn(6, 4), randn(6, 4, seed=1)])
    grouped = AdaptiveGrouping(kind="average")(Code(codes, codes), None).z
    assert float(grouped[:6].square().sum()) == pytest.approx(22.353640570336974, abs=1e-12)
    assert float(grouped[6:].square().sum()) == pytest.approx(23.132918230487647, abs=1e-12)
    assert (grouped[:6] == grouped[6:]).sum(1).tolist() == [2, 2, 3, 3, 2, 3]
