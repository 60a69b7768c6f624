"""Sparse codes: thousands of latents, of which few are active in each sample, as in sparse autoencoders.

A latent is active in a sample if its code there is not 0. What is computed from sparse codes costs time in proportion
to the active entries, and gives what the same codes give as a dense array.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.errors import InputError

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
LARGEST = 1e100  # as of dense codes
DENSE_ONLY = {  # why metrics refuse sparse codes
    "infomec": "its estimate by nearest neighbours needs codes without ties, but most are 0; use mig, mig_sup, "
    "modularity and explicitness",
    "edi": "its estimate by nearest neighbours needs codes without ties, but most are 0; use value_match",
    "dci_es": "it fits forests of several depths to all latents; use dci",
    "omes": "it correlates latents over pairs, in most of which a latent is 0 twice; use selectivity",
    "factor_vae_score": "in a batch most latents are 0 throughout, so that the latent that varies least is arbitrary",
    "total_correlation": "it treats codes as Gaussian, which latents that are mostly 0 are not",
    "wasserstein_correlation": "it treats codes as Gaussian, which latents that are mostly 0 are not",
    "mutual_information": "its table has an entry for every two latents, however few are active",
    "downstream": "it cross-validates 50 regressions on all latents for each factor and size; use explicitness",
}


@dataclass(frozen=True, eq=False)
class SparseCodes:
    """Codes (N, D) of which only the active entries are stored, in a CSR array without zeros."""

    matrix: Any

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of latents."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> SparseCodes:
        """Return some of the rows."""
        return SparseCodes(self.matrix[rows])

    @cached_property
    def columns(self) -> Any:
        """The same as a CSC array, with the rows of each latent in order."""
        return self.matrix.tocsc()

    @cached_property
    def counts(self) -> Integers:
        """The number of samples in which each latent is active (D,)."""
        return np.bincount(self.matrix.indices, minlength=self.shape[1])

    @cached_property
    def latents(self) -> Integers:
        """The latent of each active entry, in the order of :attr:`columns`."""
        return np.repeat(np.arange(self.shape[1]), self.counts)

    @cached_property
    def extremes(self) -> tuple[Floats, Floats]:
        """The smallest and the largest code of each latent (D,), zeros included."""
        low, high = (np.zeros(self.shape[1]) for _ in range(2))
        alive, always = np.flatnonzero(self.counts), self.counts == len(self)
        starts, data = self.columns.indptr[alive], self.columns.data
        if len(alive):
            low[alive], high[alive] = np.minimum.reduceat(data, starts), np.maximum.reduceat(data, starts)
        return np.where(always, low, np.minimum(low, 0)), np.where(always, high, np.maximum(high, 0))

    @cached_property
    def moments(self) -> tuple[Floats, Floats]:
        """The mean and the variance of each latent (D,)."""
        data, n = self.columns.data, len(self)
        mean = np.bincount(self.latents, data, self.shape[1]) / n
        away = np.bincount(self.latents, (data - mean[self.latents]) ** 2, self.shape[1])
        return mean, (away + (n - self.counts) * mean**2) / n

    @property
    def constant(self) -> NDArray[np.bool_]:
        """Return whether each latent is constant (D,), up to rounding errors."""
        low, high = self.extremes
        return np.asarray(high - low <= 1e-12 * np.maximum(np.abs(low), np.abs(high)), np.bool_)

    @cached_property
    def scale(self) -> tuple[Floats, Floats]:
        """The mean and standard deviation that standardise each latent (D,), 0 and infinite if it is constant."""
        mean, variance = self.moments
        std = np.sqrt(variance)
        low, high = self.extremes
        size = np.maximum(np.abs(low), np.abs(high))
        for latent in np.flatnonzero((size > 0) & (size < 1 / LARGEST)):  # whose squares underflow
            values = self.matrix[:, [latent]].toarray() / size[latent]
            std[latent] = values.std() * size[latent]
        return np.where(self.constant, 0.0, mean), np.where(self.constant, np.inf, std)


@dataclass(frozen=True, eq=False)
class ShiftedCodes:
    """Codes (N, D) that have the value ``rest`` (D,) plus what a CSR array stores."""

    matrix: Any
    rest: Floats

    @property
    def shape(self) -> tuple[int, int]:
        """The number of samples and of latents."""
        return int(self.matrix.shape[0]), int(self.matrix.shape[1])

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: Any) -> ShiftedCodes:
        """Return some of the rows."""
        return ShiftedCodes(self.matrix[rows], self.rest)

    def times(self, weights: Floats) -> Floats:
        """Return the product with weights (D,) or (D, C)."""
        product: Floats = self.matrix @ weights + self.rest @ weights
        return product

    def transposed_times(self, values: Floats) -> Floats:
        """Return the product of the transposed codes with values (N,) or (N, C)."""
        total = values.sum(0)
        product: Floats = self.matrix.T @ values + (
            np.outer(self.rest, total) if values.ndim > 1 else self.rest * total
        )
        return product


def standardised_sparse(train: SparseCodes, *others: SparseCodes) -> tuple[ShiftedCodes, ...]:
    """Standardise latents to mean 0 and standard deviation 1 on the first sample; constant ones become 0."""
    mean, std = train.scale
    return tuple(ShiftedCodes(_scaled(codes.matrix, 1 / std), -mean / std) for codes in (train, *others))


def _scaled(matrix: Any, factors: Floats) -> Any:
    """Return a CSR array with its columns multiplied by factors (D,)."""
    from scipy.sparse import csr_array

    data = matrix.data * factors[matrix.indices]
    return csr_array((data, matrix.indices, matrix.indptr), shape=matrix.shape)


def is_sparse(codes: Any) -> bool:
    """Return whether codes are a sparse matrix or tensor."""
    if isinstance(codes, Tensor):
        return codes.layout in (torch.sparse_coo, torch.sparse_csr, torch.sparse_csc) and not codes.is_meta
    return isinstance(codes, SparseCodes) or hasattr(codes, "tocsr")


def check_sparse(metric: str, codes: Any, *, rows: int = 2, latents: int = 1) -> SparseCodes:
    """Return sparse codes (N, D), scipy's or torch's, as float64, or raise an error unless they are finite.

    Args:
        metric: The metric, for messages.
        codes: The codes (N, D); those that were checked before are returned as they are.
        rows: The fewest rows.
        latents: The fewest columns.

    Returns:
        The codes, without stored zeros.
    """
    from scipy.sparse import csr_array

    if isinstance(codes, SparseCodes):
        return codes
    if len(codes.shape) != 2 or codes.shape[1] < latents:
        raise InputError(f"{metric}: codes must be (N, D) with D >= {latents}, got shape {tuple(codes.shape)}.")
    if codes.shape[0] < rows:
        raise InputError(f"{metric}: needs at least {rows} samples, got {codes.shape[0]}.")
    if isinstance(codes, Tensor):
        entries = codes.detach().cpu().to_sparse_coo().coalesce()
        where, values = entries.indices().numpy(), entries.values()
        if values.is_complex() or values.ndim != 1:
            raise InputError(f"{metric}: codes must be real numbers, one for each sample and latent.")
        matrix = csr_array((values.double().numpy(), (where[0], where[1])), shape=tuple(codes.shape))
    else:
        if codes.dtype.kind not in "fiub":
            raise InputError(f"{metric}: codes must be numbers, got {codes.dtype}.")
        matrix = csr_array(codes, dtype=np.float64, copy=True)
        matrix.sum_duplicates()
    matrix.eliminate_zeros()
    matrix.sort_indices()
    finite = np.isfinite(matrix.data)
    if not finite.all():
        bad = len(np.unique(np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))[~finite]))
        raise InputError(f"{metric}: {bad:,} of {matrix.shape[0]:,} codes are NaN or infinite.")
    if (most := float(np.abs(matrix.data).max(initial=0))) > LARGEST:
        raise InputError(f"{metric}: codes reach {most:.1e}, too large to be squared; rescale them first.")
    return SparseCodes(matrix)


def joined_sparse(parts: list[SparseCodes]) -> SparseCodes:
    """Return samples one below the other."""
    from scipy.sparse import vstack

    return SparseCodes(vstack([part.matrix for part in parts], format="csr"))


def why_dense(metric: str) -> str:
    """Return why a metric takes dense codes only."""
    return DENSE_ONLY.get(metric, "it is defined for dense codes; pass codes.toarray() if that fits into memory")
