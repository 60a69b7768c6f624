"""Tables 1 and 6 of Hsu et al. 2024: three inductive biases that work better together."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.errors import extra
from unweave.papers.collecting import collect, finite
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.papers.summaries import finished, mean_and_spread, over_seeds

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

SCORES = (
    "infomec.modularity",
    "infomec.compactness",
    "infomec.explicitness",
    "dci.disentanglement",
    "dci.completeness",
    "dci.informativeness",
)
FRESH = 100  # seeds of the second stage start here
PUBLISHED = {  # Table 1, aggregated over four data sets
    "beta_tcvae": (0.62, 0.57, 0.77, 0.44, 0.38, 0.89),
    "qlae": (0.68, 0.43, 0.88, 0.55, 0.43, 0.92),
    "tripod_naive": (0.68, 0.44, 0.90, 0.57, 0.45, 0.93),
    "tripod": (0.78, 0.59, 0.90, 0.64, 0.57, 0.93),
    "tripod_without_nhp": (0.70, 0.48, 0.89, 0.56, 0.46, 0.92),
    "tripod_without_klm": (0.73, 0.50, 0.90, 0.60, 0.51, 0.92),
    "tripod_finer": (0.56, 0.46, 0.92, 0.51, 0.53, 0.88),
}
SECONDS = {"beta_tcvae": 0.040, "qlae": 0.040, "tripod": 0.106}  # per iteration, Table 6


def answer(table: pandas.DataFrame) -> Answer:
    """Compare the methods on the fresh seeds of the second stage, with the settings that the first one chose."""
    pandas = extra("pandas", "study")
    runs = fresh(table)
    published = pandas.DataFrame(
        [{"recipe": name, **dict(zip(SCORES, row, strict=True))} for name, row in PUBLISHED.items()]
    )
    claims = [
        _beats(runs, other, score)
        for score in ("infomec.modularity", "dci.disentanglement")
        for other in ("tripod_naive", "qlae", "beta_tcvae", "tripod_without_nhp", "tripod_without_klm")
    ]
    return Answer(
        claims,
        [
            Part(
                "Scores (Table 1)",
                over_seeds(runs, ["data", "recipe"], SCORES),
                published,
                note="The published numbers are means over four data sets: 3D Shapes, MPI3D, Falcor3D and Isaac3D.",
            ),
            Part(
                "Cost of a step relative to QLAE (Table 6)",
                _costs(runs),
                _published_costs(pandas),
                note="The time of the fastest run of each method on the first data set. At the lite scale the "
                "smoothness penalties see a twentieth of the batch; the exact penalty was measured as a "
                "[benchmark](../benchmarks/cost.md).",
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


def _beats(runs: pandas.DataFrame, other: str, score: str) -> Claim:
    sentence = f"Tripod beats {other} in {score}."
    texts, wins = [], []
    for data, group in runs.groupby("data"):
        a, b = (finite(group[group["recipe"] == recipe][score]) for recipe in ("tripod", other))
        if len(a) and len(b):
            wins.append(bool(a.min() > b.max()))
            texts.append(f"{data}: {mean_and_spread(a)} against {mean_and_spread(b)}, {len(a)} and {len(b)} seeds")
    rule = "Shown if all seeds of Tripod exceed all of the other on every data set."
    return Claim(
        sentence, all(wins) if wins else None, f"{'; '.join(texts)}. {rule}" if texts else "There are no runs."
    )


def _costs(runs: pandas.DataFrame) -> pandas.DataFrame:
    runs = runs[runs["data"] == runs["data"].iloc[0]] if len(runs) else runs
    per_step = runs["seconds"] / runs["step"]
    costs = per_step.groupby(runs["recipe"]).min()
    return (costs / costs.get("qlae", float("nan"))).round(2).rename("ratio").reset_index()


def _published_costs(pandas: Any) -> pandas.DataFrame:
    return pandas.DataFrame([{"recipe": name, "ratio": round(s / SECONDS["qlae"], 2)} for name, s in SECONDS.items()])


FINDING = Finding(
    "tripod",
    "Hsu et al. 2024, Tables 1 and 6",
    "Tripod, which combines quantised latents, kernel multiinformation and the normalised Hessian penalty, beats naive "
    "Tripod, QLAE and β-TCVAE, and does worse without either penalty.",
    answer,
    collect,
    {"lite": "tripod-lite", "paper": "tripod"},
    setting="At the lite scale: drawn rooms3d with half of the channels and drawn dSprites with a quarter of them, at "
    "32 × 32, 3,000 steps of 64 at a learning rate of 1e-3, the smoothness penalties on a twentieth of the batch. The "
    "scale was chosen by the reconstructions of a plain autoencoder, which are nearer to their image than to an image "
    "with another value of a factor in at least 85 % of cases, except for the orientation of the object of rooms3d "
    "(52 %). The first stage trains two values of one weight per method with one seed and chooses the higher InfoM; "
    "the table has three fresh seeds of the choice.",
    discussion="On rooms3d part of the published order appears: in InfoM Tripod is above QLAE, which is above β-TCVAE, "
    "and Tripod loses more without the normalised Hessian penalty than without the kernel multiinformation. "
    "But naive Tripod is as good as Tripod there, and better on dSprites, where Tripod is below β-TCVAE, too; "
    "so most claims are not shown. Differences of this size are hardly more than chance with three seeds: when "
    "the same three QLAEs were trained again on another kind of CPU, for the study of combinations, they "
    "reached Tripod's InfoM on rooms3d. The best explanation is the length of training: these runs have little "
    "more than a hundredth of the published steps, and scores still rise at their end. The plain Hessian "
    "penalty pulls on the decoder from the first step, while the normalised one measures a ratio that is noisy "
    "before the decoder has learned anything, and here sees three images of a batch. dSprites is not one of "
    "the paper's data sets, and its orientation is only partly reconstructed. One weight of each method was "
    "tuned, over two values with one seed; the paper tunes two weights over six values each. The ratios of "
    "cost agree with Table 6 to the extent that a penalty on part of the batch can be compared; the exact "
    "penalty costs more here than in the paper.",
    figures=(Picture("scores", "InfoM and DCI of every run of the second stage.", draw_scores),),
)
