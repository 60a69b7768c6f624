"""Sparsity: how many latents are active in a sample, and how many never are?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from unweave.metrics.scoring.inputs import Codes, Floats, check_any_codes
from unweave.metrics.scoring.sparse_codes import SparseCodes


@dataclass(frozen=True, eq=False)
class Sparsity:
    """The mean number of active latents per sample, the number of dead ones, and how often each is active."""

    active: float
    dead: int
    density: Floats  # (D,), the share of samples in which each latent is active

    @property
    def score(self) -> float:
        """The mean number of active latents."""
        return self.active


def sparsity(codes: Codes) -> Sparsity:
    """Compute the mean number of active latents per sample (L0) and the number of latents that are never active.

    A latent is active in a sample if its code (N, D) is not 0 there, as in sae-lens.

    Examples:
        >>> from unweave.metrics import sparsity
        >>> found = sparsity([[0.0, 1.5, 0.0], [2.0, 0.1, 0.0]])
        >>> found.active, found.dead
        (1.5, 1)
    """
    checked = check_any_codes("sparsity", codes, rows=1)
    counts = checked.counts if isinstance(checked, SparseCodes) else (checked != 0).sum(0)
    return Sparsity(float(counts.sum() / len(checked)), int((counts == 0).sum()), np.asarray(counts / len(checked)))
