"""The named recipes: every method with its published hyperparameters as defaults."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from unweave.data.groups import RankedTriplets
from unweave.errors import InputError
from unweave.latents import FSQ, Codebook, Deterministic, Gaussian
from unweave.nets import NetSettings
from unweave.recipes.recipe import Optimiser, Recipe, Weighted, linear_recipe
from unweave.terms import (
    DIP,
    KL,
    MMD,
    AdaptiveGrouping,
    Capacity,
    Commitment,
    ControlledKL,
    FeatureReconstruction,
    HessianPenalty,
    JacobianL1,
    JacobianL2,
    KernelMultiinformation,
    NormalisedHessian,
    Quantisation,
    Reconstruction,
    Term,
    TotalCorrelation,
    TotalCorrelationDiscriminator,
    Triplet,
)
from unweave.terms.schedules import Schedule

RAMP = Schedule(kind="linear", over=1 / 3)  # 100,000 of 300,000 steps
Protocol = Literal["code", "paper"]


def ae(*, latents: int = 10) -> Recipe:
    """Autoencoder: reconstruction only."""
    return Recipe(recipe="ae", latent=Deterministic(size=latents), terms=(term(Reconstruction()),))


def vae(*, latents: int = 10) -> Recipe:
    """Variational autoencoder (Kingma & Welling 2014): β-VAE with β = 1."""
    return _labelled("vae", beta_vae(beta=1.0, latents=latents))


def beta_vae(*, beta: float = 4.0, latents: int = 10) -> Recipe:
    """β-VAE (Higgins et al. 2017): reconstruction + β · KL.

    Locatello et al. 2019, Tables 3 and 4, use β of 1, 2, 4, 6, 8 and 16. Michlo et al. 2023 use the normalised scale
    (``reduction=mean``), ``likelihood=gaussian``, ``standardised=True`` and, for their augmented loss, ``blur=31``.
    """
    return _variational("beta_vae", latents, term(KL(), beta))


def annealed_vae(*, capacity: float = 25.0, gamma: float = 1000.0, latents: int = 10) -> Recipe:
    """AnnealedVAE (Burgess et al. 2018): reconstruction + γ · |KL − C|, C growing over a third of the run.

    Locatello et al. 2019, Table 3: γ = 1000 and maxima of 5, 10, 25, 50, 75 and 100 after 100,000 steps.
    """
    return _variational("annealed_vae", latents, term(Capacity(maximum=capacity), gamma))


def factor_vae(*, gamma: float = 30.0, latents: int = 10) -> Recipe:
    """FactorVAE (Kim & Mnih 2018): reconstruction + KL + γ · total correlation, estimated by a discriminator.

    Locatello et al. 2019, Tables 3 and 4: γ of 10, 20, 30, 40, 50 and 100; the discriminator uses Adam with a learning
    rate of 0.0001 and β of 0.5 and 0.9.
    """
    return _variational("factor_vae", latents, term(KL()), term(TotalCorrelationDiscriminator(), gamma))


def beta_tcvae(
    *, beta: float = 4.0, estimator: Literal["weighted", "stratified"] = "weighted", latents: int = 10
) -> Recipe:
    """β-TCVAE (Chen et al. 2018): reconstruction + KL + (β − 1) · total correlation.

    Locatello et al. 2019, Table 3, use β of 1, 2, 4, 6, 8 and 10.
    """
    if beta < 1:
        raise InputError(
            f"beta_tcvae: beta must be at least 1, because β − 1 weights the total correlation; got {beta}."
        )
    return _variational("beta_tcvae", latents, term(KL()), term(TotalCorrelation(estimator=estimator), beta - 1))


def dip_vae_i(*, off_diagonal: float = 5.0, latents: int = 10) -> Recipe:
    """DIP-VAE-I (Kumar et al. 2018): reconstruction + KL + distance of the covariance of the means from the identity.

    Locatello et al. 2019, Table 3: λ_od of 1, 2, 5, 10, 20 and 50, λ_d = 10 λ_od.
    """
    return _variational("dip_vae_i", latents, term(KL()), term(DIP(kind="i"), off_diagonal))


def dip_vae_ii(*, off_diagonal: float = 5.0, latents: int = 10) -> Recipe:
    """DIP-VAE-II (Kumar et al. 2018): DIP-VAE-I with the covariance of the sampled codes.

    Locatello et al. 2019, Table 3: λ_od of 1, 2, 5, 10, 20 and 50, λ_d = λ_od.
    """
    return _variational("dip_vae_ii", latents, term(KL()), term(DIP(kind="ii"), off_diagonal))


def jl1_vae(*, beta: float = 4.0, gamma: float = 0.1, latents: int = 10) -> Recipe:
    """JL1-VAE (Rhodes & Lee 2021): reconstruction + β · KL + γ · Σ |∂ image / ∂ latent|.

    Their appendix B ramps both weights over the first 100,000 of 300,000 steps; γ is 0.05 to 0.4 on three-dots, and
    β = γ = 0.01 on natural images and MPI3D-Multi. ``start=jl1`` gives the initial weights of their code.
    """
    return _variational("jl1_vae", latents, term(KL(), beta, RAMP), term(JacobianL1(), gamma, RAMP))


def jl2_vae(*, beta: float = 4.0, gamma: float = 0.1, latents: int = 10) -> Recipe:
    """JL2-VAE (Rhodes & Lee 2021): JL1-VAE with squared instead of absolute entries of the Jacobian."""
    return _variational("jl2_vae", latents, term(KL(), beta, RAMP), term(JacobianL2(), gamma, RAMP))


def info_vae(*, alpha: float = -0.5, scale: float = 5.0, latents: int = 10) -> Recipe:
    """InfoVAE (Zhao et al. 2017): reconstruction + (1 − α) · KL + (α + λ − 1) · maximum mean discrepancy.

    ``scale`` is λ. The defaults of α, λ and the kernel are those of Disent, which multiplies the discrepancy by the
    number of latents in addition.
    """
    if alpha > 1 or alpha + scale < 1:
        raise InputError(f"info_vae: alpha must be at most 1 and alpha + scale at least 1, got {alpha} and {scale}.")
    return _variational("info_vae", latents, term(KL(), 1 - alpha), term(MMD(), alpha + scale - 1))


def dfc_vae(*, beta: float = 1.0, latents: int = 10) -> Recipe:
    """DFC-VAE (Hou et al. 2017): β-VAE that reconstructs pixels and the activations of a fixed net with weights of ½.

    Hou et al. compare activations only (``reconstruction.weight=0``); half of each is Disent's form. The net has random
    weights unless ``feature_reconstruction.net`` names one of your own: none is downloaded.
    """
    return Recipe(
        recipe="dfc_vae",
        latent=Gaussian(size=latents),
        terms=(term(Reconstruction(), 0.5), term(FeatureReconstruction(), 0.5), term(KL(), beta)),
    )


def control_vae(*, target: float = 18.0, latents: int = 10) -> Recipe:
    """ControlVAE (Shao et al. 2020): β-VAE whose β is controlled so that the KL rises to a target.

    The constants are those of the authors' code for dSprites: the target rises from 0.5 nats by 0.15 every 5,000 steps,
    to 18 (also 16), in 1,500,000 steps of 64 with a learning rate of 0.0001.
    """
    return _variational("control_vae", latents, term(ControlledKL(target=target)))


def triplet_vae(*, beta: float = 1.0, triplet: float = 100.0, latents: int = 10) -> Recipe:
    """Triplet VAE (Ishfaq et al. 2018): β-VAE + a triplet loss of the means, with positives nearer in their factors.

    A batch is 64 triplets, 192 images. The loss, its weight of 100 and its margin of 10 are those of Disent, as are the
    triplets: the one of two random points that is nearer to the anchor in scaled factors is the positive.
    """
    return _in_triplets(_variational("triplet_vae", latents, term(KL(), beta)), Triplet(), triplet)


def triplet_ae(*, triplet: float = 100.0, latents: int = 10) -> Recipe:
    """Triplet autoencoder: an autoencoder with the triplet loss of ``triplet_vae`` (Disent)."""
    return _in_triplets(_labelled("triplet_ae", ae(latents=latents)), Triplet(), triplet)


def ada_triplet_vae(*, beta: float = 1.0, triplet: float = 100.0, latents: int = 10) -> Recipe:
    """Adaptive triplet VAE (Disent): ``triplet_vae`` whose negatives count 0.95 in latents shared with the anchor."""
    base = _variational("ada_triplet_vae", latents, term(KL(), beta))
    return _in_triplets(base, Triplet(shared=0.95), triplet)


def ada_triplet_ae(*, triplet: float = 100.0, latents: int = 10) -> Recipe:
    """Adaptive triplet autoencoder (Disent): ``triplet_ae`` whose negatives count 0.95 in latents they share."""
    return _in_triplets(_labelled("ada_triplet_ae", ae(latents=latents)), Triplet(shared=0.95), triplet)


def ada_ae(*, latents: int = 10) -> Recipe:
    """Ada-AE (Disent): an autoencoder on pairs of images whose closest latents take their mean; 64 pairs a batch."""
    changes = {"grouping": AdaptiveGrouping(kind="average"), "batch": 128}
    return _labelled("ada_ae", ae(latents=latents)).model_copy(update=changes)


def ada_gvae(
    *, beta: float = 1.0, divergence: Literal["symmetric", "one_way"] = "symmetric", latents: int = 10
) -> Recipe:
    """Ada-GVAE (Locatello et al. 2020): β-VAE on pairs of images whose unchanged latents share an averaged posterior.

    A batch is 64 pairs, 128 images. The symmetric KL decides which latents are unchanged (Michlo et al. 2023, app.
    B.2); ``one_way`` is the original form. Michlo et al. 2023, app. C, use the normalised scale (``reduction=mean``),
    Adam with a learning rate of 0.001 and 256 pairs.
    """
    return _paired("ada_gvae", AdaptiveGrouping(kind="gvae", divergence=divergence), beta, latents)


def ada_ml_vae(
    *, beta: float = 1.0, divergence: Literal["symmetric", "one_way"] = "symmetric", latents: int = 10
) -> Recipe:
    """Ada-ML-VAE (Locatello et al. 2020): Ada-GVAE with the product of the posteriors instead of their average."""
    return _paired("ada_ml_vae", AdaptiveGrouping(kind="mlvae", divergence=divergence), beta, latents)


def qlae(
    *, levels: int = 10, weight_decay: float | None = None, protocol: Protocol = "code", latents: int | None = None
) -> Recipe:
    """QLAE (Hsu et al. 2023): reconstruction + 0.01 · quantisation + 0.01 · commitment, with a learned scalar codebook.

    ``protocol="code"``, from the authors' code: AdamW with a learning rate of 0.001, β₂ = 0.999, a weight decay of 0.1
    and clipping at 1, batches of 128, 200,000 steps. ``protocol="paper"``, from Hsu et al. 2024, Table 4: β₂ = 0.99, no
    clipping, batches of 64; the weight decay is tuned over 1e-8 to 1 (Table 5).

    Args:
        levels: The number of values of each latent.
        weight_decay: Of the optimiser; by default 0.1 of the code, or 1e-4 of the paper.
        protocol: The training: of the authors' code, or of the paper.
        latents: The number of latents; by default two per factor.

    Returns:
        The recipe.
    """
    decay = {"code": 0.1, "paper": 1e-4}[protocol] if weight_decay is None else weight_decay
    training: dict[str, Any] = {
        "code": {"optimiser": Optimiser(name="adamw", lr=1e-3, weight_decay=decay, clip=1.0), "batch": 128},
        "paper": {"optimiser": Optimiser(name="adamw", lr=1e-3, beta2=0.99, weight_decay=decay), "batch": 64},
    }[protocol]
    return Recipe(
        recipe="qlae",
        latent=Codebook(size=10 if latents is None else latents, levels=levels),
        terms=(term(Reconstruction(reduction="mean")), term(Quantisation(), 0.01), term(Commitment(), 0.01)),
        net=NetSettings(name="qlae"),
        steps=200_000,
        **training,
    )


def tripod_naive(
    *,
    klm: float = 1e-6,
    hessian: float = 1e-6,
    levels: int = 10,
    protocol: Protocol = "code",
    latents: int | None = None,
) -> Recipe:
    """Naive Tripod (Hsu et al. 2024, sec. 4.1): QLAE + λ · multiinformation with a fixed kernel + λ · Hessian penalty.

    The Hessian penalty has the form of the authors' code, of normalised activations. Table 5 tunes both weights over 0
    and 1e-10 to 1e-2; the defaults are in the middle.

    Args:
        klm: The weight of the kernel multiinformation.
        hessian: The weight of the Hessian penalty.
        levels: The number of values of each latent.
        protocol: The training: of the authors' code, or of the paper.
        latents: The number of latents; by default two per factor.

    Returns:
        The recipe.
    """
    base = qlae(levels=levels, latents=latents)
    biases = (term(KernelMultiinformation(bandwidth="fixed"), klm), term(HessianPenalty(form="tripod"), hessian))
    net = NetSettings(name="tripod", normalised=True)
    changes = {"terms": base.terms + biases, "net": net, **_tripod_training(protocol)}
    return _labelled("tripod_naive", base.model_copy(update=changes))


def tripod(
    *,
    klm: float = 1e-4,
    nhp: float = 1e-2,
    levels: int = 12,
    protocol: Protocol = "code",
    latents: int | None = None,
) -> Recipe:
    """Tripod (Hsu et al. 2024): reconstruction + λ · kernel multiinformation + λ · normalised Hessian penalty, on FSQ.

    Algorithm 1. The authors' weights (KLM, NHP) are 1e-4 and 1e-2 for 3D Shapes (the default), 1e-8 and 1e-4 for MPI3D,
    1e-10 and 1e-2 for Falcor3D, 1e-4 and 1e-8 for Isaac3D.
    ``protocol="code"``, from the authors' code: Adam with a learning rate of 0.0002, β₂ = 0.999 and clipping at 1,
    250,000 steps of 64. ``protocol="paper"``, from Table 4: AdamW with a learning rate of 0.001, β₂ = 0.99, 200,000
    steps of 64. ``normalised_hessian.share=0.125`` computes the penalty on a random part of each batch, which has the
    same expectation.

    Args:
        klm: The weight of the kernel multiinformation.
        nhp: The weight of the normalised Hessian penalty.
        levels: The number of values of each latent.
        protocol: The training: of the authors' code, or of the paper.
        latents: The number of latents; by default two per factor.

    Returns:
        The recipe.
    """
    return Recipe(
        recipe="tripod",
        latent=FSQ(size=10 if latents is None else latents, levels=levels),
        terms=(
            term(Reconstruction(reduction="mean")),
            term(KernelMultiinformation(), klm),
            term(NormalisedHessian(), nhp),
        ),
        net=NetSettings(name="tripod"),
        **_tripod_training(protocol),
    )


def tripod_without_nhp(
    *, klm: float = 1e-4, levels: int = 12, protocol: Protocol = "code", latents: int | None = None
) -> Recipe:
    """Tripod without the normalised Hessian penalty (Hsu et al. 2024, Table 1).

    Args:
        klm: The weight of the kernel multiinformation.
        levels: The number of values of each latent.
        protocol: The training: of the authors' code, or of the paper.
        latents: The number of latents; by default two per factor.

    Returns:
        The recipe.
    """
    whole = tripod(klm=klm, levels=levels, protocol=protocol, latents=latents)
    return _without("tripod_without_nhp", "normalised_hessian", whole)


def tripod_without_klm(
    *, nhp: float = 1e-2, levels: int = 12, protocol: Protocol = "code", latents: int | None = None
) -> Recipe:
    """Tripod without the kernel multiinformation (Hsu et al. 2024, Table 1).

    Args:
        nhp: The weight of the normalised Hessian penalty.
        levels: The number of values of each latent.
        protocol: The training: of the authors' code, or of the paper.
        latents: The number of latents; by default two per factor.

    Returns:
        The recipe.
    """
    whole = tripod(nhp=nhp, levels=levels, protocol=protocol, latents=latents)
    return _without("tripod_without_klm", "kernel_multiinformation", whole)


def tripod_finer(
    *, klm: float = 1e-4, nhp: float = 1e-2, protocol: Protocol = "code", latents: int | None = None
) -> Recipe:
    """Tripod with finer quantisation, 12² levels (Hsu et al. 2024, Table 1).

    Args:
        klm: The weight of the kernel multiinformation.
        nhp: The weight of the normalised Hessian penalty.
        protocol: The training: of the authors' code, or of the paper.
        latents: The number of latents; by default two per factor.

    Returns:
        The recipe.
    """
    return _labelled("tripod_finer", tripod(klm=klm, nhp=nhp, levels=144, protocol=protocol, latents=latents))


def pca(*, latents: int = 10) -> Recipe:
    """Principal components (scikit-learn): the linear code with the smallest reconstruction error.

    z = Wᵀ (x − x̄) and x̂ = x̄ + W z, where the columns of W are the eigenvectors of the covariance of the pixels with the
    largest eigenvalues. Rhodes & Lee 2021 show 100 components of natural images.
    """
    return linear_recipe("pca", latents)


def ica(*, latents: int = 10) -> Recipe:
    """Independent components (scikit-learn's FastICA): a linear code of independent sources.

    z = U Λ^(−½) Wᵀ (x − x̄): the principal components, scaled to unit variance, and turned by the orthogonal U for which
    FastICA finds the coordinates least Gaussian. Rhodes & Lee 2021 fit 100 components to natural images.
    """
    return linear_recipe("ica", latents)


RECIPES: dict[str, Callable[..., Recipe]] = {
    recipe.__name__: recipe
    for recipe in (
        ae,
        vae,
        beta_vae,
        annealed_vae,
        factor_vae,
        beta_tcvae,
        dip_vae_i,
        dip_vae_ii,
        jl1_vae,
        jl2_vae,
        info_vae,
        dfc_vae,
        control_vae,
        triplet_vae,
        triplet_ae,
        ada_triplet_vae,
        ada_triplet_ae,
        ada_ae,
        ada_gvae,
        ada_ml_vae,
        qlae,
        tripod_naive,
        tripod,
        tripod_without_nhp,
        tripod_without_klm,
        tripod_finer,
        pca,
        ica,
    )
}


SETS = {  # the setting of a part that each parameter of a recipe sets, so that both are not given
    "latents": "latent.size",
    "levels": "latent.levels",
    "weight_decay": "optimiser.weight_decay",
    "divergence": "grouping.divergence",
    "capacity": "capacity.maximum",
    "estimator": "total_correlation.estimator",
    "off_diagonal": "dip.weight",
    "klm": "kernel_multiinformation.weight",
    "nhp": "normalised_hessian.weight",
    "hessian": "hessian_penalty.weight",
    "target": "controlled_kl.target",
    "triplet": "triplet.weight",
}
WEIGHTS = {  # of the parameters that do not set the same term in every recipe
    "annealed_vae": {"gamma": "capacity.weight"},
    "factor_vae": {"gamma": "total_correlation_discriminator.weight"},
    "beta_tcvae": {"beta": "total_correlation.weight"},
    "jl1_vae": {"beta": "kl.weight", "gamma": "jacobian_l1.weight"},
    "jl2_vae": {"beta": "kl.weight", "gamma": "jacobian_l2.weight"},
    "beta_vae": {"beta": "kl.weight"},
    "ada_gvae": {"beta": "kl.weight"},
    "ada_ml_vae": {"beta": "kl.weight"},
    "dfc_vae": {"beta": "kl.weight"},
    "triplet_vae": {"beta": "kl.weight"},
    "ada_triplet_vae": {"beta": "kl.weight"},
    "info_vae": {"scale": "mmd.weight"},
}


def idea_of(name: str) -> str:
    """Return the first line of the description of a recipe, "" for one of the user's own."""
    recipe = RECIPES.get(name)
    return "" if recipe is None else (recipe.__doc__ or "").partition("\n")[0].strip()


def set_by(recipe: str, parameter: str) -> str:
    """Return the setting of a part that a parameter of a named recipe sets; "" if it sets none, or several."""
    return WEIGHTS.get(recipe, {}).get(parameter) or SETS.get(parameter, "")


def term(kind: Term, weight: float = 1.0, schedule: Schedule | None = None) -> Weighted:
    """Return a term with its weight and schedule.

    Examples:
        >>> from unweave.recipes import term
        >>> from unweave.terms import TERMS
        >>> term(TERMS["kl"](), weight=4.0).weight
        4.0
    """
    return Weighted(term=kind, weight=weight, schedule=schedule or Schedule())


def _variational(name: str, latents: int, *terms: Weighted) -> Recipe:
    return Recipe(recipe=name, latent=Gaussian(size=latents), terms=(term(Reconstruction()), *terms))


def _paired(name: str, grouping: AdaptiveGrouping, beta: float, latents: int) -> Recipe:
    return _variational(name, latents, term(KL(), beta)).model_copy(update={"grouping": grouping, "batch": 128})


def _in_triplets(recipe: Recipe, kind: Triplet, weight: float) -> Recipe:
    changes = {"terms": (*recipe.terms, term(kind, weight)), "groups": RankedTriplets(), "batch": 192}
    return recipe.model_copy(update=changes)


def _tripod_training(protocol: Protocol) -> dict[str, Any]:
    if protocol == "code":
        return {"optimiser": Optimiser(lr=2e-4, clip=1.0), "batch": 64, "steps": 250_000}
    return {"optimiser": Optimiser(name="adamw", lr=1e-3, beta2=0.99), "batch": 64, "steps": 200_000}


def _labelled(name: str, recipe: Recipe) -> Recipe:
    return recipe.model_copy(update={"recipe": name})


def _without(name: str, absent: str, recipe: Recipe) -> Recipe:
    terms = tuple(weighted for weighted in recipe.terms if weighted.name != absent)
    return recipe.model_copy(update={"recipe": name, "terms": terms})
