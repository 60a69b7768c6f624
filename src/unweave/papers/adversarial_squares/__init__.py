"""Figures 4, 6, 9 and 11 of Michlo et al. 2023: VAEs learn perceived distances, which some squares do not have."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from unweave.papers.evidence import collect, fastest, finished, finite, over_seeds
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.papers.perceived_distance import PUBLISHED

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.metrics.scoring.inputs import Floats
    from unweave.study import Study
    from unweave.training import Run

SCORES = ("mig", "dci.disentanglement")
ALIKE = ("beta", "latents", "steps", "net.width", "start")  # settings that runs must share to be compared
SPACING = 8  # of XYSquares, if it is not set
FAILS = 0.1  # a score below it means that nothing is separated
COVERED = 1 / 64  # of each channel, at full spacing: the pixels of one of 8 × 8 squares
MEAN_IMAGE = -10 * math.log10(COVERED * (1 - COVERED))  # dB, the PSNR of the mean image at full spacing
ABOVE = 2.0  # dB above it, from which a model counts as reconstructing
AGREES = 0.5  # rank correlation of distances, or of orders
PERCEIVED = ("latent and perceived", "reconstructed and perceived", "latent and ground truth")
ORDER = "order of learning"
PAIRS, IMAGES, SEED = 2_000, 2_000, 0


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study, with the agreement of distances and the order of learning of each run."""
    assert study is not None
    table = collect(study)
    measured = {run.name: agreements(run) | {ORDER: learning_order(run)} for run in study.runs()}
    for column in (*PERCEIVED, ORDER):
        table[column] = [measured.get(name, {}).get(column, float("nan")) for name in table["run"]]
    return table


def answer(table: pandas.DataFrame) -> Answer:
    """Judge figures 6, 9 and 11 by the runs of each, and section 4.4 and appendix A by those that measured them.

    Runs are compared with those that have the same β, number of latents, steps and net.
    """
    runs = finished(table)
    spacings, losses = (on_squares(of_figure(runs, figure)) for figure in ("figure 9", "figure 11"))
    squares = on_squares(runs)
    claims = []
    for recipe in sorted(squares["recipe"].unique()):
        for score in SCORES:
            claims += [
                _fails(recipe, score, squares[squares["recipe"] == recipe]),
                _less_spacing(recipe, score, spacings[spacings["recipe"] == recipe]),
                _blurred(recipe, score, losses[losses["recipe"] == recipe]),
            ]
            claims += [_figure_6(recipe, score, of_figure(runs, "figure 6"))] if "tag" in runs else []
    by = ["recipe", *(key for key in ALIKE if key in squares and squares[key].nunique() > 1), "spacing", "loss"]
    scores = Part(
        "Scores by spacing and loss (figures 9 and 11)",
        over_seeds(squares.drop_duplicates("run").sort_values(by), by, [*SCORES, "psnr"]),
        note="The paper shows plots and gives no numbers. It plots the maximum of each score over training, of small "
        "samples (MIG of 2,000 every 2,400 steps, DCI of 1,000 every 7,200), which lies above the score of final "
        "weights; the specification of the published scale does so too, for both every 2,400. The mean image has a "
        f"PSNR of {MEAN_IMAGE:.2f} dB at full spacing.",
    )
    parts = [scores, *_distances(runs), Part("Time of training", fastest(squares, ["recipe"]))]
    return Answer([*claims, *_perceived(runs), _order(runs)], parts)


def of_figure(runs: pandas.DataFrame, figure: str) -> pandas.DataFrame:
    """Return the runs of a figure by the tag of their grid; all, if the table has no tags."""
    return runs[runs["tag"] == figure] if "tag" in runs else runs


