"""Sections 5.2 to 5.5 of Locatello et al. 2019, from the table of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import extra
from unweave.papers.finding import Answer, Claim, Finding, Part
from unweave.papers.results import collect, finished, finite, of_table, over_seeds
from unweave.study.columns import choose_metrics, with_disentanglement
from unweave.study.spec import read_spec

if TYPE_CHECKING:
    import pandas

TRUST = "How far each metric can be trusted"
FALLS = (
    "beta_vae",
    "beta_tcvae",
    "dip_vae_i",
    "dip_vae_ii",
)  # whose sampled codes the paper sees factorise with strength
RISES = ("beta_vae", "beta_tcvae", "factor_vae")  # whose mean codes it sees become more dependent
LOW = "dip_vae_i"  # whose mean codes stay factorised
PUBLISHED = {  # Table 1
    ("different", "different"): 0.519,
    ("different", "same"): 0.518,
    ("same", "different"): 0.550,
    ("same", "same"): 0.773,
}
CLEARLY = 0.1  # above the probability of a random choice


def answer(table: pandas.DataFrame) -> Answer:
    """Ask the questions of the paper, and judge its statements by the answers."""
    from unweave import questions

    pandas = extra("pandas", "study")
    runs = of_paper(table)
    correlation = questions.total_correlation_by_strength(runs)
    variance = questions.variance_explained(runs)
    agreement = questions.metric_agreement(runs)
    unsupervised = questions.unsupervised_agreement(runs)
    beating = questions.beating_random(runs)
    published = pandas.DataFrame(
        [{"metric": metric, "data": data, "probability": value} for (metric, data), value in PUBLISHED.items()]
    )
    scores = choose_metrics("challenging-assumptions", runs, None)
    return Answer(
        [
            *_factorisation(correlation),
            _stays_low(correlation),
            _variance(variance),
            _agreement(agreement),
            _selection(unsupervised),
            *_beating(beating),
        ],
        [
            Part("Probability of beating random selection (Table 1)", beating.round(3), published),
            Part("Total correlation against strength (figures 2, 3, 15, 16)", correlation.round(3)),
            Part(
                TRUST,
                metric_trust(agreement, variance),
                note="The mean rank correlation of each metric with the others over the models of a data set, and what "
                "explains the variance of its scores, as means over data sets.",
            ),
            Part("Variance explained", variance.round(3)),
            Part("Rank correlation of metrics (figure 6)", agreement.round(2)),
            Part("Unsupervised scores against metrics (figure 9)", unsupervised.round(2)),
            Part(
                "Scores of each method and strength (figures 7 and 8)",
                over_seeds(runs, ["data", "recipe", "strength"], scores),
                note="Means and standard deviations over seeds. The paper shows plots and gives no numbers.",
            ),
        ],
    )


def of_paper(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs, compared by the paper's six metrics: informativeness follows the reconstructions."""
    return with_disentanglement(finished(table), read_spec("challenging-assumptions/paper").disentanglement)


