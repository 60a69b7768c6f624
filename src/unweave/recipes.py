"""Recipes: a method is a latent, a list of weighted terms, and the published hyperparameters."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field, field_validator

from unweave.errors import InputError, unknown
from unweave.latents import FSQ, LATENTS, Codebook, Deterministic, Gaussian, Latent
from unweave.model import Likelihood
from unweave.nets import name_of
from unweave.schedules import Schedule
from unweave.settings import Settings, choice, name_in, named
from unweave.terms import (
    DIP,
    KL,
    TERMS,
    AdaptiveGrouping,
    Capacity,
    Commitment,
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
)

SCHEDULE = ("schedule", "start", "after", "over")  # of a term, where it has no setting of that name itself
FIELDS = ("net", "likelihood", "changed", "batch", "steps")  # of a recipe, that are set by their own name
RAMP = Schedule(kind="linear", over=1 / 3)  # 100,000 of 300,000 steps


class Weighted(Settings):
    """A term, its weight, and how the weight comes about."""

    title: ClassVar[str] = "a weighted term"
    term: Annotated[Term, *choice("term", TERMS)]
    weight: float = Field(default=1.0, ge=0)
    schedule: Schedule = Schedule()

    @property
    def name(self) -> str:
        """What TERMS calls the term."""
        return name_in(TERMS, type(self.term))


class Optimiser(Settings):
    """Adam or AdamW; decay leaves out biases, constants and codebooks; ``clip`` limits each entry of the gradient."""

    title: ClassVar[str] = "the optimiser"
    name: Literal["adam", "adamw"] = "adam"
    lr: float = Field(default=1e-4, gt=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.999, ge=0, lt=1)
    eps: float = Field(default=1e-8, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float | None = Field(default=None, gt=0)


class Recipe(Settings):
    """What is trained, and how: the same for every data set and seed."""

    title: ClassVar[str] = "the recipe"
    recipe: str  # its name
    latent: Annotated[Latent, *choice("latent", LATENTS)]
    terms: tuple[Weighted, ...]
    net: str = "conv64"
    likelihood: Likelihood = "bernoulli"
    grouping: AdaptiveGrouping | None = None  # of pairs, where the data gives pairs
    changed: int | tuple[int, int] | None = None  # factors that differ within a pair; None for 1 … K − 1
    linear: Literal["pca", "ica"] | None = None  # fitted in one go instead of by steps
    optimiser: Optimiser = Optimiser()
    batch: int = Field(default=64, ge=2, le=1_000_000)
    steps: int = Field(default=300_000, ge=1)

    @field_validator("net", mode="before")
    @classmethod
    def _name_net(cls, net: Any) -> Any:
        return net if isinstance(net, str) else name_of(net)

    def check(self) -> None:
        """Refuse what cannot be combined, with the reason."""
        names = [weighted.name for weighted in self.terms]
        if self.linear is not None:
            fixed = _linear(self.linear, self.latent.size)
            for key in (*FIELDS, "latent", "terms", "optimiser", "grouping"):
                if getattr(self, key) != getattr(fixed, key):
                    raise InputError(f"{self.recipe} is fitted in one go, and takes no other {key}.")
            return
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"the term {name} is there twice: give it one weight.")
        for weighted in self.terms:
            if reason := weighted.term.refusal(self.latent):
                kind = name_in(LATENTS, type(self.latent))
                raise InputError(f"the term {weighted.name} does not go with the latent {kind}: {reason}.")
        if self.grouping is not None and not isinstance(self.latent, Gaussian):
            raise InputError("adaptive grouping averages the posteriors of pairs: it needs the gaussian latent.")
        if isinstance(self.latent, Codebook) and "quantisation" not in names:
            raise InputError("the codebook latent learns its values by the term quantisation: add it, or take fsq.")
        if not any("reconstruction" in weighted.name and weighted.weight > 0 for weighted in self.terms):
            raise InputError("nothing asks for a reconstruction: add the term reconstruction.")


def term(kind: Term, weight: float = 1.0, schedule: Schedule | None = None) -> Weighted:
    """A term with its weight and schedule."""
    return Weighted(term=kind, weight=weight, schedule=schedule or Schedule())


def ae(*, latents: int = 10) -> Recipe:
    """Autoencoder: reconstruction alone."""
    return Recipe(recipe="ae", latent=Deterministic(size=latents), terms=(term(Reconstruction()),))


def vae(*, latents: int = 10) -> Recipe:
    """Variational autoencoder (Kingma & Welling 2014): β-VAE at β = 1."""
    return beta_vae(beta=1.0, latents=latents).model_copy(update={"recipe": "vae"})


def beta_vae(*, beta: float = 4.0, latents: int = 10) -> Recipe:
    """β-VAE (Higgins et al. 2017): reconstruction + β · KL. Paper 003, Tables 3 and 4: β of 1, 2, 4, 6, 8, 16."""
    return _variational("beta_vae", latents, term(KL(), beta))


def annealed_vae(*, capacity: float = 25.0, gamma: float = 1000.0, latents: int = 10) -> Recipe:
    """AnnealedVAE (Burgess et al. 2018): reconstruction + γ · |KL − C|, C growing over a third of the run.

    Paper 003, Table 3: γ = 1000, maxima of 5, 10, 25, 50, 75, 100 after 100,000 steps.
    """
    return _variational("annealed_vae", latents, term(Capacity(maximum=capacity), gamma))


def factor_vae(*, gamma: float = 30.0, latents: int = 10) -> Recipe:
    """FactorVAE (Kim & Mnih 2018): β-VAE at β = 1 + γ · the total correlation, by a discriminator.

    Paper 003, Tables 3 and 4: γ of 10, 20, 30, 40, 50, 100; the discriminator by Adam of 0.0001 with β 0.5 and 0.9.
    """
    return _variational("factor_vae", latents, term(KL()), term(TotalCorrelationDiscriminator(), gamma))


def beta_tcvae(
    *, beta: float = 4.0, estimator: Literal["weighted", "stratified"] = "weighted", latents: int = 10
) -> Recipe:
    """β-TCVAE (Chen et al. 2018): reconstruction + KL + (β − 1) · total correlation. Paper 003, Table 3: β 1 … 10."""
    if beta < 1:
        raise InputError(
            f"beta_tcvae: beta must be at least 1, so that the total correlation counts in full, got {beta}."
        )
    return _variational("beta_tcvae", latents, term(KL()), term(TotalCorrelation(estimator=estimator), beta - 1))


def dip_vae_i(*, off_diagonal: float = 5.0, latents: int = 10) -> Recipe:
    """DIP-VAE-I (Kumar et al. 2018): β-VAE at β = 1 + moments of the means matched to the prior's.

    Paper 003, Table 3: λ_od of 1, 2, 5, 10, 20, 50, λ_d = 10 λ_od.
    """
    return _variational("dip_vae_i", latents, term(KL()), term(DIP(kind="i"), off_diagonal))


def dip_vae_ii(*, off_diagonal: float = 5.0, latents: int = 10) -> Recipe:
    """DIP-VAE-II (Kumar et al. 2018): as DIP-VAE-I with the moments of the samples. Paper 003, Table 3: λ_d = λ_od."""
    return _variational("dip_vae_ii", latents, term(KL()), term(DIP(kind="ii"), off_diagonal))


def jl1_vae(*, beta: float = 4.0, gamma: float = 0.1, latents: int = 10) -> Recipe:
    """JL1-VAE (Rhodes & Lee 2021): reconstruction + β · KL + γ · Σ |∂ image / ∂ latent|.

    Paper 001, appendix B: both weights grow over the first 100,000 of 300,000 steps; γ of 0.05 to 0.4 on three-dots,
    β = γ = 0.01 on natural images and MPI3D-Multi.
    """
    return _variational("jl1_vae", latents, term(KL(), beta, RAMP), term(JacobianL1(), gamma, RAMP))


def jl2_vae(*, beta: float = 4.0, gamma: float = 0.1, latents: int = 10) -> Recipe:
    """JL2-VAE (Rhodes & Lee 2021): JL1-VAE with the squares of the Jacobian's entries."""
    return _variational("jl2_vae", latents, term(KL(), beta, RAMP), term(JacobianL2(), gamma, RAMP))


