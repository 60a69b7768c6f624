"""Figures 1, 8, 9 and 10 of Rhodes & Lee 2021: on crops of natural images, JL1-VAE's columns are local like ICA's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from unweave.errors import extra
from unweave.papers.evidence import collect, fastest, finished, finite, first_runs, over_seeds
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study
    from unweave.training import Run

POINTS = 16  # images at which the Jacobian is computed
SMALLEST = 0.1  # columns with less than this fraction of the largest norm are of unused latents
SEED = 0
MINUTES = {"jl1_vae": 23, "beta_vae": 9}  # published times of a run


def measure(study: Study | None) -> pandas.DataFrame:
    """Return the table of the study with the mean area of the columns of each run."""
    assert study is not None
    table = collect(study)
    areas = {run.name: mean_area(run) for run in study.runs()}
    table["area"] = [areas.get(name, (float("nan"), 0))[0] for name in table["run"]]
    table["columns"] = [areas.get(name, (float("nan"), 0))[1] for name in table["run"]]
    return table


def mean_area(run: Run) -> tuple[float, float]:
    """Return the mean fraction of the image that holds 90 % of a column's energy, and how many columns it is over.

    Both are means over images. Columns of latents that a decoder does not use have no shape worth measuring and are
    left out; components of linear recipes are all used.
    """
    import torch

    from unweave.figures.jacobians import make_jacobians

    generator = torch.Generator().manual_seed(SEED)
    result = make_jacobians([run], [run.data()], generator, points=POINTS, most=run.model.latent.size)
    smallest = 0.0 if run.configuration.linear else SMALLEST
    areas: list[float] = []
    for block in result.blocks:
        pairs = zip(block.areas, block.norms, strict=True)
        areas += [area for area, norm in pairs if norm >= smallest * block.norms[0]]
    return sum(areas) / len(areas), len(areas) / len(result.blocks)


def answer(table: pandas.DataFrame) -> Answer:
    """Compare the areas of JL1-VAE and β-VAE for each number of latents, and with those of the largest ICA and PCA."""
    runs = finished(table)
    latents = sorted(runs[runs["recipe"] == "jl1_vae"]["latents"].unique())
    frame = extra("pandas", "study").DataFrame
    claims = [_smaller(runs, "jl1_vae", "beta_vae", int(size)) for size in latents]
    for recipe, like, unlike in (("jl1_vae", "ica", "pca"), ("beta_vae", "pca", "ica")):
        claims += [_nearer(runs, recipe, like, unlike, int(size)) for size in latents]
    ica, pca = (_of(runs, recipe, int(runs["latents"].max())) for recipe in ("ica", "pca"))
    claims.append(
        Claim(
            "ICA's columns are more local than PCA's.",
            bool(ica.max() < pca.min()) if len(ica) and len(pca) else None,
            f"Area {ica.mean():.2f} and {pca.mean():.2f} of the image, with {int(runs['latents'].max())} components.",
        )
    )
    return Answer(
        claims,
        [
            Part(
                "Area that holds 90 % of the energy of a column, as a fraction of the image",
                over_seeds(runs.sort_values(["latents", "recipe"]), ["latents", "recipe"], ["area", "columns", "psnr"]),
                note="The paper shows pictures and gives no numbers.",
            ),
            Part(
                "Time of training (section 5.2)",
                fastest(runs, ["recipe"]),
                frame({"recipe": list(MINUTES), "minutes on an NVIDIA V100": list(MINUTES.values())}),
            ),
        ],
    )


def _of(runs: pandas.DataFrame, recipe: str, latents: int) -> Any:
    return finite(runs[(runs["recipe"] == recipe) & (runs["latents"] == latents)]["area"])


def _smaller(runs: pandas.DataFrame, one: str, other: str, latents: int) -> Claim:
    sentence = f"With {latents} latents JL1-VAE's columns are more local than β-VAE's."
    a, b = _of(runs, one, latents), _of(runs, other, latents)
    if not len(a) or not len(b):
        return Claim(sentence, None, "There are no runs of a method.")
    evidence = f"Area {a.mean():.2f} ({a.min():.2f} to {a.max():.2f}) against {b.mean():.2f} "
    evidence += f"({b.min():.2f} to {b.max():.2f}). Shown if all seeds of the first are below all of the second."
    return Claim(sentence, bool(a.max() < b.min()), evidence)


def _nearer(runs: pandas.DataFrame, recipe: str, like: str, unlike: str, latents: int) -> Claim:
    sentence = f"With {latents} latents the columns of {recipe} are nearer in area to those of {like} than of {unlike}."
    own, most = _of(runs, recipe, latents), int(runs["latents"].max())
    near, far = (_of(runs, name, most) for name in (like, unlike))
    if not (len(own) and len(near) and len(far)):
        return Claim(sentence, None, "There are no runs of a method.")
    shown = abs(own.mean() - near.mean()) < abs(own.mean() - far.mean())
    areas = ", ".join(f"{name} {each.mean():.2f}" for name, each in ((recipe, own), (like, near), (unlike, far)))
    evidence = f"Area {areas}, the last two with {most} components as in the paper. Judged by the means."
    return Claim(sentence, bool(shown), evidence)


def draw_columns(study: Study | None) -> Figure:
    """Draw the columns of the first run of each method, with 10 latents, and 20 of 100 components of ICA and PCA."""
    import torch

    from unweave.figures.jacobians import draw_jacobians, make_jacobians

    assert study is not None
    trained = [run for run in first_runs(study, latents=10) if not run.configuration.linear]
    runs = trained + first_runs(study, latents=100)
    data = [run.data() for run in runs]
    generator = torch.Generator().manual_seed(SEED)
    return draw_jacobians(make_jacobians(runs, data, generator, most=20, images=False))


FINDING = Finding(
    "natural-patches",
    "Rhodes & Lee 2021, figures 1, 8, 9 and 10",
    "On crops of natural images the columns of JL1-VAE's Jacobian are local, like those of ICA, while those of β-VAE "
    "and PCA extend over the whole image.",
    answer,
    measure,
    views=(
        Picture(
            "columns", "Columns of the Jacobian with 10 latents, and 20 of 100 components, by L2 norm.", draw_columns
        ),
    ),
)
