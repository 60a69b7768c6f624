"""InfoMEC: modularity, compactness and explicitness from normalised mutual information over the active latents."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError, unknown
from unweave.metrics.estimators.information import classes_of, entropies, information_table
from unweave.metrics.estimators.neighbours import neighbour_information
from unweave.metrics.estimators.parallel_fits import each_factor, logistic_regression, probabilities
from unweave.metrics.scoring.inputs import (
    Booleans,
    Codes,
    Factors,
    Floats,
    Integers,
    Labelled,
    check_seed,
    labelled,
    standardised,
    subsample,
)
from unweave.settings import Seed

ROWS = 10_000  # the published sample
VARIANTS = ("tripod", "qlae", "qlae-training")


@dataclass(frozen=True, eq=False)
class InfoMEC:
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
    variant: Literal["tripod", "qlae", "qlae-training"] = "tripod",
    seed: Seed = 0,
) -> InfoMEC:
    r"""Compute InfoM, InfoE and InfoC (Hsu et al. 2023, 2024).

    With :math:`N_{jk} = I(z_j; f_k) / H(f_k)` over active latents, InfoM is the mean over latents of the best factor's
    share of the latent's sum, and InfoC the mean over factors of the best latent's share, both rescaled so that a
    uniform distribution scores 0. InfoE is the fraction of the entropy that a logistic regression of each factor on all
    latents explains on the sample it was fitted to.

    Cases where the published code divides by 0 are defined as follows. If no latent is active, all scores are 0. An
    active latent without information, or a factor that no latent has information about, counts as a uniform
    distribution, 0. If one latent is active, compactness is the fraction of factors that it has information about.
    Constant factors are left out. From samples above 10,000, that many are drawn.

    Args:
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        discrete: Whether the codes take few values. Mutual information then is the plug-in estimate, otherwise Ross's
            nearest-neighbour estimate. :func:`unweave.score` asks the encoder.
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
    """
    if variant not in VARIANTS:
        raise unknown("variant", variant, VARIANTS)
    sample = subsample(labelled("infomec", codes, factors), ROWS, np.random.default_rng(check_seed(seed)))
    if not len(sample.varying):
        raise InputError(
            f"infomec: no factor varies in the {ROWS:,} samples that were drawn, as some classes are too rare."
        )
    classes = sample.factors[:, sample.varying]
    sample = Labelled(sample.codes, classes)
    active = _active(sample.codes, discrete, variant)
    if discrete:
        levels = classes_of(sample.codes)
        information, inputs = information_table(levels, classes), _one_hot(levels)
    else:
        inputs = standardised(sample.codes)[0]
        information = _neighbour_table(sample, 3 if variant == "qlae-training" else 10, variant, seed)
    nmi = information / entropies(classes)
    if not active.any():
        return InfoMEC(0.0, 0.0, 0.0, nmi, active, np.zeros(classes.shape[1]))
    pruned = nmi[active]
    explained = _explained(inputs, classes)
    return InfoMEC(
        _concentration(pruned, axis=1), _concentration(pruned, axis=0), float(explained.mean()), nmi, active, explained
    )


def _active(codes: Floats, discrete: bool, variant: str) -> Booleans:
    if variant == "tripod":
        low, high = np.quantile(codes, [0.25, 0.75], axis=0)
        spread: Floats = high - low
        least = 0.1 if discrete else spread.max() / 10
    else:
        spread = np.ptp(codes, axis=0)
        least = spread.max() / 8 if variant == "qlae-training" else 0.0 if discrete else spread.max() / 20
    return np.asarray(spread > least, np.bool_)


def _neighbour_table(sample: Labelled, neighbours: int, variant: str, seed: int) -> Floats:
    codes = sample.codes if variant == "qlae-training" else standardised(sample.codes)[0]
    scale = codes.std(0)
    codes = codes / np.where(scale > 0, scale, 1.0)
    # the same noise as scikit-learn's, to separate equal values
    noise = np.random.default_rng(seed).standard_normal(codes.shape)
    codes = codes + 1e-10 * np.maximum(1, np.abs(codes).mean(0)) * noise

    def column(factor: int) -> Floats:
        labels = sample.factors[:, factor]
        return np.array([neighbour_information(c, labels, neighbours=neighbours) for c in codes.T])

    return np.stack(each_factor(column, range(sample.factors.shape[1])), axis=1)


def _concentration(matrix: Floats, axis: int) -> float:
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


def _explained(inputs: Any, classes: Integers) -> Floats:
    def share(factor: int) -> float:
        labels = classes[:, factor]
        model = logistic_regression(inputs, labels, C=np.inf, class_weight="balanced", max_iter=100)
        own = probabilities(model, inputs, int(labels.max()) + 1)[np.arange(len(labels)), labels]
        loss = -np.log(np.maximum(own, np.finfo(np.float64).tiny)).mean()
        # with balanced weights, the model without inputs is uniform
        return float(1 - loss / np.log(len(np.unique(labels))))

    return np.array(each_factor(share, range(classes.shape[1])))