def ada_gvae(
    *, beta: float = 1.0, divergence: Literal["symmetric", "one_way"] = "symmetric", latents: int = 10
) -> Recipe:
    """Ada-GVAE (Locatello et al. 2020): β-VAE of pairs, whose unchanged latents share an averaged posterior.

    Batches are 64 pairs, 128 images. Paper 002, appendix B.2: the symmetric KL tells which latents are unchanged;
    ``one_way`` is the original's. Its appendix C has another scale: the normalised loss, Adam of 0.001, 256 pairs.
    """
    return _paired("ada_gvae", AdaptiveGrouping(kind="gvae", divergence=divergence), beta, latents)


def ada_ml_vae(
    *, beta: float = 1.0, divergence: Literal["symmetric", "one_way"] = "symmetric", latents: int = 10
) -> Recipe:
    """Ada-ML-VAE (Locatello et al. 2020): Ada-GVAE with the product of the posteriors instead of their average."""
    return _paired("ada_ml_vae", AdaptiveGrouping(kind="mlvae", divergence=divergence), beta, latents)


def qlae(*, levels: int = 10, weight_decay: float = 0.1, latents: int | None = None) -> Recipe:
    """QLAE (Hsu et al. 2023): reconstruction + 0.01 · quantisation + 0.01 · commitment, on a learned scalar codebook.

    The authors' settings: AdamW of 0.001 with a decay of 0.1, batches of 128, 200,000 steps, and by default two latents
    a factor.
    """
    return Recipe(
        recipe="qlae",
        latent=Codebook(size=10 if latents is None else latents, levels=levels),
        terms=(term(Reconstruction(reduction="mean")), term(Quantisation(), 0.01), term(Commitment(), 0.01)),
        net="qlae",
        optimiser=Optimiser(name="adamw", lr=1e-3, beta2=0.99, weight_decay=weight_decay, clip=1.0),
        batch=128,
        steps=200_000,
    )


