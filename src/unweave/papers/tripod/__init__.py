"""Tables 1 and 6 of Hsu et al. 2024: three inductive biases that work better together."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from unweave.errors import extra
from unweave.papers.evidence import add_progress, collect, draw_progress, finished, finite, over_seeds, scored_as_in
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.store.measurements import read_scores

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

SCORES = (
    "infomec.modularity",
    "infomec.compactness",
    "infomec.explicitness",
    "dci.disentanglement",
    "dci.completeness",
    "dci.informativeness",
)
INFO_M, INFO_C, INFO_E, DCI_D, DCI_C, DCI_I = SCORES
MODULAR, COMPACT, EXPLICIT = (INFO_M, DCI_D), (INFO_C, DCI_C), (INFO_E, DCI_I)
ACTIVE = "active latents"
FRESH = 100  # seeds of the second stage start here
LEVEL = 0.05
PARITY = 0.05  # a smaller difference of means over data sets counts as none
SETS = ("shapes3d", "mpi3d_real_complex", "falcor3d", "isaac3d")
PUBLISHED = {  # Table 1, for each of SETS: InfoM, InfoC, InfoE, D, C, I
    "beta_tcvae": (
        (0.68, 0.55, 0.98, 0.64, 0.51, 1.00),
        (0.45, 0.42, 0.61, 0.29, 0.26, 0.80),
        (0.71, 0.71, 0.72, 0.42, 0.37, 0.86),
        (0.65, 0.61, 0.78, 0.39, 0.36, 0.89),
    ),
    "qlae": (
        (0.86, 0.45, 1.00, 0.79, 0.58, 1.00),
        (0.52, 0.46, 0.75, 0.42, 0.37, 0.82),
        (0.62, 0.39, 0.82, 0.40, 0.31, 0.88),
        (0.72, 0.42, 0.94, 0.60, 0.46, 0.98),
    ),
    "tripod_naive": (
        (0.83, 0.45, 1.00, 0.74, 0.55, 1.00),
        (0.61, 0.47, 0.84, 0.46, 0.40, 0.85),
        (0.64, 0.38, 0.81, 0.45, 0.34, 0.87),
        (0.65, 0.46, 0.93, 0.62, 0.50, 0.99),
    ),
    "tripod": (
        (0.94, 0.59, 1.00, 0.80, 0.65, 1.00),
        (0.64, 0.53, 0.84, 0.54, 0.48, 0.86),
        (0.72, 0.56, 0.82, 0.49, 0.47, 0.88),
        (0.84, 0.68, 0.95, 0.72, 0.67, 0.99),
    ),
    "tripod_without_nhp": (
        (0.85, 0.46, 1.00, 0.76, 0.56, 1.00),
        (0.60, 0.50, 0.81, 0.48, 0.42, 0.86),
        (0.59, 0.40, 0.81, 0.39, 0.30, 0.85),
        (0.75, 0.57, 0.93, 0.63, 0.58, 0.98),
    ),
    "tripod_without_klm": (
        (0.89, 0.57, 1.00, 0.76, 0.62, 1.00),
        (0.57, 0.50, 0.80, 0.49, 0.42, 0.83),
        (0.74, 0.54, 0.82, 0.52, 0.50, 0.88),
        (0.72, 0.38, 0.96, 0.62, 0.48, 0.99),
    ),
    "tripod_finer": (
        (0.69, 0.48, 1.00, 0.73, 0.64, 1.00),
        (0.43, 0.40, 0.97, 0.42, 0.40, 0.82),
        (0.54, 0.41, 0.84, 0.40, 0.45, 0.83),
        (0.57, 0.54, 0.87, 0.47, 0.63, 0.88),
    ),
}
SECONDS = {"beta_tcvae": 0.040, "qlae": 0.040, "qlae + klm": 0.040, "tripod": 0.106}  # per iteration, Table 6
BENCHMARK = {"beta_tcvae": 1.00, "qlae": 1.00, "qlae + klm": 1.02, "tripod": 3.97}  # ratios in benchmarks/cost.md
SHORT = dict(zip(SCORES, ("InfoM", "InfoC", "InfoE", "D", "C", "I"), strict=True)) | {ACTIVE: "the active latents"}
NAMES = {
    "tripod": "Tripod",
    "tripod_naive": "naive Tripod",
    "qlae": "QLAE",
    "beta_tcvae": "β-TCVAE",
    "tripod_without_nhp": "Tripod without NHP",
    "tripod_without_klm": "Tripod without KLM",
    "tripod_finer": "Tripod with finer quantisation",
}


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study with the number of active latents, by the rule of InfoMEC.

    The runs of the second stage are also measured as they were during training.
    """
    assert study is not None
    table = collect(study)
    scored = table["snapshot"] if "snapshot" in table else table["step"]
    study.stored.copy(table["run"])
    table[ACTIVE] = [_active(study.store / run, step) for run, step in zip(table["run"], scored, strict=True)]
    measured = scored_as_in(study, study.spec.metrics, (*SCORES, "psnr"), stage=2)
    return add_progress(table, study.runs(lambda row: row.settings["seed"] >= FRESH), measured)


