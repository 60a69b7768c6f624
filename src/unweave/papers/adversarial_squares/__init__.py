"""Figures 6, 9 and 11 of Michlo et al. 2023: squares that a pixel-wise loss cannot order."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.papers.results import collect, fastest, finished, finite, over_seeds

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

SCORES = ("mig", "dci.disentanglement")
ALIKE = ("beta", "latents", "steps")  # settings that runs must share to be compared
SPACING = 8  # of XYSquares, if it is not set
FAILS = 0.1  # a score below it means that nothing is separated


def answer(table: pandas.DataFrame) -> Answer:
    """Compare the largest spacing with smaller ones, and the pixel-wise with the blurred loss.

    Runs are compared with those that have the same β, number of latents and steps.
    """
    runs = on_squares(table)
    claims = []
    for recipe in sorted(runs["recipe"].unique()):
        of = runs[runs["recipe"] == recipe]
        pixels, widest = of[of["loss"] == "pixels"], of["spacing"].max()
        for score in SCORES:
            claims.append(_fails(recipe, score, finite(pixels[pixels["spacing"] == widest][score])))
            claims.append(
                _exceeds(
                    f"{recipe}: less spacing brings {score} back.",
                    [
                        (each[each["spacing"] == each["spacing"].min()], each[each["spacing"] == widest])
                        for each in _alike(pixels)
                        if each["spacing"].nunique() > 1
                    ],
                    score,
                    ("less", "full"),
                )
            )
            full = of[of["spacing"] == widest]
            claims.append(
                _exceeds(
                    f"{recipe}: the blurred loss brings {score} back.",
                    [
                        (each[each["loss"] == "blurred"], each[each["loss"] == "pixels"])
                        for each in _alike(full)
                        if each["loss"].nunique() > 1
                    ],
                    score,
                    ("blurred", "pixels"),
                )
            )
    by = ["recipe", *(key for key in ALIKE if runs[key].nunique() > 1), "spacing", "loss"]
    scores = Part(
        "Scores by spacing and loss (figures 9 and 11)",
        over_seeds(runs.sort_values(by), by, [*SCORES, "psnr"]),
        note="The paper shows plots and gives no numbers.",
    )
    return Answer(claims, [scores, Part("Time of training", fastest(runs, ["recipe"]))])


def on_squares(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs on XYSquares, with the columns ``spacing`` and ``loss``: pixels or blurred."""
    runs = finished(table[table["data"] == "xysquares"]).copy()
    runs["spacing"] = runs["data.spacing"].fillna(SPACING)
    runs["loss"] = ["pixels" if blur != blur or not blur else "blurred" for blur in runs["blur"]]
    return runs


def draw_spacings(table: pandas.DataFrame) -> Figure:
    """Draw the scores against the spacing, one line per method and loss."""
    from unweave.figures.score_by_spacing import draw_score_by_spacing, make_score_by_spacing

    runs = on_squares(table)
    runs["method"] = runs["recipe"] + ["" if loss == "pixels" else ", blurred loss" for loss in runs["loss"]]
    return draw_score_by_spacing(make_score_by_spacing(runs, metrics=SCORES, by="method"))


def _alike(runs: pandas.DataFrame) -> list[pandas.DataFrame]:
    return [group for _, group in runs.groupby(list(ALIKE), dropna=False)]


def _fails(recipe: str, score: str, values: Any) -> Claim:
    sentence = f"{recipe}: {score} is below {FAILS} at full spacing."
    if not len(values):
        return Claim(sentence, None, "There are no runs.")
    return Claim(
        sentence, bool(values.max() < FAILS), f"{values.mean():.3f} ({values.min():.3f} to {values.max():.3f})."
    )


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
    "Michlo et al. 2023, figures 6, 9 and 11",
    "On squares that do not overlap a pixel-wise loss sees all positions equally far apart, and VAEs do not separate "
    "them; overlap, or a blurred loss, brings disentanglement back.",
    answer,
    collect,
    figures=(Picture("spacings", "Scores against the spacing of the squares, by method and loss.", draw_spacings),),
)
