"""Figures 4, 5 and 7 of Rhodes & Lee 2021: JL1-VAE separates factors locally."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.errors import extra
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture
from unweave.papers.summaries import fastest, finished, over_seeds
from unweave.papers.tables import collect_local, finite, first_runs, radii_of

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study

METRICS = ("local_mig", "local_modularity")
LEVEL = 0.05
GAMMA = 0.1  # of figure 4
LEAST = 0.01  # nats of KL; a run below has learned nothing, and its scores say nothing about the method's latents
MINUTES = {"jl1_vae": 150, "beta_vae": 45}  # published times of a run


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study with local scores, and how well each run's columns isolate a dot."""
    from unweave.papers.local_disentanglement.dots import isolation

    assert study is not None
    table = collect_local(study)
    isolated = {run.name: isolation(run) for run in study.runs()}
    table["isolation"] = [isolated.get(name, float("nan")) for name in table["run"]]
    return table


def answer(table: pandas.DataFrame) -> Answer:
    """Compare JL1-VAE with β-VAE and JL2-VAE at the smallest and the largest radius, by Welch's t-test.

    Runs whose posterior has collapsed to the prior are counted, and left out of the comparisons.
    """
    every = learned(table)
    runs = every[_compared(every)]
    columns = [f"{metric} at {rho:g}" for metric in METRICS for rho in radii_of(runs, metric)]
    claims = []
    for metric in METRICS:
        radii = radii_of(runs, metric)
        small, large = f"{metric} at {radii[0]:g}", f"{metric} at {radii[-1]:g}"
        difference, p, text = _compare(runs, "jl1_vae", "beta_vae", small)
        claims.append(
            Claim(f"JL1-VAE exceeds β-VAE in {small}.", None if p is None else difference > 0 and p < LEVEL, text)
        )
        difference, p, text = _compare(runs, "jl1_vae", "beta_vae", large)
        claims.append(Claim(f"The two do not differ in {large}.", None if p is None else p >= LEVEL, text))
        difference, p, text = _compare(runs, "jl2_vae", "beta_vae", small)
        shown = None if p is None else not (difference > 0 and p < LEVEL)
        claims.append(Claim(f"JL2-VAE does not exceed β-VAE in {small}.", shown, text))
    difference, p, text = _compare(runs, "jl1_vae", "beta_vae", "isolation")
    shown = None if p is None else difference > 0 and p < LEVEL
    claims.append(Claim("JL1-VAE's Jacobian columns isolate single dots more than β-VAE's.", shown, text))
    by = ["recipe", *(key for key in ("gamma", "kl.schedule") if key in every and _varies(every, key))]
    frame = extra("pandas", "study").DataFrame
    return Answer(
        claims,
        [
            Part(
                "Local scores against ρ (figures 4 and 7)",
                over_seeds(every, by, columns),
                note="The paper shows plots, and gives the level of a t-test of JL1-VAE against β-VAE with ten seeds: "
                "p < 0.001 for ρ = 0.01, which is less than one step of this grid, and for ρ = 0.1 (figure 5), and "
                f"p > 0.05 for ρ = 1. {_collapses(table)}",
            ),
            Part(
                "Isolation of dots (figure 2)",
                over_seeds(runs, by, ["isolation"]),
                note="The share of a column's energy at the three dots that is at one dot: 1/3 if it moves all alike, "
                "1 if it moves a single one. The paper shows pictures and gives no numbers.",
            ),
            Part(
                "Time of training (section 5.2)",
                fastest(runs, by),
                frame({"recipe": list(MINUTES), "minutes on an NVIDIA V100": list(MINUTES.values())}),
            ),
        ],
    )


def _varies(runs: pandas.DataFrame, key: str) -> bool:
    """Return whether runs of one recipe differ in a setting."""
    return bool(runs.groupby("recipe")[key].nunique(dropna=False).max() > 1)


def _compared(runs: pandas.DataFrame) -> pandas.Series:
    """Return which runs figure 4 compares: γ = 0.1, and the β-VAE that is JL1-VAE with γ = 0, whose β grows, too."""
    penalised = runs["recipe"].isin(("jl1_vae", "jl2_vae"))
    if "gamma" in runs:
        penalised &= runs["gamma"] == GAMMA
    plain = runs["recipe"] == "beta_vae"
    if "kl.schedule" in runs:
        plain &= runs["kl.schedule"] == "linear"
    return penalised | plain


def learned(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the finished runs whose posterior has not collapsed to the prior."""
    runs = finished(table)
    return runs[runs["kl_per_latent"] >= LEAST]


def _collapses(table: pandas.DataFrame) -> str:
    """Return which runs are left out, in a sentence."""
    runs = finished(table)
    collapsed = runs[runs["kl_per_latent"] < LEAST]
    if not len(collapsed):
        return "No run collapsed."
    which = ", ".join(f"{run.recipe} seed {run.seed}" for run in collapsed.itertuples())
    return f"Left out, because the KL divergence is 0 and every code is the same: {which}."


def _compare(runs: pandas.DataFrame, one: str, other: str, score: str) -> tuple[float, float | None, str]:
    from scipy.stats import ttest_ind

    a, b = (finite(runs[runs["recipe"] == recipe][score]) for recipe in (one, other))
    if len(a) < 2 or len(b) < 2:
        return 0.0, None, "There are fewer than two runs of a method."
    p = float(ttest_ind(a, b, equal_var=False).pvalue)
    difference = float(a.mean() - b.mean())
    text = f"{one} {a.mean():.3f}, {other} {b.mean():.3f}, {len(a)} and {len(b)} seeds, Welch's t-test p = {p:.3g}."
    return difference, p, text


def draw_radii(table: pandas.DataFrame) -> Figure:
    """Draw the local scores against the radius."""
    from unweave.figures.local_scores import draw_local_scores, make_local_scores

    return draw_local_scores(make_local_scores(long_form(learned(table))))


def long_form(runs: pandas.DataFrame) -> pandas.DataFrame:
    """Return one row per run, metric and radius: ``data``, ``recipe``, ``metric``, ``rho``, ``score``."""
    columns = [f"{metric} at {rho:g}" for metric in METRICS for rho in radii_of(runs, metric)]
    long = runs.melt(["data", "recipe"], columns, "column", "score").dropna(subset=["score"])
    parts = long["column"].str.split(" at ", expand=True)
    return long.assign(metric=parts[0], rho=parts[1].astype("float64"))


def draw_columns(study: Study | None) -> Figure:
    """Draw the columns of the first run of each method at one image."""
    import torch

    from unweave.figures.jacobians import draw_jacobians, make_jacobians

    assert study is not None
    runs = first_runs(study)
    return draw_jacobians(make_jacobians(runs, [run.data() for run in runs], torch.Generator().manual_seed(0), most=6))


FINDING = Finding(
    "local-disentanglement",
    "Rhodes & Lee 2021, figures 4, 5 and 7",
    "A penalty on the L1 norm of the decoder's Jacobian aligns latents with factors locally, but not globally.",
    answer,
    measure,
    figures=(Picture("radii", "Local MIG and modularity against the radius of neighbourhoods.", draw_radii),),
    views=(Picture("columns", "The six largest columns of the Jacobian at one image, first seed.", draw_columns),),
)
