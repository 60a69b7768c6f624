"""InfoMEC: modularity, compactness and explicitness from normalised mutual information over the active latents."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError, unknown
from unweave.metrics.estimators.information import classes_of, entropies, information_table
from unweave.metrics.estimators.neighbours import neighbour_information, neighbour_table, separated
from unweave.metrics.estimators.parallel_fits import (
    each_factor,
    linear_regression,
    logistic_regression,
    probabilities,
    r_squared,
)
from unweave.metrics.scoring.column_kinds import Kinds
from unweave.metrics.scoring.inputs import (
    Booleans,
    Codes,
    Factors,
    Floats,
    Integers,
    Labelled,
    LabelResult,
    check_seed,
    labelled,
    standardised,
    subsample,
)
from unweave.metrics.scoring.vectors import Groups, columns_of, joint_levels
from unweave.settings import Seed

ROWS = 10_000  # the published sample
VARIANTS = ("tripod", "qlae", "qlae-training")


@dataclass(frozen=True, eq=False)
class InfoMEC(LabelResult):
    """The three scores, and the normalised mutual information they are computed from."""

    modularity: float
    compactness: float
    explicitness: float
    nmi: Floats  # (D, varying factors): information over the entropy of the factor
    active: Booleans  # (D,)
    explicitness_per_factor: Floats  # (varying factors,)

    @property
    def score(self) -> float:
        """Modularity, which the papers compare first."""
        return self.modularity


def infomec(
    codes: Codes,
    factors: Factors,
    *,
    discrete: bool = False,
    kinds: Kinds = None,
    groups: Groups = None,
    variant: Literal["tripod", "qlae", "qlae-training"] = "tripod",
    seed: Seed = 0,
) -> InfoMEC:
    r"""Compute InfoM, InfoE and InfoC (Hsu et al. 2023, 2024).

    With :math:`N_{jk} = I(z_j; f_k) / H(f_k)` over active latents, InfoM is the mean over latents of the best factor's
    share of the latent's sum, and InfoC the mean over factors of the best latent's share, both rescaled so that a
    uniform distribution scores 0. InfoE is the fraction of the entropy that a logistic regression of each factor on all
    latents explains on the sample it was fitted to.

    Continuous factors have Kraskov's estimate of the information (Ross's if codes are discrete), which
    :math:`N_{jk} = 1 - \exp(-2 I)` maps to [0, 1): for jointly Gaussian variables, the squared correlation. Their
    InfoE is the R² of a linear regression.

    Cases where the published code divides by 0 are defined as follows. If no latent is active, all scores are 0. An
    active latent without information, or a factor that no latent has information about, counts as a uniform
    distribution, 0. If one latent is active, compactness is the fraction of factors that it has information about.
    Constant factors are left out. From samples above 10,000, that many are drawn.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        discrete: Whether the codes take few values. Mutual information then is the plug-in estimate, otherwise Ross's
            nearest-neighbour estimate. :func:`unweave.score` asks the encoder.
        kinds: The kind of each factor, as a list or by column; by default columns of floats are continuous.
        groups: The columns of each latent that is a vector, or the number of columns per latent. Their information is
            that of all columns together: by neighbours, or of the values they take together if codes are discrete. A
            latent is active if one of its columns is.
        variant: Which of the three that the authors published; they differ in which latents are active and in the
            neighbours:

            - ``"tripod"``: interquartile range above a tenth of the largest (discrete: 0.1), 10 neighbours,
              standardised;
            - ``"qlae"`` (standalone file): range above a twentieth of the largest (discrete: above 0), otherwise the
              same;
            - ``"qlae-training"``: range above an eighth of the largest, 3 neighbours, not standardised.
        seed: The seed of the drawn sample and of the estimates.

    Returns:
        Modularity, explicitness and compactness, with the matrix that they come from.

    Examples:
        >>> import torch
        >>> from unweave.metrics import infomec
        >>> factors = torch.cartesian_prod(torch.arange(5), torch.arange(4)).repeat(10, 1)  # (200, 2)
        >>> result = infomec(factors, factors, discrete=True)
        >>> round(result.modularity, 2), round(result.compactness, 2), round(result.explicitness, 2)
        (1.0, 1.0, 1.0)
    """
    if variant not in VARIANTS:
        raise unknown("variant", variant, VARIANTS)
    sample = subsample(labelled("infomec", codes, factors, kinds=kinds), ROWS, np.random.default_rng(check_seed(seed)))
    if not len(sample.varying):
        raise InputError(
            f"infomec: no factor varies in the {ROWS:,} samples that were drawn, as some classes are too rare."
        )
    missing, values = sample.missing, None if sample.values is None else sample.values[:, sample.varying]
    sample = Labelled(sample.codes, sample.factors[:, sample.varying], values)
    columns = columns_of("infomec", groups, sample.codes.shape[1])
    active = np.array(
        [active_latents(sample.codes, discrete=discrete, variant=variant)[group].any() for group in columns]
    )
    neighbours = 3 if variant == "qlae-training" else 10
    levels = classes_of(sample.codes)
    inputs = _one_hot(levels) if discrete else standardised(sample.codes)[0]
    if discrete:
        levels = joint_levels(levels, columns)
        information = information_table(levels, sample.factors)
        for factor in np.flatnonzero(sample.continuous).tolist():
            _, real = sample.of(factor, sample.codes)
            rows = sample.factors[:, factor] >= 0
            noisy = separated(real[:, None], np.random.default_rng(seed))[:, 0]
            information[:, factor] = [neighbour_information(noisy, c, neighbours=neighbours) for c in levels[rows].T]
    else:
        codes = sample.codes if variant == "qlae-training" else inputs
        information = neighbour_table(replace(sample, codes=codes), columns, neighbours=neighbours, seed=seed)
    entropy = np.where(sample.continuous, 1.0, entropies(sample.factors))
    nmi = np.where(sample.continuous, -np.expm1(-2 * information), information / entropy)
    if not active.any():
        return InfoMEC(0.0, 0.0, 0.0, nmi, active, np.zeros(nmi.shape[1]), missing=missing)
    pruned = nmi[active]
    explained = _explained(inputs, sample)
    return InfoMEC(
        concentration(pruned, axis=1),
        concentration(pruned, axis=0),
        float(explained.mean()),
        nmi,
        active,
        explained,
        missing=missing,
    )


def active_latents(codes: Floats, *, discrete: bool, variant: str = "tripod") -> Booleans:
    """Return which latents (D,) of codes (N, D) InfoMEC counts as active; ``variant`` as in :func:`infomec`."""
    if variant == "tripod":
        return active_by_quartiles(interquartile_ranges(codes), discrete=discrete)
    spread = np.ptp(codes, axis=0)
    least = spread.max() / 8 if variant == "qlae-training" else 0.0 if discrete else spread.max() / 20
    return np.asarray(spread > least, np.bool_)


def interquartile_ranges(codes: Floats) -> Floats:
    """Return the interquartile range (D,) of each latent of codes (N, D)."""
    low, high = np.quantile(codes, [0.25, 0.75], axis=0)
    return np.asarray(high - low, np.float64)


def active_by_quartiles(ranges: Floats, *, discrete: bool) -> Booleans:
    """Return which latents (D,) with these interquartile ranges are active, as in the code of Hsu et al. (2024)."""
    return np.asarray(ranges > (0.1 if discrete else ranges.max() / 10), np.bool_)


def concentration(matrix: Floats, axis: int) -> float:
    """Return the mean of the largest share along an axis, rescaled so that uniform shares give 0 and a single one 1."""
    count = matrix.shape[axis]
    if count == 1:
        return float((matrix.sum(axis) > 0).mean())
    total = matrix.sum(axis)
    share = np.divide(matrix.max(axis), total, out=np.full(len(total), 1 / count), where=total > 0)
    return float((share.mean() - 1 / count) / (1 - 1 / count))


def _one_hot(levels: Integers) -> Any:
    from sklearn.preprocessing import OneHotEncoder

    return OneHotEncoder().fit_transform(levels)


def _explained(inputs: Any, sample: Labelled) -> Floats:
    def share(factor: int) -> float:
        known, labels = sample.of(factor, inputs)
        if labels.dtype.kind == "f":
            return r_squared(linear_regression(known, labels).predict(known), labels)
        model = logistic_regression(known, labels, C=np.inf, class_weight="balanced", max_iter=100)
        own = probabilities(model, known, int(labels.max()) + 1)[np.arange(len(labels)), labels]
        loss = -np.log(np.maximum(own, np.finfo(np.float64).tiny)).mean()
        # with balanced weights, the model without inputs is uniform
        return float(1 - loss / np.log(len(np.unique(labels))))

    return np.array(each_factor(share, range(sample.factors.shape[1])))
