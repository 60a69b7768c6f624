"""Which factor does each latent follow, above what codes that know nothing would score?

This is the one measure behind "z2 → stage 0.87" in printed scores, figures, reports and on the page.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from unweave.errors import InputError
from unweave.metrics.estimators.information import classes_of, discretize, normalised_information
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Codes, Factors, Floats, LabelResult, check_seed, labelled
from unweave.settings import Bins

PERMUTATIONS = 10  # of the rows of the codes; fewer for very wide codes
PAIRS = 2_000  # latents times permutations, at most
DEVIATIONS = 5.0  # of permuted codes, below which a value is not told apart from chance
WEAK = 0.1  # below this share of the entropy of a factor, a latent follows it weakly


@dataclass(frozen=True)
class Link:
    """A latent that follows a factor: by how much above chance, and what permuted codes score.

    Examples:
        >>> import torch
        >>> from unweave.metrics import follows
        >>> factors = torch.randint(0, 4, (2000, 2), generator=torch.Generator().manual_seed(0))
        >>> links = follows(factors.float().flip(1), factors).of_latent(0)
        >>> [(link.factor, round(link.share, 2), link.weak) for link in links]
        [('factor1', 1.0, False)]
    """

    latent: int
    factor: str
    share: float
    chance: float

    @property
    def weak(self) -> bool:
        """Return whether the latent knows little about the factor, although more than by chance."""
        return self.share < WEAK

    def __str__(self) -> str:
        weak = ", weak" if self.weak else ""
        return f"z{self.latent} → {self.factor} {self.share:.2f} above chance ({self.chance:.2f}{weak})"


@dataclass(frozen=True, eq=False)
class Follows(LabelResult):
    """The share of each factor that each latent knows, above chance.

    The score is the mean over factors of the largest share. A factor that is constant has shares of 0.

    Examples:
        >>> import torch
        >>> from unweave.metrics import follows
        >>> factors = torch.randint(0, 4, (2000, 2), generator=torch.Generator().manual_seed(0))
        >>> result = follows(factors.float().flip(1), factors)  # the codes are the factors in the opposite order
        >>> result.factors, result.share.round(2).tolist()
        (('factor0', 'factor1'), [[0.0, 1.0], [1.0, 0.0]])
    """

    score: float
    share: Floats  # (D, K), I(z; f) / H(f) minus chance; 0 where it is not told apart from chance
    chance: Floats  # (D, K), I(z; f) / H(f) of permuted codes
    factors: tuple[str, ...]
    constant: tuple[str, ...] = ()  # factors that do not vary

    def of_latent(self, latent: int) -> list[Link]:
        """Return the factors that a latent follows, the strongest first."""
        order = np.argsort(-self.share[latent], kind="stable")
        return [
            Link(latent, self.factors[k], float(self.share[latent, k]), float(self.chance[latent, k]))
            for k in order
            if self.share[latent, k] > 0
        ]

    @property
    def links(self) -> list[Link]:
        """The strongest factor of every latent that follows one, by latent."""
        found = (self.of_latent(latent) for latent in range(len(self.share)))
        return [links[0] for links in found if links]

    @property
    def unfollowed(self) -> tuple[str, ...]:
        """The factors that no latent follows, or only weakly; constant ones are not among them."""
        best = self.share.max(0, initial=0.0)
        return tuple(
            name for name, value in zip(self.factors, best, strict=True) if value < WEAK and name not in self.constant
        )


def follows(
    codes: Codes,
    factors: Factors,
    *,
    names: Sequence[str] | None = None,
    discrete: bool = False,
    bins: Bins = 20,
    kinds: Kinds = None,
    seed: int = 0,
) -> Follows:
    r"""Compute :math:`I(z_j; f_k) / H(f_k)` minus its mean over permuted codes.

    The plug-in estimate of the information is above 0 for codes that know nothing; the mean over permutations of the
    rows is what they score. A value that is less than five standard deviations of permuted codes above it is 0.

    Args:
        codes: The codes (N, D); binned as in MIG unless they are discrete.
        factors: The factors (N, K). A continuous one is cut into ``bins`` quantiles. Rows in which a factor is NaN or
            None are left out of that factor.
        names: The names of the factors; by default factor0, factor1, ….
        discrete: Whether every latent takes one of a few values, which are then its classes.
        bins: The number of bins of a continuous latent or factor.
        kinds: The kind of each factor, categorical, ordered or continuous, as a list or by column; by default columns
            of floats are continuous.
        seed: The seed of the permutations.

    Returns:
        The share and the chance of each latent and factor.

    Examples:
        >>> import torch
        >>> from unweave.metrics import follows
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> [str(link) for link in follows(-factors.float(), factors, names=["x", "y"]).links]
        ['z0 → x 0.97 above chance (0.03)', 'z1 → y 0.98 above chance (0.02)']
    """
    sample = labelled("follows", codes, factors, kinds=kinds, factor_bins=bins, sparse=True)
    table, present = sample.factors, sample.factors >= 0
    checked = sample.codes
    named = tuple(f"factor{k}" for k in range(table.shape[1])) if names is None else tuple(map(str, names))
    if len(named) != table.shape[1]:
        raise InputError(f"follows: {table.shape[1]} factors need as many names, got {len(named)}.")
    constant = tuple(name for k, name in enumerate(named) if k not in sample.varying)
    rng = np.random.default_rng(check_seed(seed))
    latents = checked.shape[1]
    permutations = max(2, min(PERMUTATIONS, PAIRS // latents))
    share, chance = np.zeros((latents, len(named))), np.zeros((latents, len(named)))
    for rows in np.unique(present, axis=1).T:  # factors that are known for the same rows
        columns = np.flatnonzero((present == rows[:, None]).all(0))
        if rows.sum() < 2:
            continue
        binned = classes_of(checked[rows]) if discrete else discretize(checked[rows], bins)
        classes = table[np.ix_(rows, columns)]
        found = normalised_information(binned, classes)
        orders = (rng.permutation(len(binned)) for _ in range(permutations))
        permuted = np.stack([normalised_information(binned[order], classes) for order in orders])
        mean = permuted.mean(0)
        deviation = (permuted - mean).std(axis=(0, 1)) * np.sqrt(permutations / (permutations - 1))  # (columns,)
        above = found - mean
        chance[:, columns] = mean
        share[:, columns] = np.where(above > DEVIATIONS * deviation, above, 0.0)
    best = [share[:, k].max() for k, name in enumerate(named) if name not in constant]
    return Follows(float(np.mean(best)), share, chance, named, constant, missing=sample.missing)
