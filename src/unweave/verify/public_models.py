"""The dSprites models of disentangling-vae: their published losses, their estimator of total correlation, and MIG.

The published test losses are of the first 1,000 images of dSprites (FactorVAE: the first 500), evaluated at the means,
and divided by 738: their evaluation returned after its first batch, and divided by the number of batches.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial

import torch
from torch import Tensor

from unweave.errors import Unavailable
from unweave.metrics import mig
from unweave.representation import TrainedModel
from unweave.terms.gaussians import kl_to_prior, log_density
from unweave.terms.reconstruction import reconstruction_loss
from unweave.terms.total_correlation import total_correlation
from unweave.verify.row import Check, Material, Pair, Row
from unweave.zoo.public import COMMIT, PUBLIC, REPOSITORY, PublicModel

BATCHES = 738  # of 1,000 images each, by which one batch was divided
DATASET = 737_280
SAMPLES = 10_000  # for MIG
TOLERANCE = 1e-7
REPORTED = "0.001 to 0.01"  # MIG, by users of their code


@dataclass(frozen=True)
class PublishedLosses:
    """The losses of a file ``results/NAME/test_losses.log``; None where a method does not have one."""

    reconstruction: float
    kl: float
    per_latent: tuple[float, ...]
    mutual_information: float | None = None
    total_correlation: float | None = None
    dimension_wise_kl: float | None = None
    images: int = 1000


PUBLISHED = {
    "VAE_dsprites": PublishedLosses(
        0.005490438079,
        0.0308763716,
        (
            0.004713286552,
            0.003748927659,
            0.004142963466,
            0.003298237718,
            0.00438479744,
            0.001581367923,
            0.0008500522068,
            0.001715719861,
            0.004228679791,
            0.002212339624,
        ),
    ),
    "betaH_dsprites": PublishedLosses(
        0.01944651255,
        0.01801173409,
        (
            0.003808599177,
            0.002192487077,
            0.002873398424,
            0.0005749577914,
            0.002758780146,
            0.0005389845307,
            0.001127416445,
            0.0005680985325,
            0.002869791132,
            0.0006992220879,
        ),
    ),
    "betaB_dsprites": PublishedLosses(
        0.04634844255,
        0.03392556302,
        (
            4.924066822e-06,
            9.165429397e-06,
            1.197279214e-06,
            7.347636011e-06,
            7.829261656e-06,
            0.01007366503,
            0.004469786879,
            0.01037312135,
            1.685582808e-06,
            0.008976840714,
        ),
    ),
    "factor_dsprites": PublishedLosses(
        0.02749086912,
        0.02733810549,
        (
            0.002740074626,
            0.002136440943,
            0.004504847333,
            0.001121443946,
            0.005869507467,
            0.003846562006,
            0.00105594466,
            0.000996756279,
            1.442118461e-06,
            0.005065086411,
        ),
        images=500,
    ),
    "btcvae_dsprites": PublishedLosses(
        0.03414613574,
        0.01541951678,
        (
            1.890938805e-06,
            8.540403894e-07,
            0.003122703816,
            0.001484483561,
            0.004860637311,
            1.527723632e-06,
            0.001038011577,
            5.033888824e-07,
            0.00490847868,
            4.254283966e-07,
        ),
        mutual_information=0.09360869079,
        total_correlation=-0.08195298151,
        dimension_wise_kl=0.007153288136,
    ),
    "btcvae_dsprites_a-5": PublishedLosses(
        0.01623133528,
        0.01755921951,
        (
            1.314970214e-06,
            0.001780096754,
            0.002172513867,
            0.005219328371,
            0.00328487497,
            1.906066014e-06,
            1.521784242e-06,
            5.019916225e-07,
            0.005096851972,
            3.082955549e-07,
        ),
        mutual_information=0.09364467714,
        total_correlation=-0.08136614358,
        dimension_wise_kl=0.008713001158,
    ),
    "btcvae_dsprites_a0": PublishedLosses(
        0.02564057554,
        0.01676147999,
        (
            0.001950507242,
            5.797294128e-07,
            0.003026005698,
            1.388054586e-06,
            0.00501364938,
            2.611349943e-06,
            0.001721219642,
            4.017773147e-07,
            0.005044502941,
            6.13368393e-07,
        ),
        mutual_information=0.09360195046,
        total_correlation=-0.0796007451,
        dimension_wise_kl=0.006181651661,
    ),
    "btcvae_dsprites_a5": PublishedLosses(
        0.05098105123,
        0.01319883832,
        (
            0.002670082781,
            5.691036753e-07,
            9.010615317e-07,
            0.004265531938,
            9.682879885e-07,
            0.003484935295,
            0.001621186087,
            0.0004904330342,
            0.0006637989182,
            4.308797649e-07,
        ),
        mutual_information=0.09343487913,
        total_correlation=-0.08328652834,
        dimension_wise_kl=0.006800616014,
    ),
}


def evaluate(model: TrainedModel, images: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the reconstruction loss of images at the means (), the KL of each latent (D,), means and log-variances."""
    mean, logvar = model.posterior(images)
    with torch.no_grad():
        outputs = torch.cat([model.model.outputs(part) for part in mean.split(250)])
    loss = reconstruction_loss(outputs, images.float() / 255, likelihood="bernoulli")
    return loss, kl_to_prior(mean, logvar).mean(0), mean, logvar


