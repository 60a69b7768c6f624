"""Figures 4, 5 and 7 of Rhodes & Lee 2021: JL1-VAE separates factors locally."""

from __future__ import annotations

from typing import TYPE_CHECKING

from unweave.papers.collecting import collect_local, finite, radii_of
from unweave.papers.finding import Answer, Claim, Finding, Part
from unweave.papers.summaries import finished, over_seeds

if TYPE_CHECKING:
    import pandas

METRICS = ("local_mig", "local_modularity")
LEVEL = 0.05


def answer(table: pandas.DataFrame) -> Answer:
    """Compare JL1-VAE with β-VAE and JL2-VAE at the smallest and the largest radius, by Welch's t-test."""
    runs = finished(table)
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
    by = ["recipe", "gamma"] if "gamma" in runs else ["recipe"]
    times = over_seeds(runs, by, ["seconds"])
    return Answer(
        claims,
        [
            Part("Local scores against ρ (figures 4 and 7)", over_seeds(runs, by, columns)),
            Part("Seconds of training (section 5.2)", times),
        ],
    )


def _compare(runs: pandas.DataFrame, one: str, other: str, score: str) -> tuple[float, float | None, str]:
    from scipy.stats import ttest_ind

    a, b = (finite(runs[runs["recipe"] == recipe][score]) for recipe in (one, other))
    if len(a) < 2 or len(b) < 2:
        return 0.0, None, "There are fewer than two runs of a method."
    p = float(ttest_ind(a, b, equal_var=False).pvalue)
    difference = float(a.mean() - b.mean())
    text = f"{one} {a.mean():.3f}, {other} {b.mean():.3f}, {len(a)} and {len(b)} seeds, Welch's t-test p = {p:.3g}."
    return difference, p, text


FINDING = Finding(
    "local-disentanglement",
    "Rhodes & Lee 2021, figures 4, 5 and 7",
    "A penalty on the L1 norm of the decoder's Jacobian aligns latents with factors locally, but not globally.",
    answer,
    collect_local,
    {"lite": "local-disentanglement-lite", "paper": "local-disentanglement"},
)
