"""The terms of losses, one file each, under the names that configurations use."""

from unweave.terms.adaptive_grouping import AdaptiveGrouping
from unweave.terms.augmentation import Augmentation
from unweave.terms.blurred_reconstruction import BlurredReconstruction
from unweave.terms.capacity import Capacity
from unweave.terms.commitment import Commitment
from unweave.terms.controlled_kl import ControlledKL
from unweave.terms.dip import DIP
from unweave.terms.feature_reconstruction import FeatureReconstruction
from unweave.terms.hessian_penalty import HessianPenalty
from unweave.terms.jacobian import JacobianL1, JacobianL2
from unweave.terms.kernel_multiinformation import KernelMultiinformation
from unweave.terms.kl import KL
from unweave.terms.mmd import MMD
from unweave.terms.normalised_hessian import NormalisedHessian
from unweave.terms.quantisation import Quantisation
from unweave.terms.reconstruction import Reconstruction
from unweave.terms.term import AdversarialTerm, StatefulTerm, Term
from unweave.terms.total_correlation import TotalCorrelation
from unweave.terms.total_correlation_discriminator import TotalCorrelationDiscriminator
from unweave.terms.triplet import Triplet

TERMS: dict[str, type[Term]] = {
    "reconstruction": Reconstruction,
    "blurred_reconstruction": BlurredReconstruction,
    "feature_reconstruction": FeatureReconstruction,
    "kl": KL,
    "controlled_kl": ControlledKL,
    "mmd": MMD,
    "capacity": Capacity,
    "total_correlation": TotalCorrelation,
    "total_correlation_discriminator": TotalCorrelationDiscriminator,
    "dip": DIP,
    "jacobian_l1": JacobianL1,
    "jacobian_l2": JacobianL2,
    "hessian_penalty": HessianPenalty,
    "normalised_hessian": NormalisedHessian,
    "kernel_multiinformation": KernelMultiinformation,
    "quantisation": Quantisation,
    "commitment": Commitment,
    "triplet": Triplet,
}

__all__ = [
    "DIP",
    "KL",
    "MMD",
    "TERMS",
    "AdaptiveGrouping",
    "AdversarialTerm",
    "Augmentation",
    "BlurredReconstruction",
    "Capacity",
    "Commitment",
    "ControlledKL",
    "FeatureReconstruction",
    "HessianPenalty",
    "JacobianL1",
    "JacobianL2",
    "KernelMultiinformation",
    "NormalisedHessian",
    "Quantisation",
    "Reconstruction",
    "StatefulTerm",
    "Term",
    "TotalCorrelation",
    "TotalCorrelationDiscriminator",
    "Triplet",
]