def their_log_weights(batch: int, dataset: int) -> Tensor:
    """Return the log-weights (B, B) of their stratified estimator, with 1/N in column 0 and the second in column 1.

    The formula has them on the diagonal and next to it (see ``terms/total_correlation.py``).
    """
    others = batch - 1
    weights = torch.full((batch, batch), 1 / others, dtype=torch.float64)
    weights[:, 0] = 1 / dataset
    weights[:, 1] = (dataset - others) / (dataset * others)
    weights[others - 1, 0] = weights[0, 1]
    return weights.log()


def their_decomposition(
    mean: Tensor, logvar: Tensor, dataset: int, *, once: bool = False
) -> tuple[float, float, float]:
    """Estimate mutual information, total correlation and dimension-wise KL at the means (B, D) as their code does.

    Their code adds the log-weight of a pair of images to the log-density of each latent and then sums over latents, so
    that the joint density has it D times.

    Args:
        mean: The means (B, D), at which all densities are evaluated.
        logvar: The logarithms of the variances (B, D).
        dataset: The number of images of the data set.
        once: Add the log-weight to the joint density once, after the sum over latents, as the formula has it.

    Returns:
        The three estimates in nats; their sum is the estimate of the KL.
    """
    mean, logvar = mean.double(), logvar.double()
    log_weights = their_log_weights(len(mean), dataset)
    own = log_density(mean, mean, logvar).sum(1)  # (B,)
    prior = log_density(mean, torch.zeros_like(mean), torch.zeros_like(mean)).sum(1)
    pairs = log_density(mean[:, None], mean, logvar)  # (B, B, D)
    times = 1 if once else mean.shape[1]
    joint = (pairs.sum(2) + times * log_weights).logsumexp(1)
    marginals = (pairs + log_weights[..., None]).logsumexp(1).sum(1)
    parts = (own - joint, joint - marginals, marginals - prior)
    return tuple(float(part.mean()) for part in parts)  # type: ignore[return-value]


def first_images(material: Material, number: int) -> Tensor:
    """Return the first images of dSprites in the official order, uint8."""
    data = material.loaded("dsprites")
    images: Tensor = data.images(data.space.at(torch.arange(number)))
    return images


def check_reconstruction(model: PublicModel, row: Row, material: Material) -> Row:
    """Recompute the reconstruction loss."""
    published = PUBLISHED[model.label]
    loss, _, _, _ = evaluate(material.model(model), first_images(material, published.images))
    return replace(row, theirs=published.reconstruction, ours=float(loss) / BATCHES, tolerance=TOLERANCE)


