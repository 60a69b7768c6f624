"""Linear models of sparse codes: scikit-learn's logistic and ridge regression, on codes that are not stored dense.

Standardised codes are not sparse, but they are sparse codes plus one number per latent, which is enough for products of
matrices. The losses, the solver and its limits are scikit-learn's, so results are those of dense codes up to rounding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.metrics.scoring.inputs import Floats, Integers
from unweave.metrics.scoring.sparse_codes import ShiftedCodes


@dataclass(frozen=True, eq=False)
class SparseLogistic:
    """A fitted logistic regression, with weights (D + 1, C), the intercept last; C is 1 for two classes."""

    classes_: Integers
    weights: Floats

    def decision(self, codes: ShiftedCodes) -> Floats:
        """Return the logits (N, C)."""
        logits: Floats = codes.times(self.weights[:-1]) + self.weights[-1]
        return logits

    def predict_proba(self, codes: ShiftedCodes) -> Floats:
        """Return the probability of each class (N, classes)."""
        from scipy.special import expit, softmax

        logits = self.decision(codes)
        if logits.shape[1] > 1:
            probability: Floats = softmax(logits, axis=1)
            return probability
        second = expit(logits)
        return np.hstack([1 - second, second])


@dataclass(frozen=True, eq=False)
class SparseOneVsRest:
    """One fitted logistic regression per class, whose probabilities are scaled to sum to 1."""

    classes_: Integers
    models: list[SparseLogistic]

    def predict_proba(self, codes: ShiftedCodes) -> Floats:
        """Return the probability of each class (N, classes)."""
        second = np.hstack([model.predict_proba(codes)[:, 1:] for model in self.models])
        if second.shape[1] == 1:
            return np.hstack([1 - second, second])
        total = second.sum(1, keepdims=True)
        share: Floats = np.divide(second, total, out=np.full_like(second, 1 / second.shape[1]), where=total > 0)
        return share


@dataclass(frozen=True, eq=False)
class SparseRidge:
    """A fitted ridge regression."""

    weights: Floats
    intercept: float

    def predict(self, codes: ShiftedCodes) -> Floats:
        """Return the predicted numbers (N,)."""
        predicted: Floats = codes.times(self.weights) + self.intercept
        return predicted


def sparse_logistic(
    codes: ShiftedCodes, labels: Integers, *, strength: float = 1.0, max_iter: int = 100
) -> SparseLogistic:
    """Fit a logistic regression with an L2 penalty, multinomial if there are more than two classes.

    Args:
        codes: The standardised codes (N, D).
        labels: The class of each row (N,).
        strength: The inverse of the strength of the penalty, ``C`` in scikit-learn.
        max_iter: The largest number of iterations of L-BFGS.

    Returns:
        The fitted weights with the classes in increasing order.
    """
    from scipy.optimize import minimize
    from scipy.special import expit, log_expit, log_softmax

    classes, place = np.unique(labels, return_inverse=True)
    (n, latents), outputs = codes.shape, 1 if len(classes) == 2 else len(classes)
    penalty, rows = 1.0 / (strength * n), np.arange(n)

    def loss(flat: Floats) -> tuple[float, Floats]:
        weights = flat.reshape(latents + 1, outputs)
        logits = codes.times(weights[:-1]) + weights[-1]  # (N, outputs)
        if outputs == 1:
            wrong = expit(logits)
            value = -float(np.where(place == 1, log_expit(logits[:, 0]), log_expit(-logits[:, 0])).sum())
            wrong[:, 0] -= place
        else:
            log_probability = log_softmax(logits, axis=1)
            wrong = np.exp(log_probability)
            value = -float(log_probability[rows, place].sum())
            wrong[rows, place] -= 1
        wrong /= n
        slope = np.empty_like(weights)
        slope[:-1] = codes.transposed_times(wrong) + penalty * weights[:-1]
        slope[-1] = wrong.sum(0)
        return value / n + 0.5 * penalty * float((weights[:-1] ** 2).sum()), slope.reshape(-1)

    options = {"maxiter": max_iter, "maxls": 50, "gtol": 1e-4, "ftol": 64 * np.finfo(float).eps}
    found = minimize(loss, np.zeros((latents + 1) * outputs), method="L-BFGS-B", jac=True, options=options)
    return SparseLogistic(classes, found.x.reshape(latents + 1, outputs))


def sparse_one_vs_rest(codes: ShiftedCodes, labels: Integers) -> SparseOneVsRest:
    """Fit one binary logistic regression per class, each class against the rest; one in all if there are two."""
    classes = np.unique(labels)
    fitted = classes[1:] if len(classes) == 2 else classes
    return SparseOneVsRest(classes, [sparse_logistic(codes, (labels == each).astype(np.int64)) for each in fitted])


def sparse_ridge(codes: ShiftedCodes, values: Floats, *, penalty: float = 1.0) -> SparseRidge:
    """Fit a ridge regression, whose intercept has no penalty, by LSQR to the precision of floats."""
    from scipy.sparse.linalg import LinearOperator, lsqr

    mean, middle = codes.matrix.mean(0) + codes.rest, float(values.mean())
    centred = ShiftedCodes(codes.matrix, codes.rest - mean)
    operator: Any = LinearOperator(
        codes.shape, matvec=centred.times, rmatvec=centred.transposed_times, dtype=np.float64
    )
    found = lsqr(operator, values - middle, damp=np.sqrt(penalty), atol=1e-15, btol=1e-15, iter_lim=10_000)[0]
    return SparseRidge(found, middle - float(mean @ found))
