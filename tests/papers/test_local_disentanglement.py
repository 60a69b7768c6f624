"""JL1-VAE against β-VAE, JL2-VAE and six baselines."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch

import unweave
from tests.papers.judging import verdicts
from unweave.papers import FINDINGS
from unweave.papers.local_disentanglement import (
    BASELINES,
    CHANCE,
    FIGURE_4,
    FIGURE_5,
    FIGURE_7,
    discs,
    share_of_one_dot,
    spread_places,
)

judge = FINDINGS["local-disentanglement"].answer
SEEDS = 10
NOISE = np.linspace(-1, 1, SEEDS) / np.linspace(-1, 1, SEEDS).std(ddof=1)  # mean 0, deviation 1
PRINTED = {0.1: (2.2e-12, 1.2e-12), 0.2: (1.1e-11, 9.0e-11), 0.6: (8.4e-5, 1.2e-8), 1.0: (0.54, 0.38)}  # p of figure 4


def published_table() -> pd.DataFrame:
    """Return runs with the published means, and with the spread over ten seeds that gives the published t."""
    rows = []

    def add(recipe: str, scores: dict[str, tuple[float, float]], **settings: Any) -> None:
        for seed in range(SEEDS):
            row: dict[str, Any] = {"run": f"{recipe}{seed}", "state": "finished", "recipe": recipe, "seed": seed}
            row |= {"data": "three_dots", "seconds": 60.0, "kl_per_latent": 20.0, **settings}
            rows.append(row | {name: mean + std * NOISE[seed] for name, (mean, std) in scores.items()})

    ramp: dict[str, tuple[float, float]] = {"isolation": (0.696, 0.01)}
    jl1: dict[str, tuple[float, float]] = {"isolation": (0.957, 0.01)}
    for rho, (mig_b, mig_j, t_mig, mod_b, mod_j, t_mod) in FIGURE_4.items():
        for metric, b, j, t in (("local_mig", mig_b, mig_j, t_mig), ("local_modularity", mod_b, mod_j, t_mod)):
            std = (j - b) / t / math.sqrt(2 / SEEDS)
            ramp[f"{metric} at {rho:g}"], jl1[f"{metric} at {rho:g}"] = (b, std), (j, std)
    add("beta_vae", ramp, **{"kl.schedule": "linear"})
    for gamma, value in FIGURE_7.items():
        add("jl1_vae", jl1 | {"local_mig at 0.1": (value, jl1["local_mig at 0.1"][1])}, gamma=gamma)
        add("jl2_vae", ramp | {"local_mig at 0.1": (0.053, 0.01)}, gamma=gamma)
    for recipe, method in BASELINES.items():
        mig, modularity = FIGURE_5[method]
        scores = {
            "local_mig at 0.1": (mig, 0.01),
            "local_modularity at 0.1": (modularity, 0.01),
            "isolation": (0.6, 0.1),
        }
        add(recipe, ramp | scores)
    return pd.DataFrame(rows)


def test_the_published_numbers_show_every_claim() -> None:
    found = verdicts(judge(published_table()))
    assert len(found) == 2 * (2 + 2 + 1) + 1
    assert set(found.values()) == {"shown"}


@pytest.mark.parametrize("rho", PRINTED)
def test_the_test_is_the_one_of_the_authors_notebooks(rho: float) -> None:
    """Student's two-sided t-test gives the p that they print; Welch's has fewer degrees of freedom."""
    table = published_table().drop(columns=[f"local_mig at {r:g}" for r in FIGURE_4 if r < rho])
    table = table.drop(columns=[f"local_modularity at {r:g}" for r in FIGURE_4 if r < rho])
    evidence = [claim.evidence for claim in judge(table).claims if f"at {rho:g} (figure 4)" in claim.sentence]
    printed = [float(value) for text in evidence for value in re.findall(r"p = ([\d.e-]+\d)", text)][: len(evidence)]
    expected = [p for p in PRINTED[rho] for _ in range(len(evidence) // 2)]
    assert printed == pytest.approx(expected, rel=0.06)


def test_measured_means_and_t_stand_beside_the_published_ones() -> None:
    part = judge(published_table()).parts[0]
    assert part.published is not None
    pd.testing.assert_frame_equal(part.measured, part.published.round(3))


def test_without_a_gap_the_main_claims_are_not_shown() -> None:
    table = published_table()
    table.loc[table["recipe"] == "jl1_vae", "local_mig at 0.1"] -= 0.07
    found = verdicts(judge(table))
    assert found["JL1-VAE exceeds β-VAE in local_mig at 0.1 (figure 4)."] == "not shown"
    assert found["JL1-VAE exceeds each of the six baselines in local_mig at 0.1 (figure 5)."] == "not shown"
    assert found["JL1-VAE exceeds β-VAE in local_modularity at 0.1 (figure 4)."] == "shown"


def test_every_strength_must_exceed() -> None:
    table = published_table()
    table.loc[(table["recipe"] == "jl1_vae") & (table["gamma"] == 0.4), "local_mig at 0.1"] -= 0.07
    found = verdicts(judge(table))
    assert found["Every γ of JL1-VAE exceeds β-VAE and JL2-VAE in local_mig at 0.1 (figure 7)."] == "not shown"
    assert found["JL1-VAE exceeds β-VAE in local_mig at 0.1 (figure 4)."] == "shown"


def test_runs_that_learned_nothing_are_counted_and_left_out() -> None:
    table = published_table()
    one = (table["recipe"] == "jl1_vae") & (table["seed"] == 3) & (table["gamma"] == 0.1)
    table.loc[one, ["kl_per_latent", "local_mig at 0.1", "local_modularity at 0.1"]] = 0.0
    answer = judge(table)
    assert set(verdicts(answer).values()) == {"shown"}
    assert any("jl1_vae seed 3" in part.note for part in answer.parts)
    assert "9 and 10 seeds" in answer.claims[0].evidence


def test_claims_without_runs_are_not_tested() -> None:
    table = published_table()
    few = table[~table["recipe"].isin(["jl2_vae", "factor_vae"])]
    found = verdicts(judge(few))
    assert found["JL2-VAE does not exceed β-VAE in local_mig at 0.1 (figure 7)."] == "not tested"
    assert found["JL1-VAE exceeds each of the six baselines in local_mig at 0.1 (figure 5)."] == "not tested"


def test_strengths_have_lines_of_their_own() -> None:
    radii, methods, _ = FINDINGS["local-disentanglement"].figures
    legend = radii.draw(published_table()).legends[0]
    assert len(legend.get_texts()) == 4 + 4 + 1
    panel = methods.draw(published_table()).axes[0]
    assert len(panel.get_xticklabels()) == 1 + 1 + 6


def test_chance_is_what_random_rotations_of_the_latents_give() -> None:
    """Six coordinates of three dots, mixed by orthogonal matrices: the share of a column's energy at one dot."""
    generator = torch.Generator().manual_seed(0)
    rotations = torch.linalg.qr(torch.randn(20_000, 6, 6, generator=generator, dtype=torch.float64)).Q
    energy = rotations.square().view(-1, 6, 3, 2).sum(-1)
    assert float(energy.amax(-1).mean()) == pytest.approx(CHANCE, abs=0.002)
    assert pytest.approx(0.611, abs=5e-4) == CHANCE


