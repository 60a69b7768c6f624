r"""The impossibility of unsupervised disentanglement without inductive biases: Theorem 1 of Locatello et al. 2019.

Independent factors :math:`u` with a continuous marginal are mapped to :math:`f(u)`, which has the same distribution but
depends on every factor in every coordinate. A model that only sees data cannot tell the two apart.

The construction: :math:`x_j = \Phi^{-1}(P(u_j))` is standard normal, an orthogonal matrix A without zeros keeps it so,
and :math:`f_i(u) = P^{-1}(\Phi((A x)_i))`. With :math:`w = A x` and :math:`y = f(u)`, density p and normal density φ,

.. math:: \frac{\partial f_i}{\partial u_j} = A_{ij} \, \frac{\varphi(w_i)}{p(y_i)} \, \frac{p(u_j)}{\varphi(x_j)},

which vanishes nowhere on the support. Appendix A of the preprint has three misprints: it lacks the factor 2 in
:math:`A_{ij} = -2 v_i v_j`; it calls the off-diagonal derivatives of the maps to and from normal factors non-zero,
although these maps act on single coordinates; and it evaluates the derivative of :math:`\Phi^{-1}` at :math:`w_i`
instead of :math:`\Phi(w_i)`.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError, unknown, whole
from unweave.metrics import mig
from unweave.metrics.scoring.inputs import Floats

MARGINALS = {"uniform": "uniform", "gaussian": "norm"}  # names in scipy.stats


@dataclass(frozen=True, eq=False)
class Impossibility:
    """Factors and their entangled counterparts, with the checks that Theorem 1 asks for."""

    factors: Floats  # (N, d)
    entangled: Floats  # (N, d), the same distribution
    mig_of_factors: float  # 1: each factor is a code of its own
    mig_of_entangled: float
    largest_distance: float  # Kolmogorov–Smirnov distance of a coordinate of ``entangled`` from its marginal
    largest_correlation: float  # absolute Spearman correlation of two coordinates of ``entangled``
    smallest_derivative: float  # absolute entry of the Jacobian over all samples


def householder(dimensions: int, alpha: float) -> Floats:
    r"""Return the reflection :math:`I - 2 v v^T` (d, d) of the paper, an orthogonal matrix without zeros.

    :math:`v_1^2 = \alpha`, between 0 and 0.5, and the other entries share the rest equally. In many dimensions the
    reflection is close to the identity: it satisfies the theorem, but MIG stays above 0 (0.2 for 10 factors).
    """
    dimensions = whole("dimensions", dimensions, at_least=2)
    if not 0 < alpha < 0.5:
        raise InputError(f"householder: alpha must be between 0 and 0.5, got {alpha!r}.")
    v = np.full(dimensions, np.sqrt((1 - alpha) / (dimensions - 1)))
    v[0] = np.sqrt(alpha)
    return np.asarray(np.eye(dimensions) - 2 * np.outer(v, v))


def mixing_matrix(dimensions: int) -> Floats:
    r"""Return an orthogonal matrix (d, d) without zeros whose largest entries in each column are close in size.

    For 2, 3 and 4 dimensions it is the reflection :func:`householder` for which the two largest entries of each column
    are equal: no latent stands out, and MIG is 0. For more it is the discrete cosine transform of type IV,
    :math:`\sqrt{2/d} \cos(\pi (2i + 1)(2j + 1) / 4d)`, which has no zeros because the product of odd numbers is odd.
    """
    dimensions = whole("dimensions", dimensions, at_least=2)
    if dimensions == 2:
        return householder(2, (1 - np.sqrt(0.5)) / 2)  # all entries ±√½: the rotation by 45° of the paper, reflected
    if dimensions <= 4:
        return householder(dimensions, 1 / dimensions)
    odd = 2 * np.arange(dimensions) + 1
    return np.asarray(np.sqrt(2 / dimensions) * np.cos(np.pi * np.outer(odd, odd) / (4 * dimensions)))


def entangle(factors: Floats, matrix: Floats, *, marginal: str = "uniform") -> Floats:
    """Return f(u) for independent factors ``factors`` (N, d), uniform on (0, 1) or standard normal (``"gaussian"``).

    ``matrix`` (d, d) is orthogonal and has no zeros: see :func:`mixing_matrix`. The transposed matrix inverts f.
    """
    distribution = _distribution(marginal)
    y: Floats = distribution.ppf(_normal().cdf(_to_normal(factors, matrix, distribution) @ matrix.T))
    return y


def jacobian(factors: Floats, matrix: Floats, *, marginal: str = "uniform") -> Floats:
    """Return the derivatives ∂f_i / ∂u_j (N, d, d) at each point of ``factors`` (N, d)."""
    distribution, normal = _distribution(marginal), _normal()
    x = _to_normal(factors, matrix, distribution)
    w = x @ matrix.T
    outer = normal.pdf(w) / distribution.pdf(distribution.ppf(normal.cdf(w)))  # (N, d)
    inner = distribution.pdf(factors) / normal.pdf(x)  # (N, d)
    return np.asarray(matrix * outer[:, :, None] * inner[:, None, :])


def demonstrate(
    dimensions: int = 2,
    *,
    marginal: str = "uniform",
    samples: int = 10_000,
    classes: int = 10,
    matrix: Floats | None = None,
    seed: int = 0,
) -> Impossibility:
    """Draw factors, entangle them, and check that the distribution is kept and that MIG falls from 1 to near 0.

    MIG is measured with the classes of the factors themselves as codes before, and with ``entangled`` as codes after.

    Args:
        dimensions: The number of factors.
        marginal: The distribution of each factor.
        samples: The number of points.
        classes: The number of classes of equal probability that MIG takes the factors in.
        matrix: The matrix that mixes the factors, :func:`mixing_matrix` by default.
        seed: The seed of the points.

    Returns:
        The factors before and after, and what was measured of them.
    """
    from scipy.stats import kstest, spearmanr

    dimensions = whole("dimensions", dimensions, at_least=2)
    matrix = mixing_matrix(dimensions) if matrix is None else matrix
    distribution = _distribution(marginal)
    probability = np.random.default_rng(seed).uniform(size=(whole("samples", samples, at_least=10), dimensions))
    factors = np.asarray(distribution.ppf(probability))
    entangled = entangle(factors, matrix, marginal=marginal)
    labels = (probability * classes).astype(np.int64)
    correlation = np.atleast_2d(spearmanr(entangled).statistic)
    pairs = correlation[~np.eye(len(correlation), dtype=bool)] if dimensions > 2 else correlation
    return Impossibility(
        factors,
        entangled,
        mig(labels.astype(np.float64), labels).score,
        mig(entangled, labels).score,
        max(float(kstest(column, distribution.cdf).statistic) for column in entangled.T),
        float(np.abs(pairs).max()),
        float(np.abs(jacobian(factors, matrix, marginal=marginal)).min()),
    )


def _to_normal(factors: Floats, matrix: Floats, distribution: Any) -> Floats:
    """Return the factors as standard normal variables (N, d), after checking them and the matrix."""
    factors = np.asarray(factors, np.float64)
    if factors.ndim != 2 or matrix.shape != (factors.shape[1],) * 2:
        raise InputError(
            f"factors must be (N, d) and the matrix (d, d), got shapes {factors.shape} and {tuple(matrix.shape)}."
        )
    if not np.allclose(matrix @ matrix.T, np.eye(len(matrix)), atol=1e-8):
        raise InputError("the matrix must be orthogonal, or the factors would not stay independent.")
    x: Floats = _normal().ppf(distribution.cdf(factors))
    if not np.isfinite(x).all():
        raise InputError("factors must lie inside the support of their marginal: uniform ones between 0 and 1.")
    return x


def _distribution(marginal: str) -> Any:
    import scipy.stats

    if marginal not in MARGINALS:
        raise unknown("marginal", marginal, MARGINALS)
    return getattr(scipy.stats, MARGINALS[marginal])()


def _normal() -> Any:
    from scipy.stats import norm

    return norm()
