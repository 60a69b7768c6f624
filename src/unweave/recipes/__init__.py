"""Recipes: a method is a latent, a list of weighted terms, and the published hyperparameters."""

from unweave.recipes.composition import compose, known_settings, parameters_of
from unweave.recipes.published import RECIPES, term
from unweave.recipes.recipe import Optimiser, Recipe, Weighted

__all__ = ["RECIPES", "Optimiser", "Recipe", "Weighted", "compose", "known_settings", "parameters_of", "term"]
