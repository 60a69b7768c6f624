from __future__ import annotations

import numpy as np
import pytest
from matplotlib.collections import LineCollection

from tests.questions.tables import make_table, noise_table, study_table
from unweave.errors import InputError
from unweave.questions import picked_by_udr
from unweave.questions.picked_by_udr import draw_picked_by_udr, pick_weights


def test_pick_mean_best_and_the_chance_to_beat_a_random_run() -> None:
    table = study_table()
    for row in picked_by_udr(table, metrics=["mig"]).itertuples():
        group = table[(table["data"] == row.data) & (table["recipe"] == row.recipe)]
        scores = group["mig"].tolist()
        picked = max(zip(group["udr"], scores, strict=True))[1]
        below = sum(picked > score for score in scores)
        mean = sum(scores) / 15
        assert (row.picked, row.mean, row.best) == pytest.approx((picked, mean, max(scores)))
        assert row.regained == pytest.approx((picked - mean) / (max(scores) - mean))
        assert row.beats == pytest.approx(below / 14)


def test_a_rule_that_knows_the_score_picks_the_best_and_a_constant_one_picks_at_random() -> None:
    table = noise_table("mig").assign(udr=lambda t: t["mig"])
    knowing = picked_by_udr(table)
    assert (knowing["regained"] == 1).all()
    assert (knowing["beats"] == 1).all()
    random = picked_by_udr(table.assign(udr=0.5))
    np.testing.assert_allclose(random["picked"], random["mean"])
    np.testing.assert_allclose(random["regained"], 0, atol=1e-12)
    np.testing.assert_allclose(random["beats"], 0.5)


def test_top_runs_are_averaged_and_lower_is_better_where_the_catalogue_says_so() -> None:
    def score(_d: str, _r: str, strength: float, seed: int, _g: np.random.Generator) -> dict[str, float]:
        return {"total_correlation": strength + seed / 10, "udr": -strength - seed / 10, "elbo": 0.0}

    result = picked_by_udr(make_table(score), metrics=["total_correlation"], per=("data",), top=2)
    assert result["best"].tolist() == [1.0, 1.0]
    assert result["picked"].tolist() == [1.0, 1.0]  # beta_vae and dip_vae_i with strength 1 and seed 0
    constant = picked_by_udr(make_table(score), rule="elbo", metrics=["total_correlation"])
    assert constant["beats"].tolist() == pytest.approx([0.5] * 6)


def test_ties_share_the_last_place() -> None:
    assert pick_weights(np.array([1.0, 3.0, 3.0, 3.0, 5.0]), 2).tolist() == pytest.approx([0, 1 / 6, 1 / 6, 1 / 6, 0.5])
    assert pick_weights(np.array([1.0, 2.0]), 9).tolist() == [0.5, 0.5]


def test_equal_scores_leave_nothing_to_regain() -> None:
    result = picked_by_udr(noise_table("udr").assign(mig=0.3))
    assert result["regained"].isna().all()
    assert (result["beats"] == 0.5).all()


def test_udr_and_two_runs_are_needed() -> None:
    with pytest.raises(InputError, match="picked_by_udr: the table lacks the column 'udr'"):
        picked_by_udr(noise_table("mig"))
    with pytest.raises(InputError, match="picked_by_udr: needs at least two runs to choose from"):
        picked_by_udr(noise_table("mig", "udr", seeds=1).query("strength in (1, 5) and recipe != 'dip_vae_i'"))
    with pytest.raises(InputError, match="the rule 'sap' uses labels"):
        picked_by_udr(study_table(), rule="sap")


def test_mean_pick_and_best_are_drawn_for_each_group() -> None:
    result = picked_by_udr(study_table(), metrics=["mig", "sap"])
    figure = draw_picked_by_udr(result)
    rows = result[result["metric"] == "sap"]
    (reach,) = figure.axes[1].collections
    assert isinstance(reach, LineCollection)
    assert [segment[:, 0].tolist() for segment in reach.get_segments()] == rows[["mean", "best"]].to_numpy().tolist()
    for line, kind in zip(figure.axes[1].lines, ("mean", "picked", "best"), strict=True):
        assert np.asarray(line.get_xdata()).tolist() == rows[kind].tolist()
        assert np.asarray(line.get_ydata()).tolist() == list(range(len(rows)))
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert labels[0] == "dSprites, β-VAE"


def test_groups_may_be_data_sets() -> None:
    figure = draw_picked_by_udr(picked_by_udr(study_table(), metrics=["mig"], per=("data",)))
    assert len(figure.axes[0].get_yticklabels()) == 3


@pytest.mark.parametrize(("rule", "entry"), [("udr", "picked by UDR"), ("elbo", "picked by ELBO")])
def test_the_legend_names_the_rule(rule: str, entry: str) -> None:
    result = picked_by_udr(study_table().assign(elbo=0.5), rule=rule, metrics=["mig"])
    assert set(result["rule"]) == {rule}
    (legend,) = draw_picked_by_udr(result).legends
    assert [text.get_text() for text in legend.get_texts()] == ["mean", entry, "best"]