def on_squares(runs: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs on XYSquares, with the columns ``spacing`` and ``loss``: pixels or blurred."""
    runs = finished(runs[runs["data"] == "xysquares"]).copy()
    runs["spacing"] = runs["data.spacing"].fillna(SPACING)
    runs["loss"] = ["pixels" if blur != blur or not blur else "blurred" for blur in runs["blur"]]
    return runs if "run" in runs else runs.assign(run=range(len(runs)))


def _fails(recipe: str, score: str, runs: pandas.DataFrame) -> Claim:
    """Judge the models that reconstruct: one that outputs the mean image has learned nothing to separate."""
    sentence = f"{recipe}: {score} is below {FAILS} at full spacing, for models that reconstruct."
    full = runs[(runs["loss"] == "pixels") & (runs["spacing"] == runs["spacing"].max())].drop_duplicates("run")
    good = full[full["psnr"] >= MEAN_IMAGE + ABOVE]
    rule = f"A model reconstructs with {MEAN_IMAGE + ABOVE:.2f} dB or more: {len(good)} of {len(full)} do."
    values = finite(good[score])
    if not len(values):
        return Claim(sentence, None, rule)
    numbers = f"{values.mean():.3f} ({values.min():.3f} to {values.max():.3f})"
    return Claim(sentence, bool(values.max() < FAILS), f"{numbers}. {rule}")


def _less_spacing(recipe: str, score: str, runs: pandas.DataFrame) -> Claim:
    pixels, widest = runs[runs["loss"] == "pixels"], runs["spacing"].max()
    pairs = [
        (each[each["spacing"] == each["spacing"].min()], each[each["spacing"] == widest])
        for each in _alike(pixels)
        if each["spacing"].nunique() > 1
    ]
    return _exceeds(f"{recipe}: less spacing brings {score} back.", pairs, score, ("less", "full"))


def _blurred(recipe: str, score: str, runs: pandas.DataFrame) -> Claim:
    full = runs[runs["spacing"] == runs["spacing"].max()]
    pairs = [
        (each[each["loss"] == "blurred"], each[each["loss"] == "pixels"])
        for each in _alike(full)
        if each["loss"].nunique() > 1
    ]
    return _exceeds(f"{recipe}: the blurred loss brings {score} back.", pairs, score, ("blurred", "pixels"))


def _figure_6(recipe: str, score: str, runs: pandas.DataFrame) -> Claim:
    """Judge the best score of each data set, which is what the paper is concerned with."""
    sentence = f"{recipe}: the best {score} on XYSquares is below the best on every other data set (figure 6)."
    best = runs[runs["recipe"] == recipe].groupby("data", sort=False)[score].max().dropna()
    if "xysquares" not in best or len(best) < 2:
        return Claim(sentence, None, "There are no runs on XYSquares and another data set.")
    numbers = ", ".join(f"{data} {value:.3f}" for data, value in best.items())
    return Claim(sentence, bool(best["xysquares"] < best.drop("xysquares").min()), f"Best scores: {numbers}.")


def _perceived(runs: pandas.DataFrame) -> list[Claim]:
    """Judge section 4.4 by the runs on data whose perceived distances vary."""
    claims = []
    latent, rebuilt, truth = PERCEIVED
    for name, column in (("latent distances", latent), ("distances between reconstructions", rebuilt)):
        sentence = f"In trained models {name} follow the perceived distances of the data (section 4.4)."
        known = runs.drop_duplicates("run") if column in runs else runs[:0]
        known = known[_varies(known)].dropna(subset=[column]) if len(known) else known
        if not len(known):
            claims.append(Claim(sentence, None, "There are no runs whose distances were measured."))
            continue
        mean, other = float(known[column].mean()), float(known[truth].mean())
        evidence = (
            f"Mean rank correlation {mean:.2f} over {len(known)} runs; that of latent with ground-truth distances is "
            f"{other:.2f}. Shown if it is above {AGREES} and the higher of the two."
        )
        claims.append(Claim(sentence, mean > AGREES and mean > other, evidence))
    return claims


def _varies(runs: pandas.DataFrame) -> Any:
    """Return which runs have data whose perceived distances vary: all but XYSquares at full spacing."""
    spacing = runs["data.spacing"].fillna(SPACING)
    squares = runs["data"] == "xysquares"
    return ~(squares & (spacing == spacing[squares].max()))


def _order(runs: pandas.DataFrame) -> Claim:
    sentence = "beta_vae learns the factors of dSprites in the order of their importance (appendix A)."
    known = finite(runs[runs["recipe"] == "beta_vae"][ORDER]) if ORDER in runs else np.empty(0)
    if not len(known):
        return Claim(sentence, None, "There are no runs on dSprites with snapshots.")
    return Claim(
        sentence,
        bool(known.min() > 0 and known.mean() >= AGREES),
        f"Rank correlation of the importance of a factor with how much of it is encoded, on average over training: "
        f"{known.mean():.2f} ({known.min():.2f} to {known.max():.2f}) over {len(known)} runs. Shown if it is positive "
        f"for every run and at least {AGREES} on average.",
    )


def _distances(runs: pandas.DataFrame) -> list[Part]:
    if not set(PERCEIVED) <= {*runs} or not runs[list(PERCEIVED)].notna().any().all():
        return []
    known = runs.drop_duplicates("run").dropna(subset=list(PERCEIVED), how="all").assign(spacing=runs["data.spacing"])
    return [
        Part(
            "Rank correlations of distances (section 4.4, figure 4)",
            over_seeds(known, ["data", "spacing", "recipe"], PERCEIVED),
            note="Spearman's, over pairs of images that differ in one factor. At full spacing all perceived distances "
            "of XYSquares are equal, and have no correlation.",
        )
    ]


def draw_spacings(table: pandas.DataFrame) -> Figure:
    """Draw the scores of the runs of figure 9 against the spacing, one line per method and β."""
    from unweave.figures.score_by_spacing import draw_score_by_spacing, make_score_by_spacing

    runs = _with_methods(on_squares(of_figure(finished(table), "figure 9")))
    fit = 4 if runs["spacing"].nunique() > 4 else 0  # the order of the published regression
    return draw_score_by_spacing(make_score_by_spacing(runs, metrics=SCORES, by="method", fit=fit))


def draw_losses(table: pandas.DataFrame) -> Figure:
    """Draw the scores of the runs of figure 11 with either loss, one violin per method and β."""
    runs = on_squares(of_figure(finished(table), "figure 11"))
    runs = _with_methods(runs[runs["spacing"] == runs["spacing"].max()], loss=False)
    return _draw_densities(runs, halves="loss", groups="method")


def draw_data_sets(table: pandas.DataFrame) -> Figure:
    """Draw the scores of the runs of figure 6, one violin per data set."""
    runs = of_figure(finished(table), "figure 6")
    return _draw_densities(runs, halves="recipe", groups="data")


def _draw_densities(runs: pandas.DataFrame, *, halves: str, groups: str) -> Figure:
    from unweave.figures.paired_densities import draw_paired_densities, make_paired_densities

    return draw_paired_densities(make_paired_densities(runs, halves=halves, groups=groups, metrics=SCORES))


def _with_methods(runs: pandas.DataFrame, *, loss: bool = True) -> pandas.DataFrame:
    """Return runs with the column ``method``: the recipe, the loss, and β where it varies."""
    names = runs["recipe"].astype(str)
    if loss:
        names = names + ["" if each == "pixels" else ", blurred loss" for each in runs["loss"]]
    if runs["beta"].nunique() > 1:
        names = names + [f", β = {beta:g}" for beta in runs["beta"]]
    return runs.assign(method=names)


def _alike(runs: pandas.DataFrame) -> list[pandas.DataFrame]:
    return [group for _, group in runs.groupby([key for key in ALIKE if key in runs], dropna=False)]


def _exceeds(
    sentence: str, pairs: list[tuple[pandas.DataFrame, pandas.DataFrame]], score: str, names: tuple[str, str]
) -> Claim:
    """Judge whether the runs of the first table of each pair all score higher than those of the second."""
    texts, wins = [], []
    for one, other in pairs:
        a, b = finite(one[score]), finite(other[score])
        if len(a) > 1 and len(b) > 1:
            wins.append(bool(a.min() > b.max()))
            ranges = (
                f"{n}: {v.mean():.3f} ({v.min():.3f} to {v.max():.3f})" for n, v in zip(names, (a, b), strict=True)
            )
            texts.append("; ".join(ranges))
    if not wins:
        return Claim(sentence, None, "There are fewer than two runs.")
    rule = "Shown if all seeds of the first exceed all of the second."
    return Claim(sentence, all(wins), f"{'. '.join(texts)}. {rule}")


FINDING = Finding(
    "adversarial-squares",
    "Michlo et al. 2023, sections 4.4 to 6, figures 4, 6, 9 and 11, appendix A",
    "On squares that do not overlap a pixel-wise loss sees all positions equally far apart, and VAEs do not separate "
    "them; overlap, or a blurred loss, brings disentanglement back.",
    answer,
    measure,
    figures=(
        Picture("spacings", "Scores against the spacing of the squares, by method and loss (figure 9).", draw_spacings),
        Picture("losses", "Scores at full spacing with the pixel-wise and the blurred loss (figure 11).", draw_losses),
        Picture("data", "Scores on each data set (figure 6).", draw_data_sets, needs=("tag",)),
    ),
)


def agreements(run: Run) -> dict[str, float]:
    """Return the rank correlations of section 4.4, of pairs of images that differ in one factor."""
    from unweave.metrics import distance_agreement

    found = distance_agreement(run.data(), run.encode, decode=run.decode, pairs=PAIRS, seed=SEED)
    truth, perceived, latent, rebuilt = range(4)
    values = (found.spearman[latent, perceived], found.spearman[rebuilt, perceived], found.spearman[latent, truth])
    return dict(zip(PERCEIVED, map(float, values), strict=True))


def learning_order(run: Run) -> float:
    """Return the rank correlation of the importance of the factors of dSprites with how early they are encoded.

    NaN for a run on other data, or without snapshots.
    """
    from unweave.metrics import mig

    steps = run.snapshots()
    if run.configuration.data.name != "dsprites" or len(steps) < 2:
        return float("nan")
    data = run.data()
    generator = torch.Generator().manual_seed(SEED)
    factors = data.space.sample(IMAGES, generator)
    images, shares = data.images(factors, generator), []
    for step in steps:
        found = mig(run.at(step).encode(images), factors)
        shares.append(found.mutual_information.max(0))  # (K,) nats
    return importance_correlation(data.space.names, np.stack(shares) / np.log(data.space.sizes))


def importance_correlation(factors: Sequence[str], shares: Floats) -> float:
    """Return Spearman's correlation of the importance (Table A1) with the encoded share (steps, K) of each factor.

    Shares are averaged over steps: of factors that are encoded in full at the end, an earlier one has the larger mean.
    """
    from scipy.stats import spearmanr

    importance = [PUBLISHED["dsprites"][name][0] for name in factors]
    return float(spearmanr(importance, shares.mean(0)).statistic)
