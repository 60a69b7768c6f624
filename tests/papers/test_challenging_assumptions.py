"""The statements of the large study."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

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