def tripod_naive(*, klm: float = 1e-6, hessian: float = 1e-6, levels: int = 10, latents: int | None = None) -> Recipe:
    """Naive Tripod (Tripod, sec. 4.1): QLAE + λ · multiinformation with a fixed kernel + λ · the Hessian penalty.

    The paper tunes both weights a data set over 0 and 1e-10 … 1e-2 (Table 5); the defaults lie in the middle.
    """
    base = qlae(levels=levels, weight_decay=0.0, latents=latents)
    biases = (term(KernelMultiinformation(bandwidth="fixed"), klm), term(HessianPenalty(), hessian))
    return base.model_copy(
        update={"recipe": "tripod_naive", "terms": base.terms + biases, "net": "tripod", **_TRIPOD_TRAINING}
    )


def tripod(*, klm: float = 1e-4, nhp: float = 1e-2, levels: int = 12, latents: int | None = None) -> Recipe:
    """Tripod (paper 004): reconstruction + λ · kernel multiinformation + λ · normalised Hessian penalty, on FSQ.

    Algorithm 1 with 12 levels and by default two latents a factor. The authors' weights (KLM, NHP): 3D Shapes 1e-4 and
    1e-2, the default; MPI3D 1e-8, 1e-4; Falcor3D 1e-10, 1e-2; Isaac3D 1e-4, 1e-8. Their code trains by Adam of 0.0002
    (Table 4 says 0.001), 250,000 steps of 64. ``normalised_hessian.share=0.125`` makes the penalty of a random part of
    each batch, which in expectation is the same.
    """
    return Recipe(
        recipe="tripod",
        latent=FSQ(size=10 if latents is None else latents, levels=levels),
        terms=(
            term(Reconstruction(reduction="mean")),
            term(KernelMultiinformation(), klm),
            term(NormalisedHessian(), nhp),
        ),
        net="tripod",
        **_TRIPOD_TRAINING,
    )


def tripod_without_nhp(*, klm: float = 1e-4, levels: int = 12, latents: int | None = None) -> Recipe:
    """Tripod without the normalised Hessian penalty (paper 004, Table 1)."""
    return _without("tripod_without_nhp", "normalised_hessian", tripod(klm=klm, levels=levels, latents=latents))


def tripod_without_klm(*, nhp: float = 1e-2, levels: int = 12, latents: int | None = None) -> Recipe:
    """Tripod without the kernel multiinformation (paper 004, Table 1)."""
    return _without("tripod_without_klm", "kernel_multiinformation", tripod(nhp=nhp, levels=levels, latents=latents))


def tripod_finer(*, klm: float = 1e-4, nhp: float = 1e-2, latents: int | None = None) -> Recipe:
    """Tripod with finer quantisation, 12² levels (paper 004, Table 1)."""
    return tripod(klm=klm, nhp=nhp, levels=144, latents=latents).model_copy(update={"recipe": "tripod_finer"})


def pca(*, latents: int = 10) -> Recipe:
    """Principal components (scikit-learn), the linear code that reconstructs best."""
    return _linear("pca", latents)


def ica(*, latents: int = 10) -> Recipe:
    """Independent components (scikit-learn's FastICA), a linear code of independent sources."""
    return _linear("ica", latents)


