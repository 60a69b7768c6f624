"""JL1-VAE against β-VAE and JL2-VAE."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from tests.papers.judging import verdicts
from unweave.papers import FINDINGS


def local_table(gap: float) -> pd.DataFrame:
    rows = []
    for recipe, small in (("jl1_vae", 0.05 + gap), ("jl2_vae", 0.05), ("beta_vae", 0.05)):
        for seed in range(5):
            noise = 0.001 * (seed - 2)
            row: dict[str, Any] = {"run": f"{recipe}{seed}", "state": "finished", "recipe": recipe, "seed": seed}
            row |= {
                "data": "three_dots",
                "isolation": 0.4 + small + noise,
                "seconds": 60.0,
                "kl_per_latent": 20.0,
                "local_mig at 0.1": small + noise,
                "local_mig at 1": 0.02 + noise,
            }
            rows.append(row | {"local_modularity at 0.1": small + noise, "local_modularity at 1": 0.3 + noise})
    return pd.DataFrame(rows)


def test_local_disentanglement_is_shown_by_a_gap_at_the_smallest_radius_only() -> None:
    judge = FINDINGS["local-disentanglement"].answer
    assert set(verdicts(judge(local_table(gap=0.05))).values()) == {"shown"}
    without = verdicts(judge(local_table(gap=0.0)))
    assert without["JL1-VAE exceeds β-VAE in local_mig at 0.1."] == "not shown"
    assert without["JL2-VAE does not exceed β-VAE in local_mig at 0.1."] == "shown"


def test_runs_that_learned_nothing_are_counted_and_left_out() -> None:
    table = local_table(gap=0.05)
    one = (table["recipe"] == "jl1_vae") & (table["seed"] == 3)
    table.loc[one, ["kl_per_latent", "local_mig at 0.1", "local_modularity at 0.1"]] = 0.0
    answer = FINDINGS["local-disentanglement"].answer(table)
    assert set(verdicts(answer).values()) == {"shown"}
    assert "jl1_vae seed 3" in answer.parts[0].note
    assert "4 and 5 seeds" in answer.claims[0].evidence


def test_runs_of_a_method_with_other_settings_have_rows_of_their_own_and_are_not_compared() -> None:
    table = local_table(gap=0.05)
    plain = table["recipe"] == "beta_vae"
    table["kl.schedule"] = ["linear" if recipe == "beta_vae" else None for recipe in table["recipe"]]
    table["gamma"] = np.where(plain, np.nan, 0.1)
    constant = table[plain].assign(**{"kl.schedule": None, "local_mig at 0.1": 0.9})
    answer = FINDINGS["local-disentanglement"].answer(pd.concat([table, constant]))
    assert set(verdicts(answer).values()) == {"shown"}
    measured = answer.parts[0].measured
    assert list(measured["kl.schedule"][measured["recipe"] == "beta_vae"].fillna("")) == ["linear", ""]


def test_a_claim_without_runs_is_not_tested() -> None:
    table = local_table(gap=0.05)
    few = table[table["recipe"] != "jl2_vae"]
    assert (
        verdicts(FINDINGS["local-disentanglement"].answer(few))["JL2-VAE does not exceed β-VAE in local_mig at 0.1."]
        == "not tested"
    )


def test_scores_against_the_radius_are_drawn_from_the_table() -> None:
    (picture,) = FINDINGS["local-disentanglement"].figures
    figure = picture.draw(local_table(gap=0.05))
    assert len(figure.axes) == 2
    lines = {float(np.asarray(line.get_xdata())[0]) for axes in figure.axes for line in axes.lines}
    assert lines == {0.1}