def _active(folder: Path, step: float) -> float:
    """Return how many latents were active when the weights of a step were scored, NaN if they were not."""
    entries = read_scores(folder).entries if folder.is_dir() else []
    found = [each.result for each in entries if each.metric == "infomec" and each.protocol.get("step") == step]
    return float(sum(found[-1]["active"])) if found else float("nan")


def answer(table: pandas.DataFrame) -> Answer:
    """Compare the methods on the fresh seeds of the second stage, with the settings that the first one chose.

    The paper argues with means over data sets. One method exceeds another if the difference of these means is positive
    and a two-sided t-test over seeds, within data sets, has p < 0.05; parity is a difference of at most 0.05. The
    claims also say on which data sets all seeds of one exceed all seeds of the other.
    """
    runs = fresh(table)
    tripod, naive, qlae, tcvae, no_nhp, no_klm, finer = NAMES
    claims = [
        *(_exceeds(runs, tripod, tcvae, score) for score in (*MODULAR, DCI_C, *EXPLICIT)),
        _parity(runs, tripod, tcvae, [INFO_C]),
        *(_exceeds(runs, tripod, qlae, score) for score in (*MODULAR, *COMPACT)),
        _parity(runs, tripod, qlae, EXPLICIT),
        *(_exceeds(runs, tripod, naive, score) for score in (*MODULAR, *COMPACT)),
        _parity(runs, naive, qlae, SCORES),
        *(_exceeds(runs, tripod, no_nhp, score) for score in (*MODULAR, *COMPACT)),
        *(_exceeds(runs, tripod, no_klm, score) for score in (*MODULAR, *COMPACT)),
        *(_exceeds(runs, no_klm, no_nhp, score) for score in MODULAR),
        *(_exceeds(runs, other, finer, score) for other in (no_nhp, no_klm) for score in MODULAR),
        _exceeds(runs, naive, tripod, ACTIVE),
    ]
    shown = [name for name in (*SCORES, ACTIVE) if name in runs]
    return Answer(
        claims,
        [
            Part(
                "Scores (Table 1)",
                over_seeds(runs, ["data", "recipe"], shown),
                _published(),
                note="Measured: means and standard deviations over seeds. The last lines of the published table are "
                "its means over four data sets.",
            ),
            Part("Means over data sets", _means(runs)),
            Part(
                "Cost of a step relative to QLAE (Table 6)",
                _costs(runs),
                _ratios(SECONDS),
                note="The time of the fastest run of each method on the first data set. At the lite scale the "
                "smoothness penalties see a part of the batch.",
            ),
            Part(
                "Cost of a step with the published net and batch (Table 6)",
                _ratios(BENCHMARK),
                _ratios(SECONDS),
                note="CPU time of one thread, from a [benchmark](../../benchmarks/cost.md) and not from these runs.",
            ),
        ],
    )


