"""Theorem 1."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import kstest, norm

from tests.papers.judging import verdicts
from unweave.errors import InputError
from unweave.papers import FINDINGS
from unweave.papers.impossibility import demonstrate, entangle, householder, jacobian, mixing_matrix

BOTH = pytest.mark.parametrize("marginal", ["uniform", "gaussian"])
DIMENSIONS = pytest.mark.parametrize("dimensions", [2, 3, 4, 5, 10])


def test_the_theorem_is_shown_and_would_not_be_by_a_code_that_keeps_its_factors() -> None:
    finding = FINDINGS["impossibility"]
    table = finding.table(None)
    assert set(verdicts(finding.answer(table)).values()) == {"shown"}
    unmixed = table.assign(**{"mig of the entangled code": 1.0})
    assert "not shown" in verdicts(finding.answer(unmixed)).values()


def test_derivatives_that_are_small_are_not_shown_as_zero() -> None:
    finding = FINDINGS["impossibility"]
    (part,) = finding.answer(finding.table(None)).parts
    assert (part.measured["smallest entry of the Jacobian"] > 0).all()


def test_a_distance_above_the_critical_value_is_another_distribution() -> None:
    finding = FINDINGS["impossibility"]
    table = finding.table(None).assign(
        **{"distance of the marginals": 0.019}
    )  # √(ln(2 · 20 / 0.05) / 2 / 10,000) is 0.0183
    assert finding.answer(table).claims[0].verdict == "not shown"


def _factors(
    marginal: str, n: int, dimensions: int, seed: int = 0
) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    g = np.random.default_rng(seed)
    return g.uniform(size=(n, dimensions)) if marginal == "uniform" else g.normal(size=(n, dimensions))


@DIMENSIONS
def test_matrices_are_orthogonal_and_have_no_zeros(dimensions: int) -> None:
    for matrix in (mixing_matrix(dimensions), householder(dimensions, 0.1), householder(dimensions, 0.49)):
        np.testing.assert_allclose(matrix @ matrix.T, np.eye(dimensions), atol=1e-12)
        assert np.abs(matrix).min() > 1e-3
    v = np.sqrt([0.1] + [0.9 / (dimensions - 1)] * (dimensions - 1))
    assert householder(dimensions, 0.1)[0, 1] == pytest.approx(-2 * v[0] * v[1])  # the factor 2 of the misprint


def test_no_cosine_of_type_four_is_zero_in_any_dimension() -> None:
    smallest = [np.abs(mixing_matrix(d)).min() * d**1.5 for d in range(5, 80)]
    assert min(smallest) > 0.5  # √(2/d) · sin(π / 4d) · d^1.5 → π / √8


def test_two_dimensions_are_the_45_degrees_of_the_paper() -> None:
    np.testing.assert_allclose(np.abs(mixing_matrix(2)), np.sqrt(0.5))
    factors = _factors("gaussian", 5, 2)
    np.testing.assert_allclose(entangle(factors, mixing_matrix(2), marginal="gaussian"), factors @ mixing_matrix(2).T)


@BOTH
@DIMENSIONS
def test_marginals_and_independence_are_kept(marginal: str, dimensions: int) -> None:
    factors = _factors(marginal, 20_000, dimensions)
    entangled = entangle(factors, mixing_matrix(dimensions), marginal=marginal)
    for column in entangled.T:
        assert kstest(column, marginal.replace("gaussian", "norm")).pvalue > 1e-3
    for values in (entangled, np.abs(entangled - np.median(entangled))):  # covariance, also of magnitudes
        off = np.corrcoef(values.T) - np.eye(dimensions)
        assert np.abs(off).max() < 5 / np.sqrt(20_000)


@BOTH
def test_the_joint_distribution_is_kept_in_two_dimensions(marginal: str) -> None:
    factors = _factors(marginal, 50_000, 2)
    p = entangle(factors, mixing_matrix(2), marginal=marginal)
    p = p if marginal == "uniform" else norm.cdf(p)
    counts = np.histogram2d(p[:, 0], p[:, 1], bins=5, range=((0, 1), (0, 1)))[0]
    assert ((counts - 2000) ** 2 / 2000).sum() < 51.2  # the 0.999 quantile of χ² with 24 degrees of freedom


@BOTH
def test_the_transposed_matrix_inverts_the_map(marginal: str) -> None:
    factors, matrix = _factors(marginal, 200, 5), mixing_matrix(5)
    back = entangle(entangle(factors, matrix, marginal=marginal), matrix.T, marginal=marginal)
    np.testing.assert_allclose(back, factors, atol=1e-7)


@BOTH
@pytest.mark.parametrize("dimensions", [2, 3, 6])
def test_the_jacobian_is_that_of_finite_differences_and_vanishes_nowhere(marginal: str, dimensions: int) -> None:
    factors, matrix = _factors(marginal, 300, dimensions), mixing_matrix(dimensions)
    factors = factors * 0.98 + (0.01 if marginal == "uniform" else 0)
    exact, step = jacobian(factors, matrix, marginal=marginal), 1e-6
    for j in range(dimensions):
        ahead, behind = factors.copy(), factors.copy()
        ahead[:, j] += step
        behind[:, j] -= step
        slope = (entangle(ahead, matrix, marginal=marginal) - entangle(behind, matrix, marginal=marginal)) / (2 * step)
        np.testing.assert_allclose(exact[:, :, j], slope, rtol=1e-4, atol=1e-6)
    assert np.abs(exact).min() > 0


@BOTH
@DIMENSIONS
def test_mig_falls_from_one_to_near_zero(marginal: str, dimensions: int) -> None:
    shown = demonstrate(dimensions, marginal=marginal, samples=5_000)
    assert shown.mig_of_factors == pytest.approx(1, abs=0.01)
    assert shown.mig_of_entangled < 0.05
    assert shown.largest_distance < 1.95 / np.sqrt(5_000) * 1.2
    assert shown.largest_correlation < 5 / np.sqrt(5_000)
    assert shown.smallest_derivative > 0


def test_a_reflection_in_many_dimensions_satisfies_the_theorem_but_barely_mixes() -> None:
    shown = demonstrate(10, samples=2_000, matrix=householder(10, 0.1))
    assert shown.smallest_derivative > 0
    assert shown.mig_of_entangled > 0.1


def test_what_cannot_be_entangled_is_refused() -> None:
    with pytest.raises(InputError, match="the matrix must be orthogonal"):
        entangle(_factors("uniform", 5, 2), np.ones((2, 2)))
    with pytest.raises(InputError, match=r"factors must be \(N, d\) and the matrix \(d, d\), got shapes \(5, 3\)"):
        entangle(_factors("uniform", 5, 3), mixing_matrix(2))
    with pytest.raises(InputError, match="inside the support of their marginal"):
        entangle(np.array([[0.5, 1.5]]), mixing_matrix(2))
    with pytest.raises(InputError, match="unknown marginal 'gausian': did you mean 'gaussian'"):
        demonstrate(2, marginal="gausian")
    with pytest.raises(InputError, match="dimensions must be a whole number of at least 2"):
        mixing_matrix(1)
    with pytest.raises(InputError, match=r"alpha must be between 0 and 0.5, got 0.7"):
        householder(3, 0.7)
