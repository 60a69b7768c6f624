from __future__ import annotations

import math
from collections.abc import Callable

import pytest
import torch
from torch import Tensor

from tests.terms.models import forward, randn
from unweave.errors import InputError
from unweave.terms import TotalCorrelation
from unweave.terms.total_correlation import stratified_log_weights, total_correlation, weighted_log_weights

N, B, D = 50, 5, 3
Z, MEAN, LOGVAR = (randn(B, D, seed=seed) for seed in range(3))


def density(z: Tensor, mean: Tensor, logvar: Tensor) -> float:
    variance = math.exp(logvar)
    return math.exp(-((float(z) - float(mean)) ** 2) / (2 * variance)) / math.sqrt(2 * math.pi * variance)


def by_loops(weight: Callable[[int, int], float]) -> float:
    total = 0.0
    for b in range(B):
        joint, marginals = 0.0, [0.0] * D
        for other in range(B):
            densities = [density(Z[b, d], MEAN[other, d], LOGVAR[other, d]) for d in range(D)]
            joint += weight(b, other) * math.prod(densities)
            for d in range(D):
                marginals[d] += weight(b, other) * densities[d]
        total += math.log(joint) - sum(math.log(marginal) for marginal in marginals)
    return total / B


def stratified_weight(b: int, other: int) -> float:
    others = B - 1
    if other == b:
        return 1 / N
    if other == (b + 1) % B:
        return (N - others) / (N * others)
    return 1 / others


def test_minibatch_weighting_by_loops() -> None:
    value = total_correlation(Z, MEAN, LOGVAR, log_weights=weighted_log_weights(B, N, Z))
    assert value.item() == pytest.approx(by_loops(lambda b, other: 1 / (B * N)), rel=1e-10)


def test_stratified_sampling_by_loops() -> None:
    value = total_correlation(Z, MEAN, LOGVAR, log_weights=stratified_log_weights(B, N, Z))
    assert value.item() == pytest.approx(by_loops(stratified_weight), rel=1e-10)


@pytest.mark.parametrize(("rows", "size"), [(2, 1), (2, 9), (4, 50), (64, 737_280)])
def test_stratified_weights_are_on_the_diagonal_and_sum_to_one(rows: int, size: int) -> None:
    weights = stratified_log_weights(rows, size, Z).exp()
    torch.testing.assert_close(weights.sum(1), torch.ones(rows).double())
    torch.testing.assert_close(weights.diagonal(), torch.full((rows,), 1 / size).double())


def test_one_latent_has_no_total_correlation() -> None:
    for weights in (weighted_log_weights(B, N, Z), stratified_log_weights(B, N, Z)):
        value = total_correlation(Z[:, :1], MEAN[:, :1], LOGVAR[:, :1], log_weights=weights)
        assert value.item() == pytest.approx(0, abs=1e-12)


def test_the_stratified_estimate_of_a_whole_data_set_is_near_its_total_correlation() -> None:
    generator = torch.Generator().manual_seed(0)
    rows, rho = 2000, 0.8  # two latents that correlate: the sum of narrow posteriors is a Gaussian
    noise = torch.randn(rows, 2, generator=generator, dtype=torch.float64)
    codes = torch.stack([noise[:, 0], rho * noise[:, 0] + math.sqrt(1 - rho**2) * noise[:, 1]], 1)
    logvar = torch.full_like(codes, math.log(0.05))
    z = codes + math.sqrt(0.05) * torch.randn(rows, 2, generator=generator, dtype=torch.float64)
    value = total_correlation(z, codes, logvar, log_weights=stratified_log_weights(rows, rows, z))
    correlation = rho / 1.05
    assert value.item() == pytest.approx(-0.5 * math.log(1 - correlation**2), abs=0.06)


def test_the_term_reads_the_size_of_the_data_set() -> None:
    for term, weights in [
        (TotalCorrelation(), weighted_log_weights),
        (TotalCorrelation(estimator="stratified"), stratified_log_weights),
    ]:
        passed = forward(dataset_size=77)
        code = passed.code
        assert code.logvar is not None
        expected = total_correlation(code.z, code.continuous, code.logvar, log_weights=weights(6, 77, code.z))
        assert torch.equal(term(passed), expected)


def test_a_batch_that_cannot_be_stratified_has_a_clear_error() -> None:
    for rows, size in [(1, 100), (6, 4)]:
        with pytest.raises(InputError, match=f"got {rows} for {size} images: use estimator 'weighted'"):
            TotalCorrelation(estimator="stratified")(forward(rows=rows, dataset_size=size))


def test_far_codes_stay_finite_and_gradients_are_right() -> None:
    weights = weighted_log_weights(B, N, Z)
    assert total_correlation(1e3 * Z, MEAN, LOGVAR, log_weights=weights).isfinite()
    for log_weights in (weights, stratified_log_weights(B, N, Z), stratified_log_weights(B, B - 1, Z)):
        assert torch.autograd.gradcheck(
            lambda z, mean, logvar, w=log_weights: total_correlation(z, mean, logvar, log_weights=w),
            tuple(t.clone().requires_grad_() for t in (Z, MEAN, LOGVAR)),
        )
