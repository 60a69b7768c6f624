"""Titles of figures: what was trained on what, with the settings that differ from the recipe's defaults."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from unweave.data import FactorData
from unweave.names import spelled
from unweave.nets import net_settings_of
from unweave.recipes import RECIPES, Recipe, compose, parameters_of
from unweave.representation import Representation
from unweave.training import Run

SHOWN = 3  # settings; "…" stands for the others
FIELDS = ("start", "likelihood", "standardised")


def title_of(run: Representation, about: str = "", data: FactorData | None = None) -> str:
    """Return a title such as "β-VAE (kl 2, lr 0.001, width 0.5) on dSprites, seed 3, 20,000 steps: latents by KL".

    In parentheses are up to three settings that differ from the recipe's defaults, then "…" if there are more: weights
    of terms, the number of latents, the learning rate, the batch size, the net and its settings, the initial weights,
    the likelihood and standardisation. For a recipe of the user's own, whose defaults are not stored with the run, they
    are the weights of all terms but the reconstruction. ``data`` is needed for recipes with two latents per factor; the
    number of latents is left out without it.
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
    texts = [_text(name, value) for name, value in changed.items()]
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


def _differences(recipe: Recipe, weights: dict[str, float], base: str, factors: int | None) -> dict[str, Any]:
    """Return the settings of a recipe that differ from those of the named recipe ``base``."""
    default = compose(base, {}, factors=factors)
    usual: dict[str, Any] = {weighted.name: weighted.weight for weighted in default.terms}
    actual: dict[str, Any] = dict(weights)
    if factors is not None or parameters_of(base).get("latents") is not None:  # otherwise the default is not known
        usual["latents"], actual["latents"] = default.latent.size, recipe.latent.size
    usual["lr"], actual["lr"] = default.optimiser.lr, recipe.optimiser.lr
    usual["batch"], actual["batch"] = default.batch, recipe.batch
    usual["net"], actual["net"] = default.net.name, recipe.net.name
    same_net = default.net.name == recipe.net.name
    usual |= default.net.settings if same_net else net_settings_of(recipe.net.name)
    actual |= recipe.net.settings
    usual |= {field: getattr(default, field) for field in FIELDS}
    actual |= {field: getattr(recipe, field) for field in FIELDS}
    return {name: value for name, value in actual.items() if name not in usual or usual[name] != value}


def _text(name: str, value: Any) -> str:
    name = name.rpartition(":")[2]  # of module:name
    if isinstance(value, bool):
        return name if value else f"no {name}"
    return f"{name} {value:g}" if isinstance(value, float) else f"{name} {value}"
