"""Metrics: plain functions of codes and factors, and a scorer that encodes each image once for all of them."""

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
from unweave.metrics.follows import Follows, Link, follows
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
from unweave.metrics.scoring.catalogue import METRICS, Metric
from unweave.metrics.scoring.encoded_data import EncodedData
from unweave.metrics.scoring.plan import check_metrics, score, score_codes
from unweave.metrics.scoring.scores import Scores, result_from_plain, result_to_plain
from unweave.metrics.selectivity import selectivity
from unweave.metrics.single_latents import absorption, single_latents
from unweave.metrics.sparse_probing import sparse_probing
from unweave.metrics.sparsity import sparsity
from unweave.metrics.total_correlation import total_correlation, total_correlation_sampled
from unweave.metrics.udr import udr
from unweave.metrics.wasserstein_correlation import wasserstein_correlation

__all__ = [
    "METRICS",
    "EncodedData",
    "Follows",
    "Link",
    "Metric",
    "Scores",
    "absorption",
    "active_units",
    "beta_vae_score",
    "check_metrics",
    "dci",
    "dci_es",
    "dcimig",
    "distance_agreement",
    "downstream",
    "edi",
    "elbo",
    "explicitness",
    "factor_vae_score",
    "fairness",
    "feature_match",
    "flatness",
    "follows",
    "infomec",
    "irs",
    "jemmig",
    "kl_per_latent",
    "linearity",
    "local",
    "local_mig",
    "local_modularity",
    "mcc",
    "mig",
    "mig_sup",
    "minimality_sufficiency",
    "modularity",
    "mutual_information",
    "omes",
    "psnr",
    "reconstruction_error",
    "result_from_plain",
    "result_to_plain",
    "sap",
    "score",
    "score_codes",
    "selectivity",
    "single_latents",
    "sparse_probing",
    "sparsity",
    "total_correlation",
    "total_correlation_sampled",
    "udr",
    "value_match",
    "wasserstein_correlation",
]
