"""The share of a quarter: columns of a Jacobian touch one quarter of the image each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
import torch

from tests.papers.judging import verdicts
from unweave.papers import FINDINGS
from unweave.papers.mpi3d_multi import CHANCE, QUARTER, share_of_one_quarter

judge = FINDINGS["mpi3d-multi"].answer


def table(jl1: list[float], beta: list[float]) -> pd.DataFrame:
    rows = [
        {"state": "finished", "recipe": recipe, "data": "four_dots", "seed": seed, "psnr": 20.0, "seconds": 1.0}
        | {QUARTER: share}
        for recipe, shares in (("jl1_vae", jl1), ("beta_vae", beta))
        for seed, share in enumerate(shares)
    ]
    return pd.DataFrame(rows)


def test_an_absent_table_tests_nothing() -> None:
    assert set(verdicts(judge(pd.DataFrame())).values()) == {"not tested"}
    assert set(verdicts(judge(table([], []).assign(state=[]))).values()) == {"not tested"}


@pytest.mark.parametrize(
    ("jl1", "expected"),
    [([0.95, 0.97, 0.93], ["shown", "shown"]), ([0.95, 0.97, 0.85], ["not shown", "shown"]), ([0.5, 0.55, 0.6], None)],
)
def test_every_seed_must_touch_one_quarter(jl1: list[float], expected: list[str] | None) -> None:
    found = list(verdicts(judge(table(jl1, [0.5, 0.55, 0.6]))).values())
    assert found == (expected or ["not shown", "not shown"])


def test_a_single_model_of_each_as_published_is_judged_without_a_test() -> None:
    assert list(verdicts(judge(table([0.95], [0.6]))).values()) == ["shown", "not tested"]


def test_the_share_is_that_of_the_strongest_quarter() -> None:
    columns = torch.zeros(1, 2, 1, 4, 6)
    columns[0, 0, 0, :2, :3] = 1.0  # energy 6 in the first quarter
    columns[0, 0, 0, 2:, 3:] = 2.0  # 24 in the last
    assert share_of_one_quarter(columns) == pytest.approx(24 / 30)
    columns[0, 1, 0, 0, 5] = 10.0  # a column in one quarter only
    assert share_of_one_quarter(columns) == pytest.approx(124 / 130)
    assert share_of_one_quarter(torch.ones(2, 3, 1, 4, 4)) == pytest.approx(1 / 4)


def test_random_rotations_have_the_share_of_chance() -> None:
    """Eight latents, two for each quarter, rotated at random: energies of columns are squared entries of rotations."""
    rng = np.random.default_rng(0)
    shares = []
    for _ in range(2_000):
        rotation, _ = np.linalg.qr(rng.normal(size=(8, 8)))
        held = (rotation**2).reshape(4, 2, 8).sum(1)  # (quarter, column)
        shares.append(held.max(0).mean())
    assert np.mean(shares) == pytest.approx(CHANCE, abs=0.003)
