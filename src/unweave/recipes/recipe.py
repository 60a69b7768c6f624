"""A recipe: a latent, a list of weighted terms, a net, and the settings of its training."""

from __future__ import annotations

import re
from collections.abc import Collection
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from unweave.data.groups import GROUPS, Groups
from unweave.errors import InputError
from unweave.factors import Changed
from unweave.latents import LATENTS, Codebook, Latent
from unweave.model import IN_UNIT_RANGE, Likelihood
from unweave.nets import NetSettings, Start
from unweave.settings import Settings, choice, name_in, written_unless
from unweave.terms import TERMS, AdaptiveGrouping, Augmentation, Term
from unweave.terms.schedules import Schedule

CHANGE = re.compile(r"(?<=.)([+-])([^+-]+)$")  # of a recipe, at the end of its label


class Weighted(Settings):
    """A term with its weight and the schedule of the weight.

    Examples:
        >>> from unweave.recipes import compose
        >>> [(part.name, part.weight) for part in compose("beta_vae", {"beta": 8}).terms]
        [('reconstruction', 1.0), ('kl', 8.0)]
    """

    title: ClassVar[str] = "a weighted term"
    term: Annotated[Term, *choice("term", TERMS)]
    weight: float = Field(default=1.0, ge=0)
    schedule: Schedule = Schedule()

    @property
    def name(self) -> str:
        """The name of the term: its key in TERMS, or ``module:name``."""
        return name_in(TERMS, type(self.term))


class Optimiser(Settings):
    """Adam or AdamW.

    Weight decay applies to weight matrices and kernels only, not to biases, constants and codebooks; with
    ``decayed="all"`` it applies to all of them but codebooks, as in the code of Tripod. ``clip`` limits
    the absolute value of each entry of the gradient, for all parameters or only for those with weight decay (as in the
    code of QLAE). ``schedule`` changes the learning rate, from its ``start`` to ``lr``.

    Examples:
        >>> from unweave.recipes import Optimiser, compose
        >>> compose("beta_vae", {"lr": 1e-3}).optimiser == Optimiser(lr=1e-3)
        True
    """

    title: ClassVar[str] = "the optimiser"
    name: Literal["adam", "adamw"] = "adam"
    lr: float = Field(default=1e-4, gt=0)
    beta1: float = Field(default=0.9, ge=0, lt=1)
    beta2: float = Field(default=0.999, ge=0, lt=1)
    eps: float = Field(default=1e-8, gt=0)
    weight_decay: float = Field(default=0.0, ge=0)
    clip: float | None = Field(default=None, gt=0)
    clipped: Literal["all", "decayed"] = "all"
    schedule: Schedule = Schedule()
    decayed: Annotated[Literal["matrices", "all"], written_unless("matrices")] = (
        "matrices"  # what weight decay applies to
    )


def base_of(label: str, terms: Collection[str], latent: str) -> str:
    """Return the label of a recipe without the terms and the latent that were added to it or removed from it.

    A stored configuration has the label only. What looks like a change counts as one if the recipe has, or no longer
    has, that part.

    >>> base_of("vae+jacobian_l1-kl", {"jacobian_l1"}, "gaussian"), base_of("vae-mine", {"kl"}, "gaussian")
    ('vae', 'vae-mine')
    """
    while part := CHANGE.search(label):
        sign, name = part.groups()
        removed = name not in terms and (name in TERMS or ":" in name)
        if not (name in (*terms, latent, "pairs") if sign == "+" else removed):
            break
        label = label[: part.start()]
    return label