def fresh(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs of the second stage."""
    runs = finished(table)
    return runs[runs["seed"] >= FRESH]


def draw_scores(table: pandas.DataFrame) -> Figure:
    """Draw the scores of every run of the second stage."""
    from unweave.figures.score_strips import draw_score_strips, make_score_strips

    return draw_score_strips(make_score_strips(fresh(table), metrics=("infomec.modularity", "dci.disentanglement")))


@dataclass(frozen=True)
class Difference:
    """The difference of two methods in the mean over data sets, and its two-sided t-test over seeds."""

    means: tuple[float, float]
    t: float
    p: float
    above: list[str]  # data sets where all seeds of the first exceed all of the second
    data: list[str]

    @property
    def value(self) -> float:
        """The difference of the means."""
        return self.means[0] - self.means[1]


def difference(runs: pandas.DataFrame, one: str, other: str, score: str) -> Difference | None:
    r"""Compare two methods on the data sets that both have runs on, None if these are too few for a test.

    With the mean difference over K data sets, its standard error is that of seeds within data sets, with one variance
    for all: :math:`s^2 \sum_k (1 / n_k + 1 / m_k) / K^2`, with :math:`\sum_k (n_k + m_k - 2)` degrees of freedom. For
    one data set this is Student's t-test.

    Args:
        runs: One row per run, with its ``data``, its ``recipe`` and scores.
        one: The first recipe.
        other: The recipe whose mean is subtracted.
        score: The column of the score.

    Returns:
        The difference and its test; None also if the table has no such score.
    """
    from scipy.stats import t as student

    if score not in runs:
        return None
    cells = {}
    for data, group in runs.groupby("data", sort=False):
        a, b = (finite(group[group["recipe"] == recipe][score]) for recipe in (one, other))
        if len(a) and len(b):
            cells[str(data)] = (a, b)
    freedom = sum(len(a) + len(b) - 2 for a, b in cells.values())
    if freedom < 2:
        return None
    means = [float(np.mean([cell[place].mean() for cell in cells.values()])) for place in (0, 1)]
    squares = sum(((each - each.mean()) ** 2).sum() for cell in cells.values() for each in cell)
    weight = sum(1 / len(a) + 1 / len(b) for a, b in cells.values()) / len(cells) ** 2
    error = float(np.sqrt(squares / freedom * weight))
    apart = means[0] - means[1]
    t = apart / error if error else math.copysign(math.inf, apart) if apart else 0.0
    above = [data for data, (a, b) in cells.items() if a.min() > b.max()]
    return Difference((means[0], means[1]), t, float(2 * student.sf(abs(t), freedom)), above, list(cells))


def _exceeds(runs: pandas.DataFrame, one: str, other: str, score: str) -> Claim:
    sentence = f"{_capital(NAMES[one])} exceeds {NAMES[other]} in {SHORT[score]}."
    found = difference(runs, one, other, score)
    if found is None:
        return Claim(sentence, None, "There are too few runs.")
    strict = f"on {', '.join(found.above)}" if found.above else "on no data set"
    evidence = (
        f"Means over data sets {found.means[0]:.3f} and {found.means[1]:.3f}, t = {found.t:.2f}, p = {found.p:.2g}. "
        f"Stricter: all seeds of the first exceed all of the second {strict} of {len(found.data)}."
    )
    return Claim(sentence, found.value > 0 and found.p < LEVEL, evidence)


def _parity(runs: pandas.DataFrame, one: str, other: str, scores: Sequence[str]) -> Claim:
    named = ", ".join(SHORT[score] for score in scores)
    sentence = f"{_capital(NAMES[one])} and {NAMES[other]} are at parity in {named}."
    found = [difference(runs, one, other, score) for score in scores]
    known = [each for each in found if each is not None]
    if len(known) < len(found):
        return Claim(sentence, None, "There are too few runs.")
    texts = (f"{SHORT[score]} {each.value:+.3f}" for score, each in zip(scores, known, strict=True))
    evidence = f"Differences of the means over data sets: {', '.join(texts)}. Parity is at most {PARITY} in size."
    return Claim(sentence, all(abs(each.value) <= PARITY for each in known), evidence)


def _capital(name: str) -> str:
    return name if name.startswith("β") else name[0].upper() + name[1:]


def _published() -> pandas.DataFrame:
    pandas = extra("pandas", "study")
    rows = [
        {"data": data, "recipe": recipe, **dict(zip(SCORES, row, strict=True))}
        for place, data in enumerate(SETS)
        for recipe, row in ((recipe, cells[place]) for recipe, cells in PUBLISHED.items())
    ]
    frame = pandas.DataFrame(rows)
    means = frame.groupby("recipe", sort=False)[list(SCORES)].mean().round(4).reset_index()
    return pandas.concat([frame, means.assign(data="mean")], ignore_index=True)


def _means(runs: pandas.DataFrame) -> pandas.DataFrame:
    """Return the mean over data sets of the mean over seeds."""
    shown = [name for name in (*SCORES, ACTIVE) if name in runs]
    cells = runs.groupby(["recipe", "data"], sort=False)[shown].mean()
    return cells.groupby("recipe", sort=False).mean().round(3).reset_index()


def _costs(runs: pandas.DataFrame) -> pandas.DataFrame:
    runs = runs[runs["data"] == runs["data"].iloc[0]] if len(runs) else runs
    per_step = runs["seconds"] / runs["step"]
    terms = runs["terms"] if "terms" in runs else [""] * len(runs)  # added to a recipe: QLAE with KLM is none
    pairs = zip(runs["recipe"], terms, strict=True)
    names = [f"{recipe} + klm" if "kernel" in str(added) else recipe for recipe, added in pairs]
    costs = per_step.groupby(extra("pandas", "study").Series(names, runs.index, name="recipe")).min()
    return (costs / costs.get("qlae", float("nan"))).round(2).rename("ratio").reset_index()


def _ratios(seconds: dict[str, float]) -> pandas.DataFrame:
    """Return the time of each method relative to QLAE."""
    rows = [{"recipe": name, "ratio": round(value / seconds["qlae"], 2)} for name, value in seconds.items()]
    return extra("pandas", "study").DataFrame(rows)


def draw_learning(table: pandas.DataFrame) -> Figure:
    """Draw InfoM, DCI disentanglement and PSNR of the second stage against the share of the run that was trained."""
    return draw_progress(fresh(table), (INFO_M, DCI_D, "psnr"))


FINDING = Finding(
    "tripod",
    "Hsu et al. 2024, Tables 1 and 6",
    "Tripod, which combines quantised latents, kernel multiinformation and the normalised Hessian penalty, beats naive "
    "Tripod, QLAE and β-TCVAE, and does worse without either penalty.",
    answer,
    measure,
    figures=(
        Picture("scores", "InfoM and DCI of every run of the second stage.", draw_scores),
        Picture(
            "learning",
            "InfoM, DCI disentanglement and PSNR after 10 %, 30 % and all of the steps.",
            draw_learning,
            needs=("psnr after 10 %",),
        ),
    ),
)
