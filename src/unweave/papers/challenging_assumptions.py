"""Sections 5.2 to 5.5 of Locatello et al. 2019, from the table of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import extra
from unweave.papers.collecting import collect, finite
from unweave.papers.drawing import of_table
from unweave.papers.finding import Answer, Claim, Finding, Part
from unweave.papers.summaries import finished

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
PUBLISHED = {  # Table 1, in percent
    ("different", "different"): 51.9,
    ("different", "same"): 51.8,
    ("same", "different"): 55.0,
    ("same", "same"): 77.3,
}


def answer(table: pandas.DataFrame) -> Answer:
    """Apply the analyses of the study stage, and judge the paper's statements by their results."""
    from unweave.study import analyses

    pandas = extra("pandas", "study")
    runs = finished(table)
    correlation = analyses.total_correlation_by_strength(runs)
    variance = analyses.variance_explained(runs)
    agreement = analyses.metric_agreement(runs)
    unsupervised = analyses.unsupervised_agreement(runs)
    beating = analyses.beating_random(runs)
    published = pandas.DataFrame(
        [{"metric": metric, "data": data, "percent": value} for (metric, data), value in PUBLISHED.items()]
    )
    return Answer(
        [
            *_factorisation(runs),
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
        ],
    )


def metric_trust(agreement: pandas.DataFrame, variance: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row per metric: its mean rank correlation with the others by data set, and shares of its variance."""
    others = agreement[agreement["metric"] != agreement["other"]]
    correlations = others.pivot_table("correlation", "metric", "data", sort=False)
    shares = variance.pivot_table("explained", "metric", "source", sort=False)
    table = correlations.add_prefix("agreement on ").join(shares.add_prefix("variance by "))
    return table.round(2).reset_index()


def _factorisation(runs: pandas.DataFrame) -> list[Claim]:
    """Judge figures 2 and 3: the trend of both total correlations from the weakest to the strongest regularisation."""
    from unweave.study.analyses import total_correlation_by_strength

    claims = []
    medians = total_correlation_by_strength(runs)
    for codes, methods, word in (("sampled", FALLS, "falls"), ("mean", RISES, "rises")):
        trends = {}
        for (recipe, data), group in medians[medians["codes"] == codes].groupby(["recipe", "data"]):
            if recipe in methods:
                ordered = group.sort_values("order")["median"].to_numpy(float)
                trends[f"{recipe} on {data}"] = ordered[-1] - ordered[0]
        agree = [name for name, trend in trends.items() if (trend < 0) == (word == "falls")]
        others = [name for name in trends if name not in agree]
        evidence = f"It {word} from the weakest to the strongest setting for {len(agree)} of {len(trends)} pairs of "
        evidence += f"method and data set{', not for ' + ', '.join(others) if others else ''}."
        named = f"{', '.join(methods[:-1])} and {methods[-1]}"
        sentence = f"The total correlation of {codes} codes {word} with the strength of the regularisation for {named}."
        claims.append(Claim(sentence, len(agree) == len(trends) if trends else None, evidence))
    return claims


def _variance(variance: pandas.DataFrame) -> Claim:
    shares = variance.groupby("source")["explained"].mean()
    objective, rest = float(shares.get("objective", 0.0)), float(shares.drop("objective", errors="ignore").sum())
    evidence = ", ".join(f"{source} {share:.0%}" for source, share in shares.items())
    return Claim(
        "Hyperparameters and seeds matter more than the method.",
        rest > objective,
        f"Share of the variance of the scores, averaged over metrics and data sets: {evidence}.",
    )


def _agreement(agreement: pandas.DataFrame) -> Claim:
    pairs = agreement[agreement["metric"] < agreement["other"]]
    values = finite(pairs["correlation"])
    positive = float((values > 0).mean())
    return Claim(
        "Metrics agree in part: most pairs correlate positively, not all strongly.",
        bool(positive > 0.5 and values.min() < 0.8),
        f"Rank correlations from {values.min():.2f} to {values.max():.2f}, "
        f"median {float(np.median(values)):.2f}; {positive:.0%} are positive.",
    )


def _selection(unsupervised: pandas.DataFrame) -> Claim:
    consistent = []
    for (score, metric), group in unsupervised.groupby(["score", "metric"]):
        values = finite(group["correlation"])
        if len(values) > 1 and abs(values).min() > 0.5 and len({value > 0 for value in values}) == 1:
            consistent.append(f"{score} with {metric}")
    return Claim(
        "No unsupervised score selects good models reliably.",
        not consistent,
        "Pairs with a rank correlation above 0.5 in size and of one sign on every data set: "
        + (", ".join(consistent) if consistent else "none")
        + ".",
    )


def _beating(beating: pandas.DataFrame) -> list[Claim]:
    cells = {(row.metric, row.data): (row.probability, row.chance) for row in beating.itertuples()}
    same, other = cells[("same", "same")], cells[("different", "different")]
    return [
        Claim(
            "Selecting on the same metric and data set beats random selection clearly.",
            bool(same[0] > same[1] + 0.1),
            f"{same[0]:.1%} (chance {same[1]:.1%}).",
        ),
        Claim(
            "Selecting on another metric and data set barely beats it.",
            bool(other[0] < other[1] + 0.1),
            f"{other[0]:.1%} (chance {other[1]:.1%}).",
        ),
    ]


FINDING = Finding(
    "challenging-assumptions",
    "Locatello et al. 2019, sections 5.2 to 5.5",
    "Hyperparameters and seeds matter more than the method, and good models cannot be selected without labels.",
    answer,
    collect,
    {"lite": "challenging-lite", "paper": "challenging"},
    setting="At the lite scale: drawn dSprites and rooms3d at 32 × 32 with a quarter of the channels, 4,000 steps of "
    "64 at a learning rate of 2e-3, three strengths of each method, three seeds. Weights in units of a sum over "
    "pixels are a quarter of the published ones, because there are a quarter of the pixels. The net and the learning "
    "rate were chosen by the reconstructions of a plain autoencoder alone: after 2,500 steps they are nearer to their "
    "image than to an image with another value of a factor in at least 83 % of cases for each factor, except the "
    "orientation of the object of rooms3d (53 %), which nets of this size do not reconstruct after 6,000 steps "
    "either. A learning rate of 1e-3 does not suffice for rooms3d.",
    figures=(
        of_table("total_correlation_by_strength", "Total correlation against strength (figures 2, 3, 15 and 16)."),
        of_table("score_ranges", "Ranges of the scores of each method (figure 7)."),
        of_table("scores_by_strength", "Scores against strength (figure 8)."),
        of_table("metric_agreement", "Rank correlation of metrics (figure 6)."),
        of_table("unsupervised_agreement", "Rank correlation of unsupervised scores with metrics (figure 9)."),
        of_table("beating_random", "Probability of beating random selection (Table 1)."),
    ),
)