def metric_trust(agreement: pandas.DataFrame, variance: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row per metric: its mean rank correlation with the others by data set, and shares of its variance."""
    others = agreement[agreement["metric"] != agreement["other"]]
    correlations = others.pivot_table("correlation", "metric", "data", sort=False)
    shares = variance.pivot_table("explained", "metric", "source", sort=False)
    table = correlations.add_prefix("agreement on ").join(shares.add_prefix("variance by "))
    return table.round(2).reset_index()


def _factorisation(correlation: pandas.DataFrame) -> list[Claim]:
    """Judge figures 2 and 3: the trend of both total correlations from the weakest to the strongest regularisation."""
    claims = []
    for codes, methods, word in (("sampled", FALLS, "falls"), ("mean", RISES, "rises")):
        trends = {}
        for (recipe, data), group in correlation[correlation["codes"] == codes].groupby(["recipe", "data"]):
            medians = finite(group.sort_values("order")["median"])
            if recipe in methods and len(medians) > 1:
                trends[f"{recipe} on {data}"] = medians[-1] - medians[0]
        agree = [name for name, trend in trends.items() if (trend < 0 if word == "falls" else trend > 0)]
        others = [name for name in trends if name not in agree]
        evidence = f"It {word} from the weakest to the strongest setting for {len(agree)} of {len(trends)} pairs of "
        evidence += f"method and data set{', not for ' + ', '.join(others) if others else ''}."
        named = f"{', '.join(methods[:-1])} and {methods[-1]}"
        sentence = f"The total correlation of {codes} codes {word} with the strength of the regularisation for {named}."
        claims.append(Claim(sentence, len(agree) == len(trends) if trends else None, evidence))
    return claims


def _stays_low(correlation: pandas.DataFrame) -> Claim:
    """Judge the exception of figure 3: DIP-VAE-I, which penalises the covariance of the mean codes itself."""
    strongest = correlation[correlation["codes"] == "mean"].sort_values("order").groupby(["data", "recipe"]).tail(1)
    wins, texts = [], []
    for data, group in strongest.dropna(subset="median").groupby("data"):
        medians = group.set_index("recipe")["median"]
        if LOW in medians and len(medians) > 1:
            others = medians.drop(LOW)
            wins.append(bool(medians[LOW] < others.min()))
            texts.append(f"{data}: {medians[LOW]:.3f}, the lowest other is {others.min():.3f} ({others.idxmin()})")
    evidence = f"{'; '.join(texts)}. Shown if it is the lowest of all methods on every data set."
    return Claim(
        f"With the strongest setting {LOW} has the lowest total correlation of mean codes.",
        all(wins) if wins else None,
        evidence if wins else "There are no runs to compare.",
    )


def _variance(variance: pandas.DataFrame) -> Claim:
    sentence = "Hyperparameters and seeds matter more than the method."
    shares = variance.groupby("source", sort=False)["explained"].mean()
    if shares.isna().any():
        return Claim(sentence, None, "The scores do not vary, or there are no more runs than settings.")
    evidence = ", ".join(f"{source} {share:.0%}" for source, share in shares.items())
    return Claim(
        sentence,
        bool(shares.drop("objective").sum() > shares["objective"]),
        f"Share of the variance of the scores, averaged over metrics and data sets: {evidence}.",
    )


def _agreement(agreement: pandas.DataFrame) -> Claim:
    sentence = "Metrics agree in part: most pairs correlate positively, not all strongly."
    pairs = agreement[agreement["metric"] < agreement["other"]]
    values = finite(pairs["correlation"])
    if not len(values):
        return Claim(sentence, None, "No rank correlation is defined.")
    positive = float((values > 0).mean())
    return Claim(
        sentence,
        bool(positive > 0.5 and values.min() < 0.8),
        f"Rank correlations from {values.min():.2f} to {values.max():.2f}, "
        f"median {float(np.median(values)):.2f}; {positive:.0%} are positive. Shown if more than half are positive and "
        "one is below 0.8.",
    )


def _selection(unsupervised: pandas.DataFrame) -> Claim:
    sentence = "No unsupervised score selects good models reliably."
    if unsupervised["data"].nunique() < 2:
        return Claim(sentence, None, "There is a single data set.")
    consistent = []
    for (score, metric), group in unsupervised.groupby(["score", "metric"]):
        values = finite(group["correlation"])
        if len(values) > 1 and abs(values).min() > 0.5 and len({value > 0 for value in values}) == 1:
            consistent.append(f"{score} with {metric}")
    return Claim(
        sentence,
        not consistent,
        "Pairs with a rank correlation above 0.5 in size and of one sign on every data set: "
        + (", ".join(consistent) if consistent else "none")
        + ".",
    )


def _beating(beating: pandas.DataFrame) -> list[Claim]:
    """Judge the four cells of Table 1: only the selection on the same metric and data set is clearly better."""
    claims = []
    for row in beating.itertuples():
        same = (row.metric, row.data) == ("same", "same")
        where = f"{'the same' if row.metric == 'same' else 'another'} metric and "
        where += f"{'the same' if row.data == 'same' else 'another'} data set"
        sentence = f"Selecting on {where} {'beats random selection clearly' if same else 'barely beats it'}."
        if row.probability != row.probability:
            claims.append(Claim(sentence, None, "There are not enough metrics or data sets."))
            continue
        clearly = bool(row.probability > row.chance + CLEARLY)
        evidence = f"{row.probability:.1%} (chance {row.chance:.1%}). Clearly means at least "
        claims.append(Claim(sentence, clearly == same, f"{evidence}{CLEARLY * 100:.0f} percentage points more."))
    return claims


FINDING = Finding(
    "challenging-assumptions",
    "Locatello et al. 2019, sections 5.2 to 5.5",
    "Hyperparameters and seeds matter more than the method, and good models cannot be selected without labels.",
    answer,
    collect,
    figures=(
        of_table(
            "total_correlation_by_strength", "Total correlation against strength (figures 2, 3, 15 and 16).", of_paper
        ),
        of_table("score_ranges", "Ranges of the scores of each method (figure 7).", of_paper),
        of_table("scores_by_strength", "Scores against strength (figure 8).", of_paper),
        of_table("metric_agreement", "Rank correlation of metrics (figure 6).", of_paper),
        of_table(
            "unsupervised_agreement", "Rank correlation of unsupervised scores with metrics (figure 9).", of_paper
        ),
        of_table("beating_random", "Probability of beating random selection (Table 1).", of_paper),
    ),
)
