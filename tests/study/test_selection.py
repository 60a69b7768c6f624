from __future__ import annotations

import pytest

from unweave.errors import InputError
from unweave.study.selection import select
from unweave.study.spec import Ablation, Selection
from unweave.study.table import Row


def row(recipe: str, beta: float, seed: int, mig: float | None, state: str = "finished") -> Row:
    scores = {} if mig is None else {"mig": mig}
    return Row(f"{recipe}{beta}{seed}", {"recipe": recipe, "beta": beta, "seed": seed}, state, scores=scores)


ROWS = [
    row("a", 1, 0, 0.9),
    row("a", 1, 1, 0.0),
    row("a", 1, 2, 0.0),
    row("a", 2, 0, 0.2),
    row("a", 2, 1, 0.25),
    row("a", 2, 2, 0.2),
    row("b", 1, 0, 0.1),
    row("b", 2, 0, None, state="failed"),
]


def test_the_best_mean_or_median_of_each_group_is_chosen() -> None:
    mean = Selection(by="mig", per=("recipe",), seeds=(9,))
    assert select(mean, ROWS) == [{"recipe": "a", "beta": 1}, {"recipe": "b", "beta": 1}]
    median = mean.model_copy(update={"over_seeds": "median"})
    assert select(median, ROWS)[0] == {"recipe": "a", "beta": 2}
    lowest = mean.model_copy(update={"best": "lowest"})
    assert select(lowest, ROWS)[0] == {"recipe": "a", "beta": 2}


def test_an_ablation_takes_the_choice_of_another_recipe() -> None:
    rule = Selection(by="mig", per=("recipe",), seeds=(9,), ablations={"c": Ablation(of="a", without=("beta",))})
    chosen = select(rule, ROWS)
    assert rule.ablated(chosen) == [{"recipe": "c"}]
    assert rule.ablated([*chosen, {"recipe": "a", "beta": 3, "data": "d"}])[1] == {"recipe": "c", "data": "d"}


def test_a_score_that_no_run_has_is_a_sentence() -> None:
    with pytest.raises(InputError, match=r"\[select\] by dci: run a10 has no such score, it has \['mig'\]"):
        select(Selection(by="dci", seeds=(9,)), ROWS)
