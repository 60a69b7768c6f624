"""Sections 5.2 to 5.6 of Locatello et al. 2019, from the table of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.errors import extra
from unweave.names import listed
from unweave.papers.evidence import (
    add_progress,
    collect,
    draw_progress,
    finished,
    finite,
    of_table,
    over_seeds,
    scored_as_in,
)
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.questions.total_correlation_by_strength import MEAN, SAMPLED
from unweave.study.columns import choose_metrics, with_disentanglement, with_named_data
from unweave.study.spec import read_spec

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

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
TRIO = ("beta_vae_score", "factor_vae_score", "mig")  # the metrics that the paper sees agree
ISOLATING = ("dci.disentanglement", "modularity")  # which leave informativeness out
ALIKE = {"dsprites", "color_dsprites"}  # the data sets between which settings transfer
APART = "full dSprites"  # the tag of runs that are shown and not judged
DURING = ("mig", "dci.disentanglement", "psnr")  # what is also measured during training
EXCEPTION = "smallnorb"  # where the plain VAE does not have the highest total correlation
LEFT_OUT = "annealed_vae"  # of figure 2
AGREES = 0.5  # rank correlation
GRID_TIES = (
    "Of the 12,600 models of the published grid, 350 are the same run as another here, because β-VAE and β-TCVAE with "
    "β = 1 have one loss. They tie in every score; the authors trained both."
)
CLEARLY = 0.1  # above the probability of a random choice


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study, with some scores of the runs of its first seed during training."""
    assert study is not None
    measured = scored_as_in(study, ("mig", "dci", "psnr"), DURING)
    return add_progress(collect(study), study.runs(lambda row: row.settings["seed"] == 0), measured)


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
    transfer = questions.transfer_between_data(runs) if runs["data"].nunique() > 1 else None
    measured = "downstream.score" in runs and runs["downstream.score"].notna().any()
    accuracy = questions.downstream_agreement(runs) if measured else None
    efficiency = questions.statistical_efficiency(runs) if measured else None
    published = pandas.DataFrame(
        [{"metric": metric, "data": data, "probability": value} for (metric, data), value in PUBLISHED.items()]
    )
    scores = choose_metrics("challenging-assumptions", runs, None)
    return Answer(
        [
            *_factorisation(correlation),
            _stays_low(correlation),
            *_sampled_codes(correlation),
            _higher_in_means(runs),
            _variance(variance),
            _agreement(agreement),
            _selection(unsupervised),
            *_beating(beating),
            _transfer(transfer),
            *_usefulness(accuracy, efficiency),
        ],
        [
            Part("Probability of beating random selection (Table 1)", beating.round(3), published, note=_ties(runs)),
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
            *_more_parts(transfer, accuracy, efficiency),
            *_parts_apart(table, scores),
            Part(
                "Scores of each method and strength (figures 7 and 8)",
                over_seeds(runs, ["data", "recipe", "strength"], scores),
                note="Means and standard deviations over seeds. The paper shows plots and gives no numbers.",
            ),
        ],
    )


def _ties(runs: pandas.DataFrame) -> str:
    """Return how many models, of the table or of the published grid, are the same run under two names."""
    twice = int(runs["run"].duplicated().sum()) if "run" in runs else 0
    if not twice:
        return GRID_TIES
    return (
        f"{twice} of the {len(runs)} models are the same run as another: with β = 1, β-VAE and β-TCVAE have one loss. "
        "They tie in every score, and a tie counts as a success, as in the text of the paper. The authors trained both."
    )


def _more_parts(
    transfer: pandas.DataFrame | None, accuracy: pandas.DataFrame | None, efficiency: pandas.DataFrame | None
) -> list[Part]:
    titles = (
        "Rank correlation between data sets (figure 10)",
        "Rank correlation of metrics with downstream accuracy (figure 12)",
        "Rank correlation of metrics with statistical efficiency (figures 13 and 14)",
    )
    frames = zip(titles, (transfer, accuracy, efficiency), strict=True)
    return [Part(title, frame.round(2)) for title, frame in frames if frame is not None]