def test_one_baseline_that_is_not_exceeded_refutes_figure_5_although_another_has_no_runs() -> None:
    table = published_table()
    few = table[table["recipe"] != "factor_vae"].copy()
    few.loc[few["recipe"] == "dip_vae_i", "local_mig at 0.1"] += 0.5
    found = verdicts(judge(few))
    assert found["JL1-VAE exceeds each of the six baselines in local_mig at 0.1 (figure 5)."] == "not shown"
    assert found["JL1-VAE exceeds each of the six baselines in local_modularity at 0.1 (figure 5)."] == "not tested"


def test_places_are_apart_and_away_from_the_edge(generator: torch.Generator) -> None:
    places = spread_places(20, generator)
    assert places.shape == (20, 6)
    for row in places.tolist():
        dots = [(row[0], row[1]), (row[2], row[3]), (row[4], row[5])]
        for first in range(3):
            assert min(dots[first]) >= 10  # two radii
            assert max(dots[first]) <= 63 - 10
            for second in range(first):
                assert math.dist(dots[first], dots[second]) >= 4 * 0.08 * 64


def test_discs_cover_the_dots(generator: torch.Generator) -> None:
    places = spread_places(5, generator)
    data = unweave.load("three_dots", size=32)
    black = data.images(places)[:, 0] < 255
    masks = discs(places, 32) > 0
    assert torch.equal(black & ~masks.any(1), torch.zeros_like(black))
    assert int(masks.sum(1).max()) == 1  # they do not overlap
    assert int((black[:, None] & masks).sum((2, 3)).min()) >= 15  # of about 20 pixels of a disc


@pytest.mark.parametrize(("amounts", "share"), [((1, 0, 0), 1.0), ((1, 1, 1), 1 / 3), ((2, 1, 0), 0.8)])
def test_the_share_is_that_of_the_strongest_dot(
    amounts: tuple[float, ...], share: float, generator: torch.Generator
) -> None:
    """Columns that are constant on each disc, with these amplitudes; their energy is the square."""
    places = spread_places(1, generator)
    masks = discs(places, 33)
    masks = masks / masks.sum((2, 3), keepdim=True).sqrt()  # each disc has energy 1
    column = torch.einsum("k,bkhw->bhw", torch.tensor(amounts, dtype=torch.float64), masks)
    assert share_of_one_dot(column[:, None, None], places) == pytest.approx(share)
    unused = torch.zeros_like(column)
    assert share_of_one_dot(torch.stack([column, unused], 1)[:, :, None], places) == pytest.approx(share)
