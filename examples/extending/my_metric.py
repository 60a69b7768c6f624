"""A metric of your own: a function of codes and factors that returns a number, or an object with `.score`."""

import numpy as np
from numpy.typing import NDArray


def best_correlation(codes: NDArray[np.float64], factors: NDArray[np.int64], *, power: int = 1) -> float:
    """Return the mean over factors of the largest absolute correlation with a latent (to a power)."""
    together = np.corrcoef(codes.T, factors.T)[: codes.shape[1], codes.shape[1] :]  # (D, K)
    return float(np.mean(np.nanmax(np.abs(together), axis=0) ** power))
