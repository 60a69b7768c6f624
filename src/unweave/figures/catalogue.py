"""All figures by name, and those that can be drawn of a run."""

from __future__ import annotations

from unweave.data import FactorData
from unweave.figures.cumulative_distances import draw_cumulative_distances, make_cumulative_distances
from unweave.figures.curvature import draw_curvature, make_curvature
from unweave.figures.data_distances import draw_data_distances, make_data_distances
from unweave.figures.dci_importance import draw_dci_importance, make_dci_importance
from unweave.figures.figure import Figure
from unweave.figures.interventions import draw_interventions, make_interventions
from unweave.figures.jacobians import draw_jacobians, make_jacobians
from unweave.figures.kernel_densities import draw_kernel_densities, make_kernel_densities
from unweave.figures.latent_marginals import draw_latent_marginals, make_latent_marginals
from unweave.figures.latent_pairs import draw_latent_pairs, make_latent_pairs
from unweave.figures.local_scores import draw_local_scores, local_rows, make_local_scores
from unweave.figures.mutual_information import draw_mutual_information, make_mutual_information
from unweave.figures.paired_densities import draw_paired_densities, make_paired_densities
from unweave.figures.reconstructions import compare_reconstructions, draw_comparison
from unweave.figures.run_distances import draw_run_distances, make_run_distances
from unweave.figures.samples import draw_samples, make_samples
from unweave.figures.score_by_spacing import draw_score_by_spacing, make_score_by_spacing
from unweave.figures.score_strips import draw_score_strips, make_score_strips
from unweave.figures.training_curves import draw_training_curves, make_training_curves
from unweave.figures.traversals import STEPS, draw_traversals, make_traversals, traversal_frames
from unweave.figures.two_latents import draw_two_latents, make_two_latents
from unweave.representation import Representation

