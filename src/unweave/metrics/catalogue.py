"""Every metric with what one must know before believing it: its question, its range, its needs, its weakness."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, Literal

from unweave.metrics.beta_vae import beta_vae_score
from unweave.metrics.dci import dci
from unweave.metrics.dcimig import dcimig
from unweave.metrics.distances import distance_agreement
from unweave.metrics.downstream import downstream
from unweave.metrics.explicitness import explicitness
from unweave.metrics.factor_vae import factor_vae_score
from unweave.metrics.fairness import fairness
from unweave.metrics.infomec import infomec
from unweave.metrics.irs import irs
from unweave.metrics.jemmig import jemmig
from unweave.metrics.local import local, local_mig, local_modularity
from unweave.metrics.mcc import mcc
from unweave.metrics.mig import mig
from unweave.metrics.mig_sup import mig_sup
from unweave.metrics.modularity import modularity
from unweave.metrics.mutual_information import mutual_information
from unweave.metrics.posterior import active_units, elbo, kl_per_latent
from unweave.metrics.reconstruction import psnr, reconstruction_error
from unweave.metrics.sap import sap
from unweave.metrics.total_correlation import total_correlation
from unweave.metrics.udr import udr
from unweave.metrics.wasserstein_correlation import wasserstein_correlation

Needs = Literal["labels", "codes", "intervention", "other"]


@dataclass(frozen=True)
class Metric:
    """A metric and what to know of it."""

    function: Callable[..., Any]
    question: str
    needs: Needs  # codes and factors | codes alone | represent and a FactorSpace | something else
    range: str
    best: Literal["higher", "lower", "neither"]
    weakness: str
    variants: dict[str, str] = field(default_factory=dict)  # published settings: who, and how to get them
    scores: tuple[str, ...] = ("score",)  # the result's numbers
    continuous: bool = False  # takes continuous factors
    words: bool = True  # takes words as factors
    factors_at_least: int = 1  # that vary
    given: str = ""  # what one that needs something else is given
    costly: bool = False  # minutes at the published size: only by name
    name: str = ""

    @property
    def takes(self) -> set[str]:
        """The names of its settings."""
        function = local if self.function in (local_mig, local_modularity) else self.function
        parameters = inspect.signature(function).parameters.values()
        return {parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY}


def _named(**metrics: Metric) -> dict[str, Metric]:
    for name, metric in metrics.items():
        object.__setattr__(metric, "name", name)
    return metrics


METRICS: dict[str, Metric] = _named(
    mig=Metric(
        mig,
        "Is each factor known to one latent, and to one only?",
        "labels",
        "0 to 1",
        "higher",
        "Blind to a latent that mixes factors; the plug-in estimate on bins is biased upwards for small samples.",
        {"Locatello et al. 2019": "bins=20, 10,000 samples", "Rhodes & Lee 2021": "bins=5, within neighbourhoods"},
    ),
    mig_sup=Metric(
        mig_sup,
        "Does each latent know one factor, and one only?",
        "labels",
        "0 to 1",
        "higher",
        "Dead latents count as 0, so that spare capacity lowers it.",
        {"Li et al. 2020": "normaliser='factor'", "Carbonneau et al. 2022": "normaliser='code', bins=10"},
        factors_at_least=2,
    ),
    modularity=Metric(
        modularity,
        "Does each latent depend on one factor at the most?",
        "labels",
        "0 to 1",
        "higher",
        "Noise latents get arbitrary values and dead ones 0; a slightly uneven latent for everything scores high.",
        {"Locatello et al. 2019": "bins=20, 10,000 samples", "Rhodes & Lee 2021": "bins=5, within neighbourhoods"},
        factors_at_least=2,
    ),
    explicitness=Metric(
        explicitness,
        "Can a linear classifier read each factor off the codes?",
        "labels",
        "0 to 1, 0.5 is chance",
        "higher",
        "Says nothing of separation: a rotated code scores as high; a one-dimensional code of many classes scores low.",
        {"Locatello et al. 2019": "the defaults, 10,000 and 5,000 samples"},
    ),
    dci=Metric(
        dci,
        "Which latents does a predictor of each factor lean on?",
        "labels",
        "0 to 1",
        "higher",
        "Depends on the predictor as much as on the codes: compare scores of one importance only.",
        {
            "disentanglement_lib": "importance='gbt' ('gbt-exact' for scikit-learn itself)",
            "Locatello et al. 2019": "importance='svm'",
            "Hsu et al. 2024 (Tripod)": "importance='forest', a 9 to 1 split of 10,000",
        },
        scores=("disentanglement", "completeness", "informativeness"),
    ),
    sap=Metric(
        sap,
        "By how much does the best latent predict a factor better than the second best?",
        "labels",
        "0 to 1",
        "higher",
        "One linear threshold on one latent cannot tell many classes apart, so that perfect codes score far below 1.",
        {
            "Locatello et al. 2019": "method='svm'",
            "Kumar et al. 2018": "method='correlation', the default for continuous factors",
        },
        continuous=True,
    ),
    infomec=Metric(
        infomec,
        "Modular, compact, explicit: over the latents that are active?",
        "labels",
        "0 to 1 (explicitness may fall below 0)",
        "higher",
        "The rule for what is active decides much, and the authors used three; explicitness is on the training sample.",
        {
            "Hsu et al. 2024 (Tripod)": "variant='tripod'",
            "Hsu et al. 2023 (QLAE), standalone": "variant='qlae'",
            "Hsu et al. 2023 (QLAE), training code": "variant='qlae-training'",
        },
        scores=("modularity", "compactness", "explicitness"),
    ),
    jemmig=Metric(
        jemmig,
        "Is each factor known to one latent, which knows nothing else?",
        "labels",
        "0 to 1",
        "higher",
        "Bins finer than a factor's classes count as something else that the latent knows.",
        {"Carbonneau et al. 2022": "bins=10"},
    ),
    dcimig=Metric(
        dcimig,
        "How much of all factors is held by latents that are each kept for one factor?",
        "labels",
        "0 to 1",
        "higher",
        "Sees the best latent of a factor only: duplicates go unnoticed.",
        {"Carbonneau et al. 2022": "bins=10"},
    ),
    mcc=Metric(
        mcc,
        "How well do single latents follow single factors, continuous ones too?",
        "labels",
        "0 to 1",
        "higher",
        "Linear (or monotone) following only: an angle on a circle, or a category, has none.",
        {"Hyvärinen & Morioka 2016": "method='pearson'"},
        continuous=True,
        words=False,
    ),
    total_correlation=Metric(
        total_correlation,
        "How far are the latents from independent, if they were Gaussian?",
        "codes",
        "0 to ∞, nats",
        "lower",
        "Sees linear dependence only, and says nothing of factors.",
        {"Locatello et al. 2019": "of means: codes alone; of samples: logvar="},
    ),
    wasserstein_correlation=Metric(
        wasserstein_correlation,
        "How far must Gaussian codes be moved to become independent?",
        "codes",
        "0 to ∞, in squared units of the codes",
        "lower",
        "Grows with the scale of the codes; .normalised does not.",
        {"disentanglement_lib": "the defaults"},
        scores=("score", "normalised"),
    ),
    mutual_information=Metric(
        mutual_information,
        "Do the latents repeat one another?",
        "codes",
        "0 to log(bins), nats",
        "lower",
        "The plug-in estimate is above 0 for independent latents of a finite sample.",
        {"Locatello et al. 2019": "bins=20"},
    ),
    active_units=Metric(
        active_units,
        "How many latents vary with the data?",
        "codes",
        "0 to the number of latents",
        "neither",
        "Depends on the scale of the codes.",
        {"Burda et al. 2016": "threshold=0.01"},
    ),
    beta_vae_score=Metric(
        beta_vae_score,
        "Can a linear classifier tell which factor pairs of images have in common?",
        "intervention",
        "0 to 1, 1 / factors is chance",
        "higher",
        "Saturates: rotated codes often score 1 as well.",
        {"Locatello et al. 2019": "train=10,000, test=5,000, batch=64"},
        factors_at_least=2,
    ),
    factor_vae_score=Metric(
        factor_vae_score,
        "Does holding one factor still one latent, always the same?",
        "intervention",
        "0 to 1, 1 / factors is chance",
        "higher",
        "The threshold is in the codes' units; a latent that mixes factors goes unnoticed if it never wins.",
        {"Locatello et al. 2019": "train=10,000, test=5,000, batch=64, variance_points=10,000, threshold=0.05"},
        factors_at_least=2,
    ),
    irs=Metric(
        irs,
        "How little does a latent move when all factors but its own change?",
        "intervention",
        "0 to 1",
        "higher",
        "Latents with a large range weigh most; heavy tails raise the normaliser and with it the score.",
        {"disentanglement_lib": "quantile=0.99, bins=20, points=10,000", "Suter et al. 2019": "quantile=1.0"},
    ),
    local_mig=Metric(
        local_mig,
        "Is each factor known to one latent only, near a point?",
        "intervention",
        "0 to 1",
        "higher",
        "In a small neighbourhood few values remain, and the plug-in estimate's bias grows.",
        {"Rhodes & Lee 2021": "rho from 0.1 to 1, neighbourhoods=20, points=10,000, bins=5"},
        costly=True,
    ),
    local_modularity=Metric(
        local_modularity,
        "Does each latent depend on one factor at the most, near a point?",
        "intervention",
        "0 to 1",
        "higher",
        "As modularity: dead latents count as 0.",
        {"Rhodes & Lee 2021": "rho from 0.1 to 1, neighbourhoods=20, points=10,000, bins=5"},
        costly=True,
        factors_at_least=2,
    ),
    downstream=Metric(
        downstream,
        "How well, and from how few labels, do simple classifiers learn the factors?",
        "labels",
        "0 to 1",
        "higher",
        "Rewards information of any kind, separated or not.",
        {"Locatello et al. 2019": "sizes=(10, 100, 1000, 10000), 5,000 to test"},
        scores=("score", "efficiency_logistic", "efficiency_boosted"),
        costly=True,
    ),
    fairness=Metric(
        fairness,
        "Do predictions of one factor change when another is changed by intervention?",
        "intervention",
        "0 to 1",
        "lower",
        "A code that knows nothing is perfectly fair; with few points a value, chance alone is unfair.",
        {"Locatello et al. 2019b": "train=10,000, points=100"},
        costly=True,
        factors_at_least=2,
    ),
    udr=Metric(
        udr,
        "Do independently trained models agree on what they separate?",
        "other",
        "0 to 1 (Lasso weights may exceed it)",
        "higher",
        "Agreement is not truth: models can share a wrong factorisation.",
        {"Duan et al. 2020": "method='lasso' or 'spearman', kl=, threshold=0.01"},
        given="codes of several models, and their KLs",
    ),
    distance_agreement=Metric(
        distance_agreement,
        "Do distances between codes follow those between factors, images and reconstructions?",
        "other",
        "-1 to 1",
        "higher",
        "Pairs that differ in one factor only; says which factors by none.",
        {"Michlo et al. 2023": "distance=mse or blurred_mse"},
        given="data, an encoder and, if there is one, a decoder",
    ),
    reconstruction_error=Metric(
        reconstruction_error,
        "How large is the squared error of reconstructed pixels?",
        "other",
        "0 to 1",
        "lower",
        "Small objects hardly count.",
        given="images and reconstructions",
    ),
    psnr=Metric(
        psnr,
        "How clear is the signal over the noise of reconstruction?",
        "other",
        "0 to ∞, dB",
        "higher",
        "One perfect image makes the mean infinite.",
        {"Hsu et al. 2024 (Tripod)": "checkpoints are filtered by it"},
        given="images and reconstructions",
    ),
    kl_per_latent=Metric(
        kl_per_latent,
        "How much does each latent's posterior tell, over the prior?",
        "other",
        "0 to ∞, nats",
        "neither",
        "Says how much is told, not of what.",
        given="means and log-variances of posteriors",
    ),
    elbo=Metric(
        elbo,
        "How likely are the images, at least, under the model?",
        "other",
        "-∞ to ∞, nats an image",
        "higher",
        "Comparable within one likelihood and one image size only.",
        given="images, reconstructions, means and log-variances",
    ),
)