_TRIPOD_TRAINING: dict[str, Any] = {
    "optimiser": Optimiser(name="adamw", lr=2e-4, beta2=0.99, clip=1.0),
    "batch": 64,
    "steps": 250_000,
}


def _variational(name: str, latents: int, *terms: Weighted) -> Recipe:
    return Recipe(recipe=name, latent=Gaussian(size=latents), terms=(term(Reconstruction()), *terms))


def _paired(name: str, grouping: AdaptiveGrouping, beta: float, latents: int) -> Recipe:
    return _variational(name, latents, term(KL(), beta)).model_copy(update={"grouping": grouping, "batch": 128})


def _linear(kind: Literal["pca", "ica"], latents: int) -> Recipe:
    latent = Deterministic(size=latents)
    return Recipe(recipe=kind, latent=latent, terms=(), net="linear", likelihood="gaussian", linear=kind, steps=1)


def _without(name: str, absent: str, recipe: Recipe) -> Recipe:
    terms = tuple(weighted for weighted in recipe.terms if weighted.name != absent)
    return recipe.model_copy(update={"recipe": name, "terms": terms})


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


def parameters_of(recipe: str) -> dict[str, Any]:
    """The parameters of a recipe and their defaults."""
    if recipe not in RECIPES:
        raise unknown("recipe", str(recipe), RECIPES)
    return {name: p.default for name, p in inspect.signature(RECIPES[recipe]).parameters.items()}


def compose(recipe: str, settings: Mapping[str, Any], *, factors: int | None = None) -> Recipe:
    """A recipe with settings: its parameters by name, its fields, and those of its parts as in ``kl.weight``.

    ``latent`` takes another latent by name; ``terms`` takes weights by the term's name, where 0 leaves a term out.
    ``factors`` is how many the data has, for recipes with two latents a factor. What cannot be combined is refused.
    """
    known = parameters_of(recipe)
    given = {key: value for key, value in settings.items() if key in known}
    if given.get("latents") is None and known["latents"] is None and factors:
        given["latents"] = 2 * factors
    try:
        made = RECIPES[recipe](**given).model_dump(mode="json")
    except TypeError as error:
        raise InputError(f"{recipe}: {error}.") from error
    rest = {key: value for key, value in settings.items() if key not in known}
    if (latent := rest.pop("latent", None)) is not None:
        made["latent"] = {"name": latent, "size": made["latent"]["size"]} if isinstance(latent, str) else latent
    terms = rest.pop("terms", None) or {}
    if not isinstance(terms, Mapping):
        raise InputError(f"terms takes weights by name, as in {{'jacobian_l1': 0.1}}, got {terms!r}.")
    for name, weight in terms.items():
        _weigh(made, str(name), weight)
    for key, value in rest.items():
        _set(made, key, value, known)
    composed = Recipe(**made)
    composed.check()
    return composed


def _weigh(made: dict[str, Any], name: str, weight: float) -> None:
    """Give a term this weight: one that is there, or a new one; with 0 it is left out."""
    others = [entry for entry in made["terms"] if entry["term"]["name"] != name]
    here = [entry for entry in made["terms"] if entry["term"]["name"] == name]
    if not here:
        named("term", name, TERMS)
    entry = here[0] if here else {"term": {"name": name}, "schedule": {}}
    made["terms"] = others + ([{**entry, "weight": weight}] if weight != 0 else [])


def _set(made: dict[str, Any], key: str, value: Any, parameters: Mapping[str, Any]) -> None:
    """Set a field of the recipe, or with a dot one of its parts."""
    part, _, name = {"lr": "optimiser.lr", "grouping": "grouping.kind"}.get(key, key).rpartition(".")
    entry = next((entry for entry in made["terms"] if entry["term"]["name"] == part), None)
    if entry is not None and name == "weight":
        entry["weight"] = value
    elif entry is not None and name in SCHEDULE and name not in named("term", part, TERMS).model_fields:
        entry["schedule"] = {**entry["schedule"], "kind" if name == "schedule" else name: value}
    elif entry is not None:
        entry["term"][name] = value
    elif part in ("latent", "optimiser", "grouping"):
        made[part] = {**(made[part] or {}), name: value}
    elif not part and name in FIELDS:
        made[name] = value
    else:
        parts = [f"{e['term']['name']}.{field}" for e in made["terms"] for field in ("weight", *SCHEDULE, *e["term"])]
        raise unknown(f"setting of {made['recipe']}", key, [*parameters, *FIELDS, "lr", "grouping", *parts])