def of_paper(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs, compared by the paper's six metrics: informativeness follows the reconstructions."""
    runs = with_named_data(finished(table))
    runs = runs[runs["tag"] != APART] if "tag" in runs else runs
    return with_disentanglement(runs, read_spec("challenging-assumptions/paper").disentanglement)


def _parts_apart(table: pandas.DataFrame, scores: list[str]) -> list[Part]:
    """Return the scores of the runs that are not judged, if there are any."""
    if "tag" not in table or not len(runs := finished(table[table["tag"] == APART])):
        return []
    note = "β-VAE on dSprites with all orientations, with three times the steps. No claim is judged by these runs."
    return [Part("Full dSprites", over_seeds(runs, ["data", "recipe", "strength"], scores), note=note)]


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
        named = listed(methods)
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


def _higher_in_means(runs: pandas.DataFrame) -> Claim:
    """Judge figure 4: for a large number of models, mean codes depend on each other more than sampled ones."""
    sentence = "In most models the mean codes have a higher total correlation than the sampled codes (figure 4)."
    if not {MEAN, SAMPLED} <= {*runs}:
        return Claim(sentence, None, "Total correlations were not measured.")
    shares = {str(data): float((group[MEAN] > group[SAMPLED]).mean()) for data, group in runs.groupby("data")}
    evidence = ", ".join(f"{data} {share:.0%}" for data, share in shares.items())
    rule = "Shown if it is more than half of the models on every data set."
    return Claim(sentence, min(shares.values()) > 0.5 if shares else None, f"Share of models: {evidence}. {rule}")


def _sampled_codes(correlation: pandas.DataFrame) -> list[Claim]:
    """Judge section 5.2: FactorVAE's sampled total correlation does not fall, and the plain VAE has the highest."""
    falling = "The total correlation of factor_vae's sampled codes does not fall with its strength (section 5.2)."
    highest = "The plain VAE has the highest total correlation of sampled codes (section 5.2)."
    sampled = correlation[(correlation["codes"] == "sampled") & (correlation["recipe"] != LEFT_OUT)].dropna(
        subset="median"
    )
    trends, wins, texts = {}, [], []
    for data, group in sampled.groupby("data"):
        own = group[group["recipe"] == "factor_vae"].sort_values("order")["median"].to_numpy()
        if len(own) > 1:
            trends[str(data)] = float(own[-1] - own[0])
        plain = group[group["recipe"] == "beta_vae"].sort_values("order")["median"].to_numpy()
        if len(plain) and group["recipe"].nunique() > 1:
            highest_other = max([group[group["recipe"] != "beta_vae"]["median"].max(), *plain[1:]])
            texts.append(f"{data}: {plain[0]:.3f}, the highest other is {highest_other:.3f}")
            wins += [bool(plain[0] >= highest_other)] if data != EXCEPTION else []
    changes = ", ".join(f"{data} {change:+.3f}" for data, change in trends.items())
    stays = sum(change >= 0 for change in trends.values())
    return [
        Claim(
            falling,
            2 * stays >= len(trends) if trends else None,
            f"Change from the weakest to the strongest setting: {changes}. Shown if it does not fall on at least half "
            "of the data sets."
            if trends
            else "There are no runs to compare.",
        ),
        Claim(
            highest,
            all(wins) if wins else None,
            f"The weakest β-VAE: {'; '.join(texts)}. Shown if none is higher on any data set but Small NORB, without "
            "AnnealedVAE, which figure 2 leaves out."
            if wins
            else "There are no runs to compare.",
        ),
    ]


def _agreement(agreement: pandas.DataFrame) -> Claim:
    """Judge section 5.3: only three metrics are substantially correlated."""
    sentence = (
        "The BetaVAE score, the FactorVAE score and MIG agree among themselves, other metrics less (section 5.3)."
    )
    pairs = agreement[agreement["metric"] < agreement["other"]].dropna(subset="correlation")
    inside = pairs["metric"].isin(TRIO) & pairs["other"].isin(TRIO)
    wins, texts = [], []
    for data, group in pairs.groupby("data"):
        among, others = group[inside.loc[group.index]]["correlation"], group[~inside.loc[group.index]]["correlation"]
        if len(among) == 3 and len(others):
            wins.append(bool(among.mean() > max(0, others.mean())))
            texts.append(f"{data}: {among.mean():.2f} against {others.mean():.2f}")
    evidence = (
        f"Mean rank correlations, {'; '.join(texts)}. Shown if the first is positive and higher on every data set."
    )
    return Claim(sentence, all(wins) if wins else None, evidence if wins else "The three metrics were not measured.")


def _transfer(transfer: pandas.DataFrame | None) -> Claim:
    """Judge figures 10 and 11: settings transfer between dSprites and Color-dSprites only."""
    sentence = (
        "Good settings transfer between dSprites and Color-dSprites, and less between other data sets (figure 10)."
    )
    alike = [] if transfer is None else sorted(name for name in transfer["data"].unique() if _base(name) in ALIKE)
    if transfer is None or {_base(name) for name in alike} != ALIKE or transfer["data"].nunique() < 3:
        return Claim(sentence, None, "There are no runs on Color-dSprites, dSprites and another data set.")
    pairs = transfer[transfer["data"] < transfer["other"]]
    means = pairs.groupby(["data", "other"])["correlation"].mean()
    own, others = float(means[tuple(alike)]), means.drop(tuple(alike))
    text = ", ".join(f"{one} and {other} {value:.2f}" for (one, other), value in others.items())
    return Claim(
        sentence,
        bool(own > AGREES and own > others.max()),
        f"Mean rank correlation over metrics: {' and '.join(alike)} {own:.2f}; {text}. Shown if the first is "
        f"above {AGREES} and the highest.",
    )


def _base(data: str) -> str:
    """Return the name of a data set without its options."""
    return data.partition(",")[0]


def _usefulness(accuracy: pandas.DataFrame | None, efficiency: pandas.DataFrame | None) -> list[Claim]:
    """Judge section 5.6: accuracy follows three metrics, and efficiency none."""
    first = "Downstream accuracy follows the three metrics more than DCI disentanglement and modularity (figure 12)."
    second = "No metric goes with statistical efficiency: higher scores do not mean fewer labels (figures 13 and 14)."
    if accuracy is None or efficiency is None:
        return [Claim(each, None, "Downstream accuracies were not measured.") for each in (first, second)]
    wins, texts = [], []
    for data, group in accuracy.dropna(subset="correlation").groupby("data"):
        if "dsprites" not in str(data):
            continue
        means = group.groupby("metric")["correlation"].mean()
        one, other = means.reindex(TRIO).mean(), means.reindex(ISOLATING).mean()
        if one == one and other == other:
            wins.append(bool(one > max(0, other)))
            texts.append(f"{data}: {one:.2f} against {other:.2f}")
    least = efficiency.groupby("metric", sort=False)["correlation"].min()
    good = [str(metric) for metric, value in least.items() if value >= AGREES]
    lowest = ", ".join(f"{metric} {value:.2f}" for metric, value in least.items())
    rule = "Shown if the first is positive and higher on every data set of the dSprites family."
    return [
        Claim(first, all(wins) if wins else None, f"Mean rank correlations, {'; '.join(texts)}. {rule}"),
        Claim(
            second,
            not good if least.notna().any() else None,
            f"Lowest rank correlation over data sets and classifiers: {lowest}. Shown if none is at least {AGREES}.",
        ),
    ]


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


def draw_learning(table: pandas.DataFrame) -> Figure:
    """Draw MIG, DCI disentanglement and PSNR of each method against the share of the run that was trained."""
    runs = of_paper(table)
    measured = [name for name in runs if str(name).startswith(DURING)]
    return draw_progress(runs[["data", "recipe", *measured]], DURING)


FINDING = Finding(
    "challenging-assumptions",
    "Locatello et al. 2019, sections 5.2 to 5.6",
    "Hyperparameters and seeds matter more than the method, and good models cannot be selected without labels.",
    answer,
    measure,
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
        of_table("mean_against_sampled", "Total correlation of mean against sampled codes (figure 4).", of_paper),
        of_table("transfer_between_data", "Rank correlation between data sets (figure 10).", of_paper),
        of_table("transfer_of_scores", "Scores on one data set against the others (figure 11).", of_paper),
        of_table(
            "downstream_agreement",
            "Rank correlation of metrics with downstream accuracy (figure 12).",
            of_paper,
            needs=("downstream.score",),
        ),
        of_table(
            "efficiency_points",
            "Statistical efficiency against metrics (figures 13 and 14).",
            of_paper,
            needs=("downstream.score",),
        ),
        of_table("beating_random", "Probability of beating random selection (Table 1).", of_paper),
        Picture(
            "learning",
            "MIG, DCI disentanglement and PSNR after 10 %, 30 % and all of the steps, over all strengths of one seed.",
            draw_learning,
            needs=("psnr after 10 %",),
        ),
    ),
)