def check_kl(model: PublicModel, row: Row, material: Material) -> Row:
    """Recompute the KL, and that of each latent."""
    published = PUBLISHED[model.label]
    _, kl, _, _ = evaluate(material.model(model), first_images(material, published.images))
    latents = tuple(
        Pair(f"KL of latent {number}", theirs, float(ours) / BATCHES)
        for number, (theirs, ours) in enumerate(zip(published.per_latent, kl, strict=True))
    )
    return replace(row, theirs=published.kl, ours=float(kl.sum()) / BATCHES, tolerance=TOLERANCE, details=latents)


def check_total_correlation(model: PublicModel, row: Row, material: Material) -> Row:
    """Recompute mutual information, total correlation and dimension-wise KL by their estimator, and by the formula."""
    published = PUBLISHED[model.label]
    _, kl, mean, logvar = evaluate(material.model(model), first_images(material, published.images))
    mutual, total, dimensions = their_decomposition(mean, logvar, DATASET)
    mutual_once, _, _ = their_decomposition(mean, logvar, DATASET, once=True)
    once = float(
        total_correlation(
            mean.double(), mean.double(), logvar.double(), log_weights=their_log_weights(len(mean), DATASET)
        )
    )
    details = (
        Pair("mutual information", published.mutual_information, mutual / BATCHES),
        Pair("dimension-wise KL", published.dimension_wise_kl, dimensions / BATCHES),
        Pair("total correlation in nats, as published", None, total),
        Pair("total correlation in nats, log-weight added once", None, once),
        Pair("mutual information in nats, as published", None, mutual),
        Pair("mutual information in nats, log-weight added once", None, mutual_once),
        Pair("KL of the posteriors in nats, of which mutual information is a part", None, float(kl.sum())),
    )
    why = (
        f"Reproduced, but {total:.1f} nats is no total correlation, which cannot be negative: their code adds the "
        f"log-weight of the estimator to each of the {mean.shape[1]} latents before it sums them. Added once, as in "
        f"the formula, the same estimator gives {once:+.2f} nats."
    )
    ours = total / BATCHES
    return replace(row, theirs=published.total_correlation, ours=ours, tolerance=TOLERANCE, details=details, why=why)


def check_mig(model: PublicModel, row: Row, material: Material) -> Row:
    """Measure MIG, and what it is after the reshaping that their code does in place of a transposition."""
    data, representation = material.loaded("dsprites"), material.model(model)
    images, factors = data.sample(SAMPLES, torch.Generator().manual_seed(0))
    codes = representation.encode(images)
    ours = mig(codes, factors).score
    scrambled = mig(codes.reshape(codes.shape[1], -1).T, factors).score
    why = (
        "Their code reshapes a matrix of samples (N, D) to (D, N) where it should be transposed, so that each row "
        f"mixes all latents. Our MIG of the codes after the same mistake is {scrambled:.4f}."
    )
    return replace(
        row, theirs=REPORTED, ours=ours, why=why, details=(Pair("MIG of the reshaped codes", None, scrambled),)
    )


def _without_discriminator(row: Row, material: Material) -> Row:
    raise Unavailable("The weights of the discriminator were not published: model.pt has encoder and decoder only.")


def _checks(model: PublicModel) -> list[Check]:
    log = f"{REPOSITORY} {COMMIT[:7]}, results/{model.label}/test_losses.log"
    name, losses = model.label, PUBLISHED[model.label]
    checks = [
        Check(f"{name}/reconstruction", f"reconstruction loss of {name}", log, partial(check_reconstruction, model)),
        Check(f"{name}/kl", f"KL of {name}, and of each latent", log, partial(check_kl, model)),
    ]
    if losses.mutual_information is not None:
        what = f"total correlation of {name}, with mutual information and dimension-wise KL"
        checks.append(Check(f"{name}/total_correlation", what, log, partial(check_total_correlation, model)))
    if model.recipe == "factor_vae":
        what = f"total correlation of {name}, by its discriminator"
        checks.append(Check(f"{name}/total_correlation", what, log, _without_discriminator))
    issues = f"{REPOSITORY}, issues 52 and 64"
    return [*checks, Check(f"{name}/mig", f"MIG of {name}", issues, partial(check_mig, model))]


CHECKS = [check for model in PUBLIC.values() for check in _checks(model)]
