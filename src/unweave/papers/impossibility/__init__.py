r"""Theorem 1 of Locatello et al. 2019: without assumptions, disentanglement cannot be learned from the data alone.

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

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from unweave.errors import InputError, extra, unknown, whole
from unweave.figures.drawing.panels import TEXT, lay_out, panel_grid
from unweave.metrics import mig
from unweave.metrics.scoring.inputs import Floats
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

SAMPLES = 10_000
DIMENSIONS = (2, 3, 5, 10)
COORDINATES = sum(DIMENSIONS)  # whose distances are tested; both marginals are made from the same samples
CRITICAL = math.sqrt(math.log(2 * COORDINATES / 0.05) / 2 / SAMPLES)  # 5 % for all Kolmogorov-Smirnov tests together
MOST = 3_000  # points
MARGINALS = {"uniform": "uniform", "gaussian": "norm"}  # names in scipy.stats


def measure(study: Study | None = None) -> pandas.DataFrame:
    """Entangle independent factors in 2 to 10 dimensions, and measure what changes and what does not."""
    pandas = extra("pandas", "study")
    rows = []
    for marginal in ("uniform", "gaussian"):
        for dimensions in DIMENSIONS:
            shown = demonstrate(dimensions, marginal=marginal, samples=SAMPLES)
            rows.append(
                {
                    "marginal": marginal,
                    "dimensions": dimensions,
                    "mig of the factors": shown.mig_of_factors,
                    "mig of the entangled code": shown.mig_of_entangled,
                    "distance of the marginals": shown.largest_distance,
                    "largest rank correlation": shown.largest_correlation,
                    "smallest entry of the Jacobian": shown.smallest_derivative,
                }
            )
    return pandas.DataFrame(rows)


def answer(table: pandas.DataFrame) -> Answer:
    """Judge whether the theorem shows in the numbers."""
    distance, correlation = table["distance of the marginals"].max(), table["largest rank correlation"].max()
    smallest = table["smallest entry of the Jacobian"].min()
    before, after = table["mig of the factors"].min(), table["mig of the entangled code"].max()
    return Answer(
        [
            Claim(
                "The entangled code has the same distribution as the factors.",
                bool(distance < CRITICAL and correlation < 0.06),
                f"Largest Kolmogorov-Smirnov distance of a marginal {distance:.4f} (critical value at 5 % for "
                f"{COORDINATES} coordinates: {CRITICAL:.4f}), largest rank correlation between "
                f"two coordinates {correlation:.3f}.",
            ),
            Claim(
                "Every entry of its Jacobian is non-zero almost everywhere.",
                bool(smallest > 0),
                f"Smallest absolute entry over {SAMPLES:,} points: {smallest:.2g}.",
            ),
            Claim(
                "It is entangled: MIG falls from 1 to near 0.",
                bool(before > 0.99 and after < 0.1),
                f"MIG of the factors at least {before:.3f}, of the entangled code at most {after:.3f}.",
            ),
        ],
        [Part("The factors and the entangled code", table.round(dict.fromkeys(table.columns[:-1], 4)))],
    )


def draw_codes(study: Study | None = None) -> Figure:
    """Draw the factors and the entangled code in two dimensions."""
    return draw_impossibility(demonstrate(2, marginal="uniform", samples=SAMPLES))


FINDING = Finding(
    "impossibility",
    "Locatello et al. 2019, Theorem 1",
    "For any factorised prior there are infinitely many codes with the same distribution of images that are completely "
    "entangled.",
    answer,
    measure,
    views=(Picture("codes", "Two codes with the same distribution, one separated and one entangled.", draw_codes),),
)


def draw_impossibility(shown: Impossibility) -> Figure:
    """Draw the first two coordinates of the factors and of the entangled factors, coloured by the first factor.

    Returns the matplotlib figure.
    """
    figure, axes = panel_grid(1, 2, sharex=True, sharey=True)
    panels = (("factors", shown.factors, shown.mig_of_factors), ("entangled", shown.entangled, shown.mig_of_entangled))
    for panel, (name, values, score) in zip(axes[0], panels, strict=True):
        colour = shown.factors[:MOST, 0]
        panel.scatter(values[:MOST, 0], values[:MOST, 1], c=colour, cmap="viridis", s=3, linewidths=0)
        panel.set_title(f"{name}: MIG {score:.2f}", fontsize=TEXT)
    label = "first coordinate, coloured by the first factor"
    return lay_out(figure, axes, height=2.6, width=2.6, label=label, side="second coordinate")


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
