"""The catalogue of metrics: the question each answers, its needs, range, published settings and weakness."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from unweave.errors import InputError
from unweave.metrics.beta_vae import beta_vae_score
from unweave.metrics.dci import dci
from unweave.metrics.dci_es import dci_es
from unweave.metrics.dcimig import dcimig
from unweave.metrics.distance_agreement import distance_agreement
from unweave.metrics.downstream import downstream
from unweave.metrics.edi import edi
from unweave.metrics.explicitness import explicitness
from unweave.metrics.factor_vae import factor_vae_score
from unweave.metrics.fairness import fairness
from unweave.metrics.feature_match import feature_match, value_match
from unweave.metrics.flatness import flatness
from unweave.metrics.follows import follows
from unweave.metrics.infomec import infomec
from unweave.metrics.irs import irs
from unweave.metrics.jemmig import jemmig
from unweave.metrics.linearity import linearity
from unweave.metrics.local import local, local_mig, local_modularity
from unweave.metrics.mcc import mcc
from unweave.metrics.mig import mig
from unweave.metrics.mig_sup import mig_sup
from unweave.metrics.minimality_sufficiency import minimality_sufficiency
from unweave.metrics.modularity import modularity
from unweave.metrics.mutual_information import mutual_information
from unweave.metrics.omes import omes
from unweave.metrics.posterior import active_units, elbo, kl_per_latent
from unweave.metrics.reconstruction import psnr, reconstruction_error
from unweave.metrics.sap import sap
from unweave.metrics.selectivity import selectivity
from unweave.metrics.single_latents import absorption, single_latents
from unweave.metrics.sparse_probing import sparse_probing
from unweave.metrics.sparsity import sparsity
from unweave.metrics.total_correlation import total_correlation, total_correlation_sampled
from unweave.metrics.udr import udr
from unweave.metrics.wasserstein_correlation import wasserstein_correlation
from unweave.names import score_fields
from unweave.settings import keyword_settings

WIDE = 1_000  # latents
FEW = 20  # permutations or half-samples of metrics that take 0.1 s or more for each, so that p can be below 0.05
BINNED = "20 bins of equal counts"
Needs = Literal["labels", "codes", "pool", "intervention", "reconstruction", "posterior", "model", "other"]
NEEDS: dict[Needs, str] = {  # what the function is called with
    "labels": "codes and factors",
    "codes": "codes",
    "pool": "codes and factors; as published, an encoder and data with an image of every combination of factors",
    "intervention": "an encoder, and data with an image of every combination of factors",
    "reconstruction": "images and their reconstructions",
    "posterior": "mean and log-variance of Gaussian posteriors",
    "model": "images, their reconstructions, mean and log-variance of Gaussian posteriors",
    "other": "",
}


@dataclass(frozen=True)
class Metric:
    """A metric and what to know about it.

    Examples:
        >>> from unweave.metrics import METRICS
        >>> METRICS["mig"].question
        'Is each factor encoded by one latent, and by no other?'
        >>> METRICS["mig"].range, METRICS["mig"].best
        ('0 to 1', 'higher')
    """

    function: Callable[..., Any]
    question: str
    needs: Needs
    range: str
    best: Literal["higher", "lower", "neither"]
    weakness: str
    variants: dict[str, str] = field(default_factory=dict)  # published forms and their settings, by source
    ranges: Mapping[str, str] = field(default_factory=dict)  # of scores that do not have the range of the metric
    asks: Mapping[str, str] = field(default_factory=dict)  # the question of one of several scores
    continuous: str = ""  # what it does with continuous factors
    words: bool = True  # accepts words as factors
    sparse: bool = False  # accepts sparse codes
    factors_at_least: int = 1  # how many factors must vary
    given: str = ""  # what the function is called with, if it needs something else
    splits_itself: Mapping[str, Any] = field(default_factory=dict)  # settings with which no test sample is passed to it
    most_latents: int | None = None  # with more it takes minutes: computed only by name
    costly: bool = False  # takes minutes at the published size: computed only by name
    most_repeats: int | None = None  # permutations and half-samples with "all": more only by name
    by_name: str = ""  # another reason to compute it only by name
    for_sparse: bool = False  # made for sparse codes: of dense ones, computed only by name
    own: bool = False  # not in the catalogue
    name: str = ""

    @property
    def scores(self) -> tuple[str, ...]:
        """The fields of its result that are scores."""
        return tuple(score_fields(self.name).values())

    @property
    def only_by_name(self) -> str:
        """The reason why it is not part of "all" for dense codes, "" if it is."""
        for_sparse = "it is made for sparse codes" if self.for_sparse else ""
        return self.by_name or for_sparse or ("it takes minutes" if self.costly else "")

    @property
    def signed(self) -> Callable[..., Any]:
        """The function whose signature has its settings."""
        return local if self.function in (local_mig, local_modularity) else self.function

    @property
    def uses_factors(self) -> bool:
        """Return whether it is called with codes and factors."""
        return self.needs in ("labels", "pool")

    @property
    def takes(self) -> set[str]:
        """The names of its keyword settings."""
        parameters = inspect.signature(self.signed).parameters.values()
        return {parameter.name for parameter in parameters if parameter.kind is inspect.Parameter.KEYWORD_ONLY}

    def check_settings(self, settings: Mapping[str, Any]) -> None:
        """Raise an InputError for a setting that does not exist, or whose value has the wrong type or range."""
        plain = {name: value.item() if isinstance(value, np.generic) else value for name, value in settings.items()}
        try:
            keyword_settings(self.signed, self.name, len(self._positional), strict=True)(**plain)
        except InputError as error:
            where = f"{self.name}.{error.setting}" if error.setting else self.name
            raise error.reworded(str(error), setting=where) from None

    @property
    def _positional(self) -> list[str]:
        parameters = inspect.signature(self.signed).parameters.values()
        return [parameter.name for parameter in parameters if parameter.kind is parameter.POSITIONAL_OR_KEYWORD]


def _named(**metrics: Metric) -> dict[str, Metric]:
    for name, metric in metrics.items():
        object.__setattr__(metric, "name", name)
    return metrics


METRICS: dict[str, Metric] = _named(
    follows=Metric(
        follows,
        "How much does the best latent know about each factor, above chance?",
        "labels",
        "0 to 1",
        "higher",
        "Does not measure separation: a latent that follows several factors counts for each of them.",
        continuous=BINNED,
        sparse=True,
    ),
    mig=Metric(
        mig,
        "Is each factor encoded by one latent, and by no other?",
        "labels",
        "0 to 1",
        "higher",
        "Ignores whether a latent mixes factors; the plug-in estimate on bins is biased upwards for small samples.",
        {"Locatello et al. 2019": "bins=20, 10,000 samples", "Rhodes & Lee 2021": "bins=5, within neighbourhoods"},
        continuous=BINNED,
        sparse=True,
    ),
    mig_sup=Metric(
        mig_sup,
        "Does each latent encode one factor, and no other?",
        "labels",
        "0 to 1",
        "higher",
        "Constant latents count as 0, so that unused latents lower the score.",
        {"Li et al. 2020": "normaliser='factor'", "Carbonneau et al. 2022": "normaliser='code', bins=10"},
        factors_at_least=2,
        continuous=BINNED,
        sparse=True,
    ),
    modularity=Metric(
        modularity,
        "Does each latent depend on at most one factor?",
        "labels",
        "0 to 1",
        "higher",
        "Noise latents get arbitrary values and constant ones 0; a latent that encodes all factors can score high.",
        {"Locatello et al. 2019": "bins=20, 10,000 samples", "Rhodes & Lee 2021": "bins=5, within neighbourhoods"},
        factors_at_least=2,
        continuous=BINNED,
        sparse=True,
    ),
    explicitness=Metric(
        explicitness,
        "Can a linear classifier predict each factor from the codes?",
        "labels",
        "0 to 1, 0.5 is chance",
        "higher",
        "Does not measure separation: rotated codes score as high. One latent that encodes many classes scores low.",
        {
            "disentanglement_lib (with scikit-learn 0.22 or newer)": "classifier='multinomial', the default",
            "Locatello et al. 2019, appendix B": "classifier='one-vs-rest'; 10,000 and 5,000 samples",
        },
        continuous="ridge regression, R² in place of the ROC area",
        sparse=True,
        most_repeats=FEW,
    ),
    dci=Metric(
        dci,
        "Which latents does a predictor of each factor rely on?",
        "labels",
        "0 to 1",
        "higher",
        "Depends on the predictor as much as on the codes: compare only scores with the same importance.",
        {
            "disentanglement_lib": "importance='gbt', the default ('gbt-exact' for scikit-learn itself)",
            "Locatello et al. 2019, appendix B": "importance='svm', completeness='mean'",
            "Hsu et al. 2024 (Tripod)": "importance='forest', which holds out a tenth of 10,000 samples",
            "code of Michlo et al. 2023, during training": "train=1,000, 500 to test",
        },
        asks={
            "disentanglement": "Does each latent help to predict one factor only?",
            "completeness": "Is each factor predicted by one latent only?",
            "informativeness": "How accurately do the latents predict the factors?",
        },
        splits_itself={"importance": "forest"},
        most_latents=WIDE,
        continuous="boosted trees with squared error (forest: its regressor, svm: Lasso), R² in place of accuracy",
        sparse=True,
        most_repeats=FEW,
    ),
    sap=Metric(
        sap,
        "How much better does the best latent predict a factor than the second best?",
        "labels",
        "0 to 1",
        "higher",
        "Linear thresholds on one latent cannot separate many classes, so that perfect codes score far below 1.",
        {
            "disentanglement_lib": "method='svm', the default for classes",
            "Locatello et al. 2019, appendix B": "method='svm', standardise=True",
            "Kumar et al. 2018": "method='correlation', the default for continuous factors",
        },
        most_latents=WIDE,
        continuous="squared correlation in place of accuracy",
        sparse=True,
        most_repeats=FEW,
    ),
    infomec=Metric(
        infomec,
        "Are the active latents modular, compact and explicit?",
        "labels",
        "0 to 1",
        "higher",
        "Depends on the rule for active latents, of which the authors used three; explicitness is not held out.",
        {
            "Hsu et al. 2024 (Tripod)": "variant='tripod'",
            "Hsu et al. 2023 (QLAE), standalone": "variant='qlae'",
            "Hsu et al. 2023 (QLAE), training code": "variant='qlae-training'",
        },
        asks={
            "modularity": "Does each active latent depend on at most one factor?",
            "compactness": "Is each factor encoded by one active latent only?",
            "explicitness": "How well does a linear model predict the factors from the latents?",
        },
        ranges={"explicitness": "0 to 1, may fall below 0"},
        most_latents=WIDE,
        continuous="Kraskov's information (Ross's if codes are discrete) as 1 - exp(-2 I), R² of a linear regression",
        most_repeats=FEW,
    ),
    jemmig=Metric(
        jemmig,
        "Is each factor encoded by one latent, which encodes nothing else?",
        "labels",
        "0 to 1",
        "higher",
        "Bins that are finer than the classes of a factor count as other information in the latent.",
        {"Carbonneau et al. 2022": "bins=10"},
        continuous=BINNED,
        sparse=True,
    ),
    dcimig=Metric(
        dcimig,
        "How much information about the factors is held by latents that are specific to one factor?",
        "labels",
        "0 to 1",
        "higher",
        "Considers only the best latent of each factor: duplicates go unnoticed.",
        {"Carbonneau et al. 2022": "bins=10"},
        continuous=BINNED,
        sparse=True,
    ),
    minimality_sufficiency=Metric(
        minimality_sufficiency,
        "Does each latent hold one factor and nothing else, and does one latent hold all of each factor?",
        "labels",
        "0 to 1",
        "higher",
        "Bins finer than the classes of a factor count as other content of the latent; duplicates go unnoticed.",
        {"Almudévar & Ortega 2024": "bins=15, the default"},
        continuous=BINNED,
        sparse=True,
    ),
    edi=Metric(
        edi,
        "How exclusively does each latent serve one factor, and each factor rely on one latent?",
        "labels",
        "0 to 1",
        "higher",
        "Information that only several latents hold together is not counted; codes that know nothing get arbitrary "
        "modularity and compactness, to be read with explicitness.",
        {"Julka et al. 2024, their code": "captured='max' or 'sum', neighbours=3; its default, MINE, is not offered"},
        most_latents=WIDE,
        continuous="Kraskov's information; explicitness is 1 - exp(-2 I)",
        most_repeats=FEW,
    ),
    mcc=Metric(
        mcc,
        "How well do single latents correlate with single factors, which may be continuous?",
        "labels",
        "0 to 1",
        "higher",
        "Sees linear (or monotone) dependence only, which angles and categories do not have.",
        {"Hyvärinen & Morioka 2016": "method='pearson'"},
        words=False,
        continuous="as numbers",
        sparse=True,
    ),
    total_correlation=Metric(
        total_correlation,
        "How far from independent are the latents, treated as Gaussian?",
        "codes",
        "0 to ∞, nats",
        "lower",
        "Sees linear dependence only, and does not use factors.",
        {"Locatello et al. 2019": "ridge=1e-5, the default", "disentanglement_lib": "ridge=0"},
    ),
    wasserstein_correlation=Metric(
        wasserstein_correlation,
        "How far are Gaussian codes from independent ones, in squared distance?",
        "codes",
        "0 to ∞, in squared units of the codes",
        "lower",
        "Grows with the scale of the codes; .normalised does not.",
        {"disentanglement_lib": "the default settings"},
        ranges={"normalised": "0 to 2"},
    ),
    mutual_information=Metric(
        mutual_information,
        "Do the latents encode the same information?",
        "codes",
        "0 to log(bins), nats",
        "lower",
        "The plug-in estimate is above 0 for independent latents in a finite sample.",
        {"Locatello et al. 2019": "bins=20"},
        most_latents=WIDE,
    ),
    active_units=Metric(
        active_units,
        "How many latents vary with the data?",
        "codes",
        "0 to the number of latents",
        "neither",
        "Depends on the scale of the codes.",
        {"Burda et al. 2016": "threshold=0.01"},
        sparse=True,
    ),
    single_latents=Metric(
        single_latents,
        "How well does the best single latent recognise each value of each factor?",
        "labels",
        "0 to 1",
        "higher",
        "A threshold cannot recognise a middle value of an ordered latent; a value that a share p of the samples has "
        "gets an F1 near 2 p / (1 + p) by chance.",
        ranges={"auc": "0 to 1, 0.5 is chance"},
        continuous=BINNED,
        sparse=True,
        for_sparse=True,
        most_repeats=FEW,
    ),
    sparse_probing=Metric(
        sparse_probing,
        "How well do k latents predict each value of each factor?",
        "labels",
        "0 to 1, 0.5 is chance",
        "higher",
        "Latents are selected one by one by their means, so that redundant ones are selected together.",
        {"Karvonen et al. 2025 (SAEBench)": "k=1, 2 or 5, with as many samples with a value as without it"},
        continuous=BINNED,
        sparse=True,
        for_sparse=True,
        most_repeats=FEW,
    ),
    value_match=Metric(
        value_match,
        "Does each value of each factor have a latent of its own?",
        "labels",
        "0 to 1",
        "higher",
        "Uniqueness is at most the number of values over that of latents, so that wide codes score low.",
        {"sae-lens": "its functions, of codes and indicators of values whose means are subtracted"},
        continuous=BINNED,
        sparse=True,
        for_sparse=True,
    ),
    absorption=Metric(
        absorption,
        "How often is the latent of a value silent while a more specific latent is active instead?",
        "labels",
        "0 to 1",
        "lower",
        "Sees only latents that are specific to one value of a labelled factor; codes that are never 0 score 0.",
        {"Chanin et al. 2024": "by a linear probe and the decoder, which are not needed here; gain=0.03"},
        continuous=BINNED,
        sparse=True,
        for_sparse=True,
    ),
    selectivity=Metric(
        selectivity,
        "When one factor changes alone, do latents change that no other factor changes?",
        "pool",
        "0 to 1",
        "higher",
        "Latents that change in few pairs look selective by chance; several latents for one factor go unnoticed.",
        by_name="it needs samples that differ in one factor alone",
        factors_at_least=2,
        continuous=BINNED,
        sparse=True,
    ),
    sparsity=Metric(
        sparsity,
        "How many latents are active in a sample, and how many never are?",
        "codes",
        "0 to the number of latents",
        "neither",
        "Counts codes that are not exactly 0, however small.",
        {"sae-lens": "L0 and dead latents"},
        sparse=True,
        for_sparse=True,
    ),
    beta_vae_score=Metric(
        beta_vae_score,
        "Can a linear classifier tell which factor is shared by pairs of images?",
        "pool",
        "0 to 1, 1 / factors is chance",
        "higher",
        "Saturates: rotated codes often score 1 as well.",
        {"Locatello et al. 2019": "source='fresh', train=10,000, test=5,000, batch=64"},
        most_latents=WIDE,
        factors_at_least=2,
        continuous=BINNED,
        sparse=True,
        most_repeats=FEW,
    ),
    factor_vae_score=Metric(
        factor_vae_score,
        "Does fixing one factor fix one latent, always the same?",
        "pool",
        "0 to 1, 1 / factors is chance",
        "higher",
        "The threshold is in units of the codes; a latent that mixes factors goes unnoticed if it wins no vote.",
        {
            "Locatello et al. 2019": "source='fresh', train=10,000, test=5,000, batch=64, variance_points=10,000",
            "their text, which says a variance of 0.05": "threshold=0.2236",
        },
        most_latents=WIDE,
        factors_at_least=2,
        continuous=BINNED,
    ),
    irs=Metric(
        irs,
        "How little does a latent change when all factors but its own change?",
        "pool",
        "0 to 1",
        "higher",
        "Latents with a large range weigh most; heavy tails increase the normaliser and thereby the score.",
        {
            "disentanglement_lib": "source='fresh', quantile=0.99, bins=20, points=10,000",
            "Suter et al. 2019": "quantile=1.0",
        },
        continuous=BINNED,
        sparse=True,
    ),
    omes=Metric(
        omes,
        "Does a change of one factor change one latent, which no other factor changes?",
        "pool",
        "0 to 1",
        "higher",
        "Factors with few values cap it: at 0 for two values and at one half for three, whatever the codes.",
        {"Dapueto et al. 2024": "alpha=0.5, pooling='average', the defaults; or pooling='max'"},
        by_name="it needs samples that differ in one factor alone",
        continuous=BINNED,
    ),
    local_mig=Metric(
        local_mig,
        "Is each factor encoded by one latent only, near a point?",
        "intervention",
        "0 to 1",
        "higher",
        "Small neighbourhoods have few values, which increases the bias of the plug-in estimate.",
        {"Rhodes & Lee 2021": "rho from 0.1 to 1, neighbourhoods=20, points=10,000, bins=5"},
        costly=True,
    ),
    local_modularity=Metric(
        local_modularity,
        "Does each latent depend on at most one factor, near a point?",
        "intervention",
        "0 to 1",
        "higher",
        "As for modularity, constant latents count as 0.",
        {"Rhodes & Lee 2021": "rho from 0.1 to 1, neighbourhoods=20, points=10,000, bins=5"},
        costly=True,
        factors_at_least=2,
    ),
    downstream=Metric(
        downstream,
        "How well, and from how few labels, can simple classifiers learn the factors?",
        "labels",
        "0 to 1",
        "higher",
        "Rewards any information, whether separated or not.",
        {"Locatello et al. 2019": "sizes=(10, 100, 1000, 10000), 5,000 to test"},
        asks={
            "score": "How accurately do simple classifiers learn the factors from the codes?",
            "efficiency_logistic": "How much of its accuracy does logistic regression reach with 100 labels?",
            "efficiency_boosted": "How much of their accuracy do boosted trees reach with 100 labels?",
        },
        costly=True,
        continuous="ridge regression and boosted trees with squared error, R² in place of accuracy",
    ),
    dci_es=Metric(
        dci_es,
        "How little capacity does a predictor of each factor need, and are there as many latents as factors?",
        "labels",
        "-1 to 1",
        "higher",
        "Codes without information are perfectly explicit: read it with the informativeness of dci.",
        {"Eastwood et al. 2023": "random forests of 100 trees of depth 1 to 32, the default"},
        ranges={"size": "above 0, 1 if there are as many latents as factors"},
        costly=True,
        continuous="forests with squared error, R² in place of accuracy",
    ),
    flatness=Metric(
        flatness,
        "Do codes along one factor lie on a straight line along one latent?",
        "intervention",
        "0 to 1",
        "higher",
        "Categorical factors have no order along which codes could lie straight; two values always do.",
        {"Disent": "traversals=1,024"},
        costly=True,
    ),
    linearity=Metric(
        linearity,
        "Do codes along one factor vary in one direction, and is it a latent?",
        "intervention",
        "0 to 1",
        "higher",
        "The best direction may differ between traversals; factors with two values are always linear.",
        {"Disent": "traversals=1,024"},
        costly=True,
    ),
    fairness=Metric(
        fairness,
        "Do predictions of one factor change under interventions on another?",
        "intervention",
        "0 to 1",
        "lower",
        "Codes without information are perfectly fair; with few points per value, chance alone looks unfair.",
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
        "Models can agree on a wrong factorisation.",
        {"Duan et al. 2020": "method='lasso' or 'spearman', kl=, threshold=0.01"},
        given="codes of several models and, optionally, their KL divergences",
    ),
    feature_match=Metric(
        feature_match,
        "Is there one direction of the decoder for each true feature?",
        "other",
        "0 to 1",
        "higher",
        "Needs the true directions, which only synthetic data has; left-over features do not lower the score.",
        {"sae-lens": "mean_correlation_coefficient and feature_uniqueness"},
        given="the directions of a decoder and those of the true features",
    ),
    distance_agreement=Metric(
        distance_agreement,
        "Do distances between codes follow those between factors, images and reconstructions?",
        "other",
        "-1 to 1",
        "higher",
        "Does not report which factor is at fault.",
        {
            "Michlo et al. 2023": "distance=mse or blurred_mse",
            "Disent": "over='factor' or 'all', norm=1 or 2",
        },
        given="data, an encoder and, optionally, a decoder",
    ),
    reconstruction_error=Metric(
        reconstruction_error,
        "How large is the squared error of reconstructed pixels?",
        "reconstruction",
        "0 to 1",
        "lower",
        "Small objects contribute little.",
    ),
    psnr=Metric(
        psnr,
        "How large is the signal relative to the reconstruction error?",
        "reconstruction",
        "0 to ∞, dB",
        "higher",
        "A single perfect image makes the mean infinite.",
        {
            "Hsu et al. 2024 (Tripod), for their thresholds of 38, 42, 34 and 40 dB": "wrapped=True, truncated=True, "
            "most=10,000"
        },
    ),
    kl_per_latent=Metric(
        kl_per_latent,
        "How much information does each latent carry, as the KL divergence of its posterior from the prior?",
        "posterior",
        "0 to ∞, nats; the score is the sum over latents",
        "neither",
        "Measures how much is encoded, not what.",
    ),
    total_correlation_sampled=Metric(
        total_correlation_sampled,
        "How far from independent are samples of the latents, treated as Gaussian?",
        "posterior",
        "0 to ∞, nats",
        "lower",
        "Sees linear dependence only, and can be low while the means depend on each other.",
        {"Locatello et al. 2019": "ridge=1e-5, the default, 10,000 samples"},
    ),
    elbo=Metric(
        elbo,
        "What is the evidence lower bound of the images under the model?",
        "model",
        "-∞ to ∞, nats per image",
        "higher",
        "Comparable only for the same likelihood and image size.",
    ),
)


def source_of(metric: str, source: str) -> str | None:
    """Return what the protocol of a metric says of where its codes come from, None for nothing.

    Scores that were stored before there was a pool are of new images, and say nothing.
    """
    return source if metric in METRICS and METRICS[metric].needs == "pool" and source != "fresh" else None
