from __future__ import annotations

import itertools

import numpy as np
import pandas
import pytest

from tests.questions.tables import make_table, noise_table
from unweave.errors import InputError
from unweave.questions import beating_random
from unweave.questions.beating_random import draw_beating_random

METRICS = ["mig", "sap"]
CELLS = list(itertools.product(("same", "different"), repeat=2))


def _enumerate(table: pandas.DataFrame, seeds: str, opponent: str, tie: float, itself: bool) -> dict[object, float]:
    """Every draw of the procedure written out: seed, metric, data set, target, compared seed, random model."""
    score = {
        tuple(row[:4]): dict(zip(METRICS, row[4:], strict=True)) for row in table.itertuples(index=False, name=None)
    }
    data, numbers = sorted({key[0] for key in score}), sorted({key[3] for key in score})
    settings = sorted({key[1:3] for key in score})
    wins: dict[object, list[float]] = {cell: [] for cell in CELLS}
    for seed, metric, place in itertools.product(numbers, METRICS, data):
        reached = {s: score[(place, *s, seed)][metric] for s in settings}
        best = [s for s in settings if reached[s] == max(reached.values())]
        for target_metric, target in itertools.product(METRICS, data):
            cell = ("same" if target_metric == metric else "different", "same" if target == place else "different")
            draws = []
            for chosen, test_seed in itertools.product(best, numbers):
                if seeds == "different" and test_seed == seed:
                    continue
                own = score[(target, *chosen, test_seed)][target_metric]
                rivals = itertools.product(settings, [test_seed] if opponent == "same seed" else numbers)
                results = [
                    1.0 if own > other else tie if own == other else 0.0
                    for rival, rival_seed in rivals
                    if itself or (rival, rival_seed) != (chosen, test_seed)
                    for other in [score[(target, *rival, rival_seed)][target_metric]]
                ]
                draws.append(np.mean(results))
            wins[cell].append(float(np.mean(draws)))
    return {cell: float(np.mean(values)) for cell, values in wins.items()}


def _small() -> pandas.DataFrame:
    """Scores with many ties, and some effect of the setting."""

    def score(data: str, _r: str, strength: float, _n: int, g: np.random.Generator) -> dict[str, float]:
        lean = strength / 20 if data == "dsprites" else 0.0
        return {"mig": float(np.round(lean + g.normal(), 0)), "sap": float(np.round(g.normal(), 0))}

    return make_table(score, data=("dsprites", "cars3d", "norb"), seeds=3)


@pytest.mark.parametrize("seeds", ["different", "any"])
@pytest.mark.parametrize("opponent", ["same seed", "any seed"])
@pytest.mark.parametrize(("ties", "tie"), [("win", 1.0), ("half", 0.5), ("lose", 0.0)])
@pytest.mark.parametrize("itself", [True, False])
def test_every_reading_equals_the_enumeration_of_all_draws(
    seeds: str, opponent: str, ties: str, tie: float, itself: bool
) -> None:
    table = _small()
    result = beating_random(table, seeds=seeds, opponent=opponent, ties=ties, against_itself=itself)  # type: ignore[arg-type]
    expected = _enumerate(table, seeds, opponent, tie, itself)
    for row in result.itertuples():
        assert row.probability == pytest.approx(expected[row.metric, row.data], abs=1e-12)


def test_chance_of_36_settings_without_ties_is_not_one_half() -> None:
    g = np.random.default_rng(0)
    rows = [
        (data, f"recipe {number // 6}", number % 6, seed, g.normal(), g.normal())
        for data, number, seed in itertools.product(("a", "b"), range(36), range(4))
    ]
    table = pandas.DataFrame(rows, columns=["data", "recipe", "strength", "seed", *METRICS])
    assert beating_random(table)["chance"].tolist() == pytest.approx([0.5 + 1 / 72] * 4)  # 51.39 %
    fair = beating_random(table, ties="half", against_itself=False)
    assert fair["chance"].tolist() == pytest.approx([0.5] * 4)
    assert (fair["probability"] - 0.5).abs().max() < 0.1  # noise does not transfer


def test_a_setting_that_is_always_best_always_wins() -> None:
    def score(_d: str, recipe: str, strength: float, _n: int, _g: np.random.Generator) -> dict[str, float]:
        return {"mig": strength + len(recipe) / 100, "total_correlation": -strength - len(recipe) / 100}

    table = make_table(score)
    result = beating_random(table, metrics=["mig", "total_correlation"])  # total correlation is better when lower
    assert result["probability"].tolist() == pytest.approx([1.0] * 4)
    assert beating_random(table, ties="lose")["probability"].iloc[0] == pytest.approx(8 / 9)  # a tie with itself


def test_failed_runs_are_left_out_and_cells_without_a_second_metric_or_data_set_are_nan() -> None:
    table = _small().reset_index(drop=True)
    table.loc[0, "mig"] = np.nan
    assert beating_random(table).notna().all(axis=None)
    one = beating_random(table[table["data"] == "norb"], metrics=["mig"]).set_index(["metric", "data"])["probability"]
    assert one.notna().tolist() == [True, False, False, False]


def test_what_cannot_be_compared_is_refused() -> None:
    with pytest.raises(InputError, match="beating_random: needs at least two seeds"):
        beating_random(noise_table("mig", seeds=1))
    with pytest.raises(InputError, match="at least two settings that were trained on every data set"):
        beating_random(noise_table("mig").query("recipe == 'beta_vae' and strength == 1"))
    with pytest.raises(InputError, match="ties must be 'win', 'half' or 'lose', got 'draw'"):
        beating_random(noise_table("mig"), ties="draw")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="seeds must be 'different' or 'any'"):
        beating_random(noise_table("mig"), seeds="same")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="opponent must be 'same seed' or 'any seed'"):
        beating_random(noise_table("mig"), opponent="any")  # type: ignore[arg-type]


def test_the_four_cells_are_those_of_table_1() -> None:
    rows = [("same", "same", 0.773), ("same", "different", 0.55), ("different", "same", 0.518)]
    rows += [("different", "different", np.nan)]
    result = pandas.DataFrame(rows, columns=["metric", "data", "probability"]).assign(chance=0.5139)
    panel = draw_beating_random(result).axes[0]
    texts = [text.get_text().split("\n")[0] for text in panel.texts]
    assert texts == ["–", "51.8%", "55.0%", "77.3%"]  # the paper's order
    assert panel.texts[3].get_text().endswith("chance 51.4%")
    assert [tick.get_text() for tick in panel.get_yticklabels()] == ["different metric", "same metric"]