RECONSTRUCTION, EFFECTS = "Reconstruction", "What the latents do"  # topics of several figures
FACTORS, DISTRIBUTION = "Latents and factors", "Distribution of the codes"
_FIGURES = (
    Figure(
        "reconstructions",
        "Images beside their reconstructions by one or several runs.",
        "runs",
        compare_reconstructions,
        draw_comparison,
        needs=("encoder", "decoder"),
        topic=RECONSTRUCTION,
        paper="Locatello et al. 2019, figure 1",
    ),
    Figure(
        "samples",
        "Decoded random codes, from the prior or from the distribution of each latent over the data.",
        "runs",
        make_samples,
        draw_samples,
        needs=("end", "decoder"),
        topic=RECONSTRUCTION,
    ),
    Figure(
        "traversals",
        "Each latent moved over its range, the most informative first; also as GIF and MP4.",
        "run",
        make_traversals,
        draw_traversals,
        needs=("end", "encoder", "decoder"),
        topic=EFFECTS,
        paper="Michlo et al. 2023, figure 7",
        frames=traversal_frames,
        moving={"steps": STEPS},
    ),
    Figure(
        "two_latents",
        "Two latents moved together, as a grid of images.",
        "runs",
        make_two_latents,
        draw_two_latents,
        needs=("end", "encoder", "decoder", "two latents"),
        topic=EFFECTS,
        paper="Hsu et al. 2024, figure 4",
    ),
    Figure(
        "interventions",
        "Latents of several images moved, beside the mutual information of the same latents with the factors.",
        "run",
        make_interventions,
        draw_interventions,
        needs=("end", "encoder", "decoder", "factors"),
        topic=FACTORS,
        paper="Hsu et al. 2024, figures 7 to 10",
    ),
    Figure(
        "mutual_information",
        "How much each latent knows about each factor, over the entropy of the factor.",
        "runs",
        make_mutual_information,
        draw_mutual_information,
        needs=("end", "factors"),
        topic=FACTORS,
        paper="Hsu et al. 2024, figure 5",
    ),
    Figure(
        "dci_importance",
        "Which latents a predictor of each factor relies on.",
        "runs",
        make_dci_importance,
        draw_dci_importance,
        needs=("end", "factors"),
        topic=FACTORS,
    ),
    Figure(
        "jacobian",
        "Columns of the Jacobian of the decoder at an image, by L2 norm; bases=true adds PCA and ICA.",
        "runs",
        make_jacobians,
        draw_jacobians,
        needs=("encoder", "decoder"),
        topic=EFFECTS,
        paper="Rhodes & Lee 2021, figures 1 to 3, 6 and 8 to 10",
    ),
    Figure(
        "curvature",
        "How much each layer of the decoder bends along the latents.",
        "runs",
        make_curvature,
        draw_curvature,
        needs=("end", "networks"),
        topic=EFFECTS,
    ),
    Figure(
        "latent_marginals",
        "The distribution of each latent over the data, beside its prior or by level.",
        "run",
        make_latent_marginals,
        draw_latent_marginals,
        needs=("end",),
        topic=DISTRIBUTION,
    ),
    Figure(
        "latent_pairs",
        "The joint distribution of every two of the most informative latents.",
        "run",
        make_latent_pairs,
        draw_latent_pairs,
        needs=("end", "two latents"),
        topic=DISTRIBUTION,
    ),
    Figure(
        "kernel_densities",
        "The density estimate of Tripod's kernel multiinformation: marginals, and level sets of two latents.",
        "run",
        make_kernel_densities,
        draw_kernel_densities,
        needs=("end", "networks", "two latents"),
        topic=DISTRIBUTION,
        paper="Hsu et al. 2024, figure 3",
    ),
    Figure(
        "distances",
        "Distances along factor traversals in ground-truth, perceived, latent, KL and reconstruction space.",
        "runs",
        make_run_distances,
        draw_run_distances,
        needs=("encoder", "grid"),
        topic=FACTORS,
        paper="Michlo et al. 2023, figures 4 and 10",
    ),
    Figure(
        "training_curves",
        "The loss and every term of it over training.",
        "runs",
        make_training_curves,
        draw_training_curves,
        needs=("log",),
        topic="Training",
        skips=True,
    ),
    Figure(
        "perceived_distances",
        "Perceived against ground-truth distances of one or several data sets.",
        "data",
        make_data_distances,
        draw_data_distances,
        needs=("grid",),
        paper="Michlo et al. 2023, figures 3 and 8",
    ),
    Figure(
        "cumulative_distances",
        "Cumulative proportions of the perceived distances of a change in each factor.",
        "data",
        make_cumulative_distances,
        draw_cumulative_distances,
        needs=("grid",),
        paper="Michlo et al. 2023, figure A1",
    ),
    Figure(
        "local_scores",
        "Local MIG and modularity against the radius of neighbourhoods, with the spread over seeds.",
        "table",
        make_local_scores,
        draw_local_scores,
        paper="Rhodes & Lee 2021, figures 4 and 7",
        rows=local_rows,
    ),
    Figure(
        "score_strips",
        "The scores of every run, one strip per method.",
        "table",
        make_score_strips,
        draw_score_strips,
        paper="Rhodes & Lee 2021, figure 5",
    ),
    Figure(
        "score_by_spacing",
        "Scores against the spacing of XYSquares, or another setting that is a number.",
        "table",
        make_score_by_spacing,
        draw_score_by_spacing,
        paper="Michlo et al. 2023, figure 9",
    ),
    Figure(
        "paired_densities",
        "The densities of the scores of two methods, or two values of a setting, side by side.",
        "table",
        make_paired_densities,
        draw_paired_densities,
        paper="Michlo et al. 2023, figures 6 and 11",
    ),
)
FIGURES: dict[str, Figure] = {figure.name: figure for figure in _FIGURES}


def applicable_figures(run: Representation, data: FactorData) -> list[Figure]:
    """Return the figures that can be drawn of one run and its data, in the order of the catalogue.

    Figures of tables are not among them: they compare runs.

    Examples:
        >>> import unweave
        >>> from unweave.figures import applicable_figures
        >>> run = unweave.open("zoo:ada-gvae-xysquares")
        >>> [figure.name for figure in applicable_figures(run, run.data())][:3]
        ['reconstructions', 'samples', 'traversals']
    """
    return [figure for figure in FIGURES.values() if figure.source != "table" and not figure.refusal(run, data)]
