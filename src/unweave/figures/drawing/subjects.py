"""The subjects of figures: titles and names of runs, the order of latents, and the values that each of them takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Literal

from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.names import spelled, words
from unweave.recipes import RECIPES, Recipe, compose, parameters_of
from unweave.representation import Over, Representation
from unweave.training import Run

SHOWN = 3  # settings; "…" stands for the others
Order = Literal["auto", "kl", "spread", "entropy"]
STEPS = 11  # values of a continuous latent
MOST_LEVELS = 24  # of a quantised latent; more would be too small to see


def title_of(run: Representation, about: str = "", data: FactorData | None = None) -> str:
    """Return a title such as "β-VAE (KL 2, latents 4) on dSprites, seed 3, 20,000 steps: latents by KL".

    In parentheses are up to three settings that differ from the recipe's defaults, then "…" if there are more: weights
    of terms and the number of latents; all settings are in the configuration of the run. For a recipe of the user's
    own, whose defaults are not stored with the run, they are the weights of all terms but the reconstruction. ``data``
    is needed for recipes with two latents per factor; the number of latents is left out without it.
    """
    if not isinstance(run, Run):
        return f"{run.title}: {about}" if about else run.title
    c = run.configuration
    factors = len(data.space) if data is not None and data.has_factors else None
    base = c.base
    weights = {weighted.name: weighted.weight for weighted in c.terms}
    if base in RECIPES:
        changed = _differences(c, weights, base, factors)
    else:
        changed = {name: weight for name, weight in weights.items() if name != "reconstruction"}
    texts = [_text(words(name), value) for name, value in changed.items()]
    shown = texts[:SHOWN] + (["…"] if len(texts) > SHOWN else [])
    settings = f" ({', '.join(shown)})" if shown else ""
    steps = "" if c.linear else f", {run.step:,} steps"
    trained = f"{spelled(c.recipe)}{settings} on {spelled(c.data.label)}, seed {c.seed}{steps}"
    return f"{trained}: {about}" if about else trained


def names_of(runs: Sequence[Representation]) -> list[str]:
    """Return a short name of each run: its label, or its recipe with what tells it apart from the other runs.

    That is its data set, its seed, and finally the first digits of its name, each only where it is needed.
    """
    parts: tuple[Callable[[Representation], str], ...] = (
        lambda run: spelled(run.data_label),
        lambda run: f"seed {run.seed}",
        lambda run: run.name[:6],
    )
    names = [run.label or spelled(run.method) for run in runs]
    for part in parts:
        alike = [names.count(name) > 1 for name in names]
        differs = {name: {part(run) for run, own in zip(runs, names, strict=True) if own == name} for name in names}
        names = [
            f"{name}\n{part(run)}" if same and len(differs[name]) > 1 else name
            for run, name, same in zip(runs, names, alike, strict=True)
        ]
    return names


def methods_of(runs: Sequence[Run]) -> list[str]:
    """Return the method of each run: its recipe, with the weights of terms in which runs of the recipe differ."""
    weights = [{weighted.name: weighted.weight for weighted in run.configuration.terms} for run in runs]
    recipes = [run.configuration.recipe for run in runs]
    methods = []
    for recipe, own in zip(recipes, weights, strict=True):
        alike = [theirs for other, theirs in zip(recipes, weights, strict=True) if other == recipe]
        varying = [name for name, weight in own.items() if any(theirs.get(name) != weight for theirs in alike)]
        texts = ", ".join(_text(name, own[name]) for name in varying)
        methods.append(f"{recipe} ({texts})" if texts else recipe)
    return methods


def _differences(recipe: Recipe, weights: dict[str, float], base: str, factors: int | None) -> dict[str, float]:
    """Return the settings of a recipe that differ from those of the named recipe ``base``."""
    default = compose(base, {}, factors=factors)
    usual: dict[str, float] = {weighted.name: weighted.weight for weighted in default.terms}
    actual: dict[str, float] = dict(weights)
    if factors is not None or parameters_of(base).get("latents") is not None:  # otherwise the default is not known
        usual["latents"], actual["latents"] = default.latent.size, recipe.latent.size
    return {name: value for name, value in actual.items() if name not in usual or usual[name] != value}


def _text(name: str, value: float) -> str:
    return f"{name.rpartition(':')[2]} {value:g}"  # of module:name


def ordered_latents(run: Representation, order: Order = "auto") -> tuple[list[int], str]:
    """Return the latents, the most informative first, and the name of what orders them.

    ``"kl"`` orders by the KL of the posterior from the prior, ``"entropy"`` by the entropy of the levels of a quantised
    latent, ``"spread"`` by the standard deviation over the data. ``"auto"`` is KL for a Gaussian posterior, entropy for
    quantised latents, and otherwise spread.
    """
    summary = run.summary
    if order == "kl":
        if summary.kl is None:
            raise InputError("order=kl needs a Gaussian posterior: use order=spread, or order=entropy if quantised.")
        summary = replace(summary, usage=None)
    elif order == "entropy":
        if summary.usage is None:
            raise InputError("order=entropy needs quantised latents: use order=spread or order=kl.")
        summary = replace(summary, kl=None)
    elif order == "spread":
        summary = replace(summary, kl=None, usage=None)
    return summary.order, summary.order_name


def latent_values(
    run: Representation, *, steps: int | None = None, over: Over = "auto", span: float = 2.0
) -> tuple[Tensor, str]:
    """Return the values of a traversal as figures show it.

    Args:
        run: What decodes.
        steps: The number of values; by default 11 of a continuous latent and up to 24 levels of a quantised one.
        over: The range, as in :meth:`Representation.traversal_values`.
        span: The number of standard deviations for ``over="prior"``.

    Returns:
        The values (D, columns), and a phrase that says what they range over.
    """
    levels = run.levels
    if over == "auto":
        shown = "levels" if levels is not None else "prior" if run.has_posterior else "quantile"
    else:
        shown = over
    if steps is None:
        steps = MOST_LEVELS if shown == "levels" else STEPS
    values = run.traversal_values(steps=steps, over=over, span=span)
    if shown == "levels" and levels is not None:
        every = values.shape[1] == levels.shape[1]
        return values, "each level once" if every else f"{values.shape[1]} of {levels.shape[1]} levels"
    if shown == "prior":
        return values, f"±{span:g} standard deviations of the prior"
    return values, "1 % to 99 % quantile of the data"


def value_texts(values: Sequence[float]) -> list[str]:
    """Return the values of a traversal as texts; one that is 0 up to rounding error is written as 0."""
    negligible = 1e-6 * max(abs(value) for value in values)
    return ["0" if abs(value) <= negligible else f"{value:.2g}".replace("-", "−") for value in values]


def moved(code: Tensor, latent: int, values: Tensor) -> Tensor:
    """Return the code (D,) once for each of the values (columns,) of one latent: (columns, D)."""
    codes = code.repeat(len(values), 1)
    codes[:, latent] = values
    return codes
