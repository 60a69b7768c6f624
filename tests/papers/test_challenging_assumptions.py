"""The statements of the large study."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import spearmanr

from tests.papers.judging import verdicts
from unweave.papers import FINDINGS
from unweave.papers.challenging_assumptions import TRUST


def challenging_table(rng: np.random.Generator, method: float, seed: float) -> pd.DataFrame:
    rows = []
    for data in ("dsprites", "rooms3d"):
        for place, recipe in enumerate(("beta_vae", "factor_vae", "dip_vae_i")):
            for order, strength in enumerate((1.0, 2.0, 4.0)):
                for number in range(4):
                    row = {"state": "finished", "data": data, "recipe": recipe, "strength": strength, "seed": number}
                    score = method * place + seed * rng.normal()
                    row |= {"mig": score, "dci.disentanglement": score + 0.1 * rng.normal(), "seconds": 1.0}
                    row |= {"reconstruction_error": rng.normal(), "total_correlation": 1.0 + order}
                    rows.append(row | {"total_correlation_sampled": 3.0 - order})
    return pd.DataFrame(rows)


def test_challenging_assumptions_follows_the_variance() -> None:
    judge = FINDINGS["challenging-assumptions"].answer
    sentence = "Hyperparameters and seeds matter more than the method."
    assert verdicts(judge(challenging_table(np.random.default_rng(0), 0.01, 0.1)))[sentence] == "shown"
    assert verdicts(judge(challenging_table(np.random.default_rng(0), 1.0, 0.01)))[sentence] == "not shown"


def test_challenging_assumptions_reads_both_trends() -> None:
    judge = FINDINGS["challenging-assumptions"].answer
    table = challenging_table(np.random.default_rng(0), 0.01, 0.1)
    trends = [claim.verdict for claim in judge(table).claims[:2]]
    assert trends == ["shown", "shown"]
    swapped = table.rename(
        columns={"total_correlation": "total_correlation_sampled", "total_correlation_sampled": "total_correlation"}
    )
    assert [claim.verdict for claim in judge(swapped).claims[:2]] == ["not shown", "not shown"]


def test_only_the_metrics_of_the_paper_count() -> None:
    table = challenging_table(np.random.default_rng(0), 0.01, 0.1)
    table["dci.informativeness"] = -table["reconstruction_error"]
    answer = FINDINGS["challenging-assumptions"].answer(table)
    assert verdicts(answer)["No unsupervised score selects good models reliably."] == "shown"
    (part,) = (part for part in answer.parts if part.title == TRUST)
    assert set(part.measured["metric"]) == {"mig", "dci.disentanglement"}


def test_trust_is_the_mean_agreement_and_the_shares_of_the_variance() -> None:
    table = challenging_table(np.random.default_rng(0), 0.01, 0.1)
    answer = FINDINGS["challenging-assumptions"].answer(table)
    (part,) = (part for part in answer.parts if part.title == TRUST)
    trust = part.measured.set_index("metric")
    for data in ("dsprites", "rooms3d"):
        own = table[table["data"] == data]
        expected = own["mig"].rank().corr(own["dci.disentanglement"].rank())
        assert trust.loc["mig", f"agreement on {data}"] == pytest.approx(expected, abs=0.006)
    shares = trust.loc["mig", [f"variance by {source}" for source in ("objective", "hyperparameter", "seed")]]
    assert shares.sum() == pytest.approx(1, abs=0.02)


def test_trends_that_do_not_exist_are_not_trends() -> None:
    judge = FINDINGS["challenging-assumptions"].answer
    flat = challenging_table(np.random.default_rng(0), 0.01, 0.1).assign(total_correlation=0.0)
    assert judge(flat).claims[1].verdict == "not shown"  # a constant does not rise
    single = flat[flat["strength"] == 1.0]
    assert [claim.verdict for claim in judge(single).claims[:2]] == ["not tested", "not tested"]


@pytest.mark.parametrize(("low", "verdict"), [(0.1, "shown"), (9.0, "not shown")])
def test_the_exception_is_the_lowest_on_every_data_set(low: float, verdict: str) -> None:
    table = challenging_table(np.random.default_rng(0), 0.01, 0.1)
    table.loc[table["recipe"] == "dip_vae_i", "total_correlation"] = low
    found = verdicts(FINDINGS["challenging-assumptions"].answer(table))
    assert found["With the strongest setting dip_vae_i has the lowest total correlation of mean codes."] == verdict


def test_table_1_needs_two_data_sets_and_shows_all_four_cells() -> None:
    judge = FINDINGS["challenging-assumptions"].answer
    table = challenging_table(np.random.default_rng(0), 0.01, 0.1)
    table["mig"] = table["strength"]  # the strength decides, so that every selection works
    table["dci.disentanglement"] = table["strength"]
    cells = {claim.sentence: claim.verdict for claim in judge(table).claims if claim.sentence.startswith("Selecting")}
    assert list(cells.values()).count("shown") == 1
    assert cells["Selecting on the same metric and the same data set beats random selection clearly."] == "shown"
    single = judge(table[table["data"] == "dsprites"])
    assert [claim.verdict for claim in single.claims if "another data set" in claim.sentence] == ["not tested"] * 2
    assert verdicts(single)["No unsupervised score selects good models reliably."] == "not tested"
    part = single.parts[0]
    assert part.published is not None
    assert list(part.published.columns) == list(part.measured.columns[:3])


def test_scores_have_their_spread_over_seeds() -> None:
    table = challenging_table(np.random.default_rng(0), 0.01, 0.1)
    scores = FINDINGS["challenging-assumptions"].answer(table).parts[-1].measured
    group = table[(table["data"] == "rooms3d") & (table["recipe"] == "factor_vae") & (table["strength"] == 2.0)]
    row = scores[(scores["data"] == "rooms3d") & (scores["recipe"] == "factor_vae") & (scores["strength"] == 2.0)]
    assert row["mig"].item() == f"{group['mig'].mean():.3f} ± {group['mig'].std():.3f}"
    assert row["seeds"].item() == 4


DATA = ("dsprites", "color_dsprites", "rooms3d")
METRICS = ("beta_vae_score", "factor_vae_score", "mig", "dci.disentanglement", "modularity", "sap")
ACCURACIES = [f"downstream.{name}_{labels}" for name in ("logistic", "boosted") for labels in (10, 100, 1_000)]


def full_table() -> pd.DataFrame:
    """Return runs as the paper describes them: three metrics follow a quality, which two of the data sets share."""
    rng = np.random.default_rng(0)
    rows = []
    shared = {(recipe, order): rng.normal() for recipe in ("beta_vae", "factor_vae", "dip_vae_i") for order in range(3)}
    for data in DATA:
        for (recipe, order), common in shared.items():
            quality = common if data != "rooms3d" else rng.normal()
            for seed in range(4):
                row = {"data": data, "recipe": recipe, "strength": 1.0 + order, "seed": seed, "state": "finished"}
                own = quality + 0.1 * rng.normal()
                row |= {name: own + 0.05 * rng.normal() for name in METRICS[:3]}
                row |= {name: rng.normal() + (3 * quality if data != "rooms3d" else 0) for name in METRICS[3:]}
                row |= dict.fromkeys(ACCURACIES, 0.5 + 0.1 * own)
                row |= {"downstream.score": 0.5 + 0.1 * own, "reconstruction_error": rng.normal()}
                row |= {f"downstream.efficiency_{name}": rng.uniform() for name in ("logistic", "boosted")}
                falling = 3.0 - order if recipe == "beta_vae" else 1.5 + 0.1 * order
                rows.append(row | {"total_correlation": 5.0, "total_correlation_sampled": falling, "seconds": 1.0})
    return pd.DataFrame(rows)


@pytest.mark.parametrize(
    ("words", "change"),
    [
        ("(figure 4)", lambda t: t.assign(total_correlation=np.where(t["seed"] < 3, 0.1, 9.0))),
        ("factor_vae's sampled codes", lambda t: t.assign(total_correlation_sampled=9.0 - t["strength"])),
        ("The plain VAE", lambda t: t.assign(total_correlation_sampled=np.where(t["recipe"] == "beta_vae", 1.0, 2.0))),
        ("(section 5.3)", lambda t: t.assign(mig=np.random.default_rng(1).normal(size=len(t)), sap=t["modularity"])),
        ("(figure 10)", lambda t: t.assign(**dict.fromkeys(METRICS, t["strength"] + t["seed"] / 10))),
        ("(figure 12)", lambda t: t.assign(**{name: -t[name] for name in ACCURACIES})),
        (
            "(figures 13",
            lambda t: t.assign(**{f"downstream.efficiency_{n}": t["mig"] for n in ("logistic", "boosted")}),
        ),
    ],
)
def test_each_statement_is_shown_by_runs_as_the_paper_describes_them_and_not_by_others(words: str, change: Any) -> None:
    judge = FINDINGS["challenging-assumptions"].answer
    (claim,) = (claim for claim in judge(full_table()).claims if words in claim.sentence)
    assert claim.verdict == "shown", claim.evidence
    (claim,) = (claim for claim in judge(change(full_table())).claims if words in claim.sentence)
    assert claim.verdict == "not shown", claim.evidence


def test_figure_12_has_one_row_per_classifier_and_number_of_labels() -> None:
    table = full_table()
    answer = FINDINGS["challenging-assumptions"].answer(table)
    (part,) = (part for part in answer.parts if "figure 12" in part.title)
    assert set(part.measured["task"]) == set(ACCURACIES)
    own = table[table["data"] == "rooms3d"]
    row = part.measured.query("data == 'rooms3d' and metric == 'mig' and task == 'downstream.boosted_100'")
    assert row["correlation"].item() == pytest.approx(
        spearmanr(own["mig"], own["downstream.boosted_100"]).statistic, abs=0.006
    )


def test_what_the_stored_runs_did_not_measure_is_not_tested() -> None:
    stored = FINDINGS["challenging-assumptions"].stored()
    assert stored is not None
    lacking = stored.drop(columns=[name for name in stored if str(name).startswith("downstream")])
    lacking = lacking[lacking["data"] != "color_dsprites"]
    found = verdicts(FINDINGS["challenging-assumptions"].answer(lacking))
    untested = [claim for claim, verdict in found.items() if verdict == "not tested"]
    assert len(untested) == 3
    assert all("figure" in claim for claim in untested)


def test_models_that_are_one_run_are_said_to_tie() -> None:
    table = full_table()
    published = FINDINGS["challenging-assumptions"].answer(table.assign(run=range(len(table)))).parts[0].note
    assert published.startswith("Of the 12,600 models of the published grid, 350")  # 7 data sets × 50 seeds
    note = FINDINGS["challenging-assumptions"].answer(table.assign(run=[0, 0, *range(2, len(table))])).parts[0].note
    assert note.startswith("1 of the 108 models are the same run as another")


def test_runs_on_full_dsprites_are_shown_and_not_judged() -> None:
    table = full_table().assign(**{"data.orientation": 0.0, "tag": None})
    table.loc[table["data"] == "rooms3d", "data.orientation"] = np.nan
    judge = FINDINGS["challenging-assumptions"].answer
    alone = judge(table)
    full = table[(table["data"] == "dsprites") & (table["recipe"] == "beta_vae")].assign(mig=-9.0, tag="full dSprites")
    both = judge(pd.concat([table, full.assign(**{"data.orientation": np.nan})], ignore_index=True))
    assert verdicts(both) == verdicts(alone)
    assert verdicts(alone) == verdicts(judge(full_table()))
    (part,) = (part for part in both.parts if part.title == "Full dSprites")
    assert set(part.measured["mig"]) == {"-9.000 ± 0.000"}
    assert len(part.measured) == 3
