"""Figure 3 of Rhodes & Lee 2021: JL1-VAE gives the objects in the quarters of an image latents of their own."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from torch import Tensor

from unweave.papers.evidence import collect, fastest, finished, finite, first_runs, judge_above, over_seeds
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study
    from unweave.training import Run

QUARTER = "share of one quarter"
METHODS = {"jl1_vae": "JL1-VAE", "beta_vae": "β-VAE"}
CHANCE = (1 + 1 / 2 + 1 / 3 + 1 / 4) / 4  # expected share of randomly rotated latents, two per quarter
ONE = 0.9  # a column touches one quarter if this share of its energy is there
POINT = [13, 0, 22, 10, 16, 3, 6, 32]  # positions of the arms in figure 3
POINTS = 32  # images
SEED = 0


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study, and which share of the columns of each run is in one quarter."""
    assert study is not None
    table = collect(study)
    shares = {run.name: quarter_share(run) for run in study.runs()}
    table[QUARTER] = [shares.get(name, float("nan")) for name in table["run"]]
    return table


def quarter_share(run: Run) -> float:
    """Return the share of one quarter in the columns of a run's Jacobian, at images of its data."""
    images = run.data().sample(POINTS, torch.Generator().manual_seed(SEED)).images
    return share_of_one_quarter(run.jacobian(run.encode(images)))


def share_of_one_quarter(columns: Tensor) -> float:
    """Return the share of the energy of columns (B, D, C, H, W) in the quarter where each column has most of it.

    1 means that every latent changes a single quarter, and 1/4 that each changes all alike. Each column counts by its
    energy, so that latents that change nothing have no part in it.
    """
    height, width = columns.shape[-2] // 2, columns.shape[-1] // 2
    energy = columns.double().square().sum(2)  # (B, D, H, W)
    held = energy.unflatten(3, (2, width)).unflatten(2, (2, height)).sum((3, 5)).flatten(2)  # (B, D, quarter)
    return float(held.amax(2).sum() / held.sum())


def answer(table: pandas.DataFrame) -> Answer:
    """Judge whether the columns of JL1-VAE touch one quarter each, more than those of β-VAE do."""
    sentence = "Columns of JL1-VAE's Jacobian touch one quarter each."
    above = "They do so more than β-VAE's (figure 3)."
    if QUARTER not in table or not len(finished(table)):
        return Answer([Claim(each, None, "There are no runs.") for each in (sentence, above)], [])
    runs = finished(table)
    runs = runs.assign(method=[METHODS.get(recipe, str(recipe)) for recipe in runs["recipe"]])
    shares = finite(runs[runs["method"] == METHODS["jl1_vae"]][QUARTER])
    rule = f"Shown if at least {ONE:.0%} of the energy of the columns is in one quarter, for every seed."
    numbers = f"{shares.mean():.3f} ({shares.min():.3f} to {shares.max():.3f})" if len(shares) else "There are no runs"
    return Answer(
        [
            Claim(sentence, bool(shares.min() >= ONE) if len(shares) else None, f"{numbers}. {rule}"),
            judge_above(above, runs, METHODS["jl1_vae"], [METHODS["beta_vae"]], QUARTER),
        ],
        [
            Part(
                "Columns in quarters (figure 3)",
                over_seeds(runs, ["data", "method"], [QUARTER, "psnr"]),
                note="The share of a column's energy in the quarter where it has most. Latents that are rotated at "
                f"random have {CHANCE:.3f} on average. The paper shows the columns of one model of each method and "
                "gives no numbers.",
            ),
            Part("Time of training", fastest(runs, ["recipe"])),
        ],
    )


def draw_columns(study: Study | None) -> Figure:
    """Draw the columns of the first run of each method at the positions that figure 3 has."""
    from unweave.figures.jacobians import draw_jacobians, make_jacobians

    assert study is not None
    runs = first_runs(study)
    data, generator = [run.data() for run in runs], torch.Generator().manual_seed(SEED)
    return draw_jacobians(make_jacobians(runs, data, generator, most=8, factors=POINT))


FINDING = Finding(
    "mpi3d-multi",
    "Rhodes & Lee 2021, figure 3",
    "A penalty on the L1 norm of the decoder's Jacobian gives each of the four objects in the quarters of an image "
    "latents of its own.",
    answer,
    measure,
    views=(
        Picture(
            "columns",
            "The largest columns of the Jacobian at the image with the published positions, first seed.",
            draw_columns,
        ),
    ),
)
