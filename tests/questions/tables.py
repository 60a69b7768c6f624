"""Synthetic tables of runs with known structure."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas

STRENGTHS = {"beta_vae": (1, 4, 16), "annealed_vae": (5, 25, 100), "dip_vae_i": (1, 5, 20)}


def make_table(
    score: Callable[[str, str, float, int, np.random.Generator], dict[str, float]],
    *,
    data: tuple[str, ...] = ("dsprites", "cars3d"),
    seeds: int = 4,
    seed: int = 0,
) -> pandas.DataFrame:
    """One row for each data set, recipe, strength and seed, in shuffled order."""
    generator = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for place, (recipe, strengths) in itertools.product(data, STRENGTHS.items()):
        for strength, number in itertools.product(strengths, range(seeds)):
            run = {"data": place, "recipe": recipe, "strength": strength, "seed": number}
            rows.append(run | score(place, recipe, strength, number, generator))
    table = pandas.DataFrame(rows)
    return table.iloc[generator.permutation(len(table))]


def noise_table(*names: str, data: tuple[str, ...] = ("dsprites", "cars3d"), seeds: int = 4) -> pandas.DataFrame:
    """Scores that are independent standard normal noise."""
    return make_table(lambda *a: {name: a[-1].normal() for name in names}, data=data, seeds=seeds)


def study_table(data: tuple[str, ...] = ("dsprites", "cars3d", "shapes3d"), seeds: int = 5) -> pandas.DataFrame:
    """A table on which every analysis applies, with effects of method and strength."""

    def score(place: str, recipe: str, strength: float, _: int, g: np.random.Generator) -> dict[str, float]:
        quality = {"beta_vae": 0.2, "annealed_vae": 0.3, "dip_vae_i": 0.1}[recipe]
        quality += 0.05 * np.log(strength) * (-1 if place == "cars3d" else 1) + 0.06 * g.normal()
        return {
            "mig": quality + 0.03 * g.normal(),
            "dci.disentanglement": 0.3 + quality + 0.05 * g.normal(),
            "sap": 0.05 + 0.02 * g.normal(),
            "modularity": 0.9 - 0.2 * quality + 0.02 * g.normal(),
            "total_correlation": np.exp(0.3 * np.log(strength) + 0.2 * g.normal()),
            "total_correlation_sampled": np.exp(-0.3 * np.log(strength) + 0.2 * g.normal()),
            "elbo": -100 - strength + g.normal(),
            "reconstruction_error": 80 + 0.5 * strength + g.normal(),
            "udr": 0.5 * quality + 0.05 * g.normal(),
            "downstream.score": 0.5 + 0.5 * quality + 0.02 * g.normal(),
            "downstream.efficiency_logistic": 0.7 + 0.05 * g.normal(),
            "downstream.efficiency_boosted": 0.6 + 0.05 * g.normal(),
        }

    return make_table(score, data=data, seeds=seeds)