class Recipe(Settings):
    """The model and its training, independent of the data and the seed.

    Examples:
        >>> import unweave
        >>> recipe = unweave.RECIPES["beta_vae"](beta=2)
        >>> [(weighted.name, weighted.weight) for weighted in recipe.terms]
        [('reconstruction', 1.0), ('kl', 2.0)]
    """

    title: ClassVar[str] = "the recipe"
    recipe: str  # a label: it does not change what is learned
    latent: Annotated[Latent, *choice("latent", LATENTS)]
    terms: tuple[Weighted, ...]
    net: NetSettings = NetSettings(name="conv64")
    likelihood: Likelihood = "bernoulli"
    standardised: bool = False  # train on images with mean 0 and standard deviation 1 in each channel
    start: Start = "balanced"  # initial weights
    grouping: AdaptiveGrouping | None = None  # of pairs of images
    changed: Changed | None = None  # factors that differ within a pair; None: 1 to K - 1
    groups: Annotated[Groups | None, *choice("groups", GROUPS), written_unless(None)] = None  # other pairs, or triplets
    augment: Annotated[Augmentation | None, written_unless(None)] = None  # of the encoder's inputs
    linear: Literal["pca", "ica"] | None = None  # fitted in closed form instead of by steps
    optimiser: Optimiser = Optimiser()
    batch: int = Field(default=64, ge=2, le=1_000_000)
    steps: int = Field(default=300_000, ge=1, le=10**10)

    @property
    def base(self) -> str:
        """The label without what was added to and removed from the recipe: ``vae`` of ``vae+jacobian_l1-kl``."""
        return base_of(self.recipe, {each.name for each in self.terms}, name_in(LATENTS, type(self.latent)))

    def check(self) -> None:
        """Raise an InputError for parts that cannot be combined, with the reason."""
        if self.linear is not None:
            self._check_linear()
            return
        names = [weighted.name for weighted in self.terms]
        for name in names:
            if names.count(name) > 1:
                raise InputError(f"the term {name} is listed twice: list it once, with one weight.")
        for weighted in self.terms:
            if reason := weighted.term.refusal(self.latent):
                kind = name_in(LATENTS, type(self.latent))
                wrong = f"the term {weighted.name} cannot be combined with the latent {kind}: {reason}."
                raise InputError(wrong, setting="terms", value=kind)
            _check_schedule(f"the term {weighted.name}", weighted.schedule, self.steps)
        _check_schedule("the learning rate", self.optimiser.schedule, self.steps)
        self._check_groups()
        if isinstance(self.latent, Codebook) and "quantisation" not in names:
            raise InputError("the codebook latent learns its values through the term quantisation: add it, or use fsq.")
        if not any("reconstruction" in weighted.name and weighted.weight > 0 for weighted in self.terms):
            raise InputError("no term reconstructs the images: add the term reconstruction.")
        if self.standardised and self.likelihood in IN_UNIT_RANGE:
            raise InputError(
                "standardised images are not in [0, 1] and have no Bernoulli likelihood: set likelihood=gaussian."
            )
        if self.start == "jl1" and not self.latent.has_posterior:
            raise InputError("start=jl1 sets the bias of the log-variance: it needs the gaussian latent.")

    @property
    def members(self) -> int:
        """The number of images that belong together in a batch: 2 for pairs, 3 for triplets, otherwise 1."""
        if self.groups is not None:
            return self.groups.members
        return 1 if self.grouping is None else 2

    def _check_groups(self) -> None:
        if self.grouping is not None:
            without_posterior = self.grouping.kind in ("exchange", "average")
            if self.latent.has_posterior == without_posterior:
                raise InputError(
                    "adaptive grouping of kind gvae or mlvae needs the posterior of the gaussian latent; kind exchange "
                    "or average is for latents without one."
                )
            if self.grouping.kind == "average" and self.latent.discrete:
                raise InputError("the mean of two quantised values is not one of the values: set grouping=exchange.")
        if self.changed is not None and self.grouping is None:
            raise InputError("changed has no effect without pairs: only recipes with adaptive grouping use pairs.")
        if self.changed is not None and self.groups is not None:
            raise InputError("changed has no effect if groups is set: leave one of them out.")
        needed = {f"the term {w.name}": w.term.members for w in self.terms if w.term.members > 1}
        needed |= {"adaptive grouping": 2} if self.grouping is not None else {}
        for what, members in needed.items():
            if members != self.members:
                kinds = ", ".join(name for name, kind in GROUPS.items() if kind.members == members)
                raise InputError(f"{what} needs groups of {members} images, got {self.members}: set groups to {kinds}.")
        if self.groups is not None and not needed:
            raise InputError("groups has no effect: no term of this recipe, and no adaptive grouping, uses them.")

    def needs_total(self) -> str | None:
        """Return what depends on the total number of steps, so that longer training is a different run; or None."""
        for weighted in self.terms:
            if weighted.schedule.is_relative or weighted.term.needs_total():
                return f"the schedule of the term {weighted.name}"
        return "the schedule of the learning rate" if self.optimiser.schedule.is_relative else None

    def _check_linear(self) -> None:
        assert self.linear is not None
        default = linear_recipe(self.linear, self.latent.size)
        for key in Recipe.model_fields:
            if key != "recipe" and getattr(self, key) != getattr(default, key):
                raise InputError(f"{self.linear} is fitted in closed form: {key} cannot be changed.")


def linear_recipe(kind: Literal["pca", "ica"], latents: int) -> Recipe:
    """Return the recipe of principal or independent components."""
    from unweave.latents import Deterministic

    fixed: dict[str, Any] = {"likelihood": "gaussian", "linear": kind, "steps": 1, "net": NetSettings(name="linear")}
    return Recipe(recipe=kind, latent=Deterministic(size=latents), terms=(), **fixed)


def _check_schedule(what: str, schedule: Schedule, steps: int) -> None:
    if schedule.kind != "constant" and schedule.begin(steps) >= steps:
        raise InputError(f"{what}: its schedule begins at step {schedule.begin(steps):g} of {steps:,}, after the end.")
