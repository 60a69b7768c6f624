"""Matched features: is there one direction, or one latent, for each true feature, as sae-lens measures it?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from unweave.errors import InputError
from unweave.metrics.mcc import correlations, sparse_correlations
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import Codes, Factors, Floats, Integers, LabelResult, check_codes, labelled
from unweave.metrics.scoring.sparse_codes import SparseCodes
from unweave.metrics.scoring.vectors import Groups
from unweave.metrics.single_latents import values_of

SMALLEST = 1e-8  # norm that vectors are divided by at least
DIGITS = 12  # of similarities, so that equal ones are ties


@dataclass(frozen=True, eq=False)
class FeatureMatch:
    """The mean similarity of matched features, and the share of features that match different true ones."""

    mcc: float
    uniqueness: float
    similarity: Floats  # (features, true features), absolute cosine
    matched: Integers  # (true features,), the feature of each one-to-one match; -1 if none is left

    @property
    def score(self) -> float:
        """The mean correlation coefficient."""
        return self.mcc


def feature_match(features: Codes, truth: Codes) -> FeatureMatch:
    """Compute the mean correlation coefficient and the uniqueness of directions, as sae-lens defines them.

    The mean correlation coefficient is the mean absolute cosine of the best one-to-one matching of features to true
    ones (Song et al. 2025); features or true ones that are left over do not count. Uniqueness is the number of true
    features that are the most similar one of some feature, over the number of features: 1 if each feature has a true
    one of its own. Both are those of ``mean_correlation_coefficient`` and ``feature_uniqueness`` in sae-lens 6.54.

    Args:
        features: The directions of the latents (D, M), such as the rows of a sparse autoencoder's decoder.
        truth: The directions of the true features (F, M).

    Returns:
        Both scores, the similarities and the matching.

    Examples:
        >>> from unweave.metrics import feature_match
        >>> found = feature_match([[0, 1], [0, -2], [3, 0]], [[1, 0], [0, 1]])  # the second feature is there twice
        >>> found.mcc, round(found.uniqueness, 2)
        (1.0, 0.67)
    """
    learned, true = (check_codes("feature_match", each, rows=1) for each in (features, truth))
    if learned.shape[1] != true.shape[1]:
        raise InputError(
            f"feature_match: both need directions in one space, got {learned.shape[1]} and {true.shape[1]} dimensions."
        )
    units = [each / np.maximum(np.linalg.norm(each, axis=1, keepdims=True), SMALLEST) for each in (learned, true)]
    return FeatureMatch(*_matched(np.abs(units[0] @ units[1].T)))


@dataclass(frozen=True, eq=False)
class ValueMatch(LabelResult):
    """The mean correlation of matched latents and values, and the share of latents that match different values."""

    mcc: float
    uniqueness: float
    values: Integers  # (V, 2), a factor, and the place of the value among its sorted values; of two, the second only
    correlation: Floats  # (D, V), absolute; 0 for a constant latent
    matched: Integers  # (V,), the latent of each value in the one-to-one match; -1 if none is left

    @property
    def score(self) -> float:
        """The mean correlation coefficient."""
        return self.mcc


def value_match(codes: Codes, factors: Factors, *, kinds: Kinds = None, groups: Groups = None) -> ValueMatch:
    """Compute the mean correlation coefficient and the uniqueness of latents and the values of factors.

    A true feature is a value of a factor, 1 in the samples that have it and 0 in the others; of a factor with two
    values it is the second one, because the first has the same correlations up to their sign. The similarity of a
    latent and a value is the absolute correlation over samples: the cosine of :func:`feature_match` of both after their
    means are subtracted. The scores are those of :func:`feature_match` (Song et al. 2025).

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        kinds: The kind of each factor, as a list or by column; continuous ones are put into 20 bins of equal counts.
        groups: The columns of each latent that is a vector, or the number of columns per latent; each is replaced by
            its first principal component.

    Returns:
        Both scores, the correlations and the matching.

    Examples:
        >>> import numpy as np
        >>> from scipy.sparse import csr_array
        >>> from unweave.metrics import value_match
        >>> factors = np.arange(600)[:, None] % 3  # one factor with three values
        >>> codes = csr_array(1.0 * (factors == [0, 1, 2, 9]))  # a latent for each value, and one that is never active
        >>> found = value_match(codes, factors)
        >>> round(found.mcc, 2), found.uniqueness  # three values, four latents
        (1.0, 0.75)
    """
    sample = labelled("value_match", codes, factors, kinds=kinds, groups=groups, sparse=True)
    values, x = values_of(sample), sample.codes
    values = values[(values[:, 1] > 0) | (sample.factors.max(0)[values[:, 0]] > 1)]
    classes: Any = sample.factors[:, values[:, 0]]  # (N, V)
    indicators = np.where(classes < 0, np.nan, classes == values[:, 1])
    related = sparse_correlations(x, indicators) if isinstance(x, SparseCodes) else correlations(x, indicators)
    mean, uniqueness, correlation, matched = _matched(np.abs(related))
    return ValueMatch(mean, uniqueness, values, correlation, matched, missing=sample.missing)


def _matched(similarity: Floats) -> tuple[float, float, Floats, Integers]:
    """Return the mean of the best one-to-one matching, the uniqueness, the similarities and the matching."""
    from scipy.optimize import linear_sum_assignment

    similarity = similarity.round(DIGITS)
    rows, columns = linear_sum_assignment(-similarity)
    matched = np.full(similarity.shape[1], -1, np.int64)
    matched[columns] = rows
    different = len(np.unique(similarity.argmax(1)))
    return float(similarity[rows, columns].mean()), different / len(similarity), similarity, matched
