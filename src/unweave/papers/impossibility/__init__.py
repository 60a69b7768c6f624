"""Theorem 1 of Locatello et al. 2019: without assumptions, disentanglement cannot be learned from the data alone."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from unweave.errors import extra
from unweave.figures.drawing.panels import TEXT, lay_out, panel_grid
from unweave.papers.finding import Answer, Claim, Finding, Part, Picture

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

    from unweave.study import Study
    from unweave.study.impossibility import Impossibility

SAMPLES = 10_000
DIMENSIONS = (2, 3, 5, 10)
COORDINATES = sum(DIMENSIONS)  # whose distances are tested; both marginals are made from the same samples
CRITICAL = math.sqrt(math.log(2 * COORDINATES / 0.05) / 2 / SAMPLES)  # 5 % for all Kolmogorov-Smirnov tests together
MOST = 3_000  # points


def measure(study: Study | None = None) -> pandas.DataFrame:
    """Entangle independent factors in 2 to 10 dimensions, and measure what changes and what does not."""
    from unweave.study.impossibility import demonstrate

    pandas = extra("pandas", "study")
    rows = []
    for marginal in ("uniform", "gaussian"):
        for dimensions in DIMENSIONS:
            shown = demonstrate(dimensions, marginal=marginal, samples=SAMPLES)
            rows.append(
                {
                    "marginal": marginal,
                    "dimensions": dimensions,
                    "mig of the factors": shown.mig_of_factors,
                    "mig of the entangled code": shown.mig_of_entangled,
                    "distance of the marginals": shown.largest_distance,
                    "largest rank correlation": shown.largest_correlation,
                    "smallest entry of the Jacobian": shown.smallest_derivative,
                }
            )
    return pandas.DataFrame(rows)


def answer(table: pandas.DataFrame) -> Answer:
    """Judge whether the theorem shows in the numbers."""
    distance, correlation = table["distance of the marginals"].max(), table["largest rank correlation"].max()
    smallest = table["smallest entry of the Jacobian"].min()
    before, after = table["mig of the factors"].min(), table["mig of the entangled code"].max()
    return Answer(
        [
            Claim(
                "The entangled code has the same distribution as the factors.",
                bool(distance < CRITICAL and correlation < 0.06),
                f"Largest Kolmogorov-Smirnov distance of a marginal {distance:.4f} (critical value at 5 % for "
                f"{COORDINATES} coordinates: {CRITICAL:.4f}), largest rank correlation between "
                f"two coordinates {correlation:.3f}.",
            ),
            Claim(
                "Every entry of its Jacobian is non-zero almost everywhere.",
                bool(smallest > 0),
                f"Smallest absolute entry over {SAMPLES:,} points: {smallest:.2g}.",
            ),
            Claim(
                "It is entangled: MIG falls from 1 to near 0.",
                bool(before > 0.99 and after < 0.1),
                f"MIG of the factors at least {before:.3f}, of the entangled code at most {after:.3f}.",
            ),
        ],
        [Part("The factors and the entangled code", table.round(dict.fromkeys(table.columns[:-1], 4)))],
    )


def draw_codes(study: Study | None = None) -> Figure:
    """Draw the factors and the entangled code in two dimensions."""
    from unweave.study.impossibility import demonstrate

    return draw_impossibility(demonstrate(2, marginal="uniform", samples=SAMPLES))


FINDING = Finding(
    "impossibility",
    "Locatello et al. 2019, Theorem 1",
    "For any factorised prior there are infinitely many codes with the same distribution of images that are completely "
    "entangled.",
    answer,
    measure,
    views=(Picture("codes", "Two codes with the same distribution, one separated and one entangled.", draw_codes),),
)


def draw_impossibility(shown: Impossibility) -> Figure:
    """Draw the first two coordinates of the factors and of the entangled factors, coloured by the first factor.

    Returns the matplotlib figure.
    """
    figure, axes = panel_grid(1, 2, sharex=True, sharey=True)
    panels = (("factors", shown.factors, shown.mig_of_factors), ("entangled", shown.entangled, shown.mig_of_entangled))
    for panel, (name, values, score) in zip(axes[0], panels, strict=True):
        colour = shown.factors[:MOST, 0]
        panel.scatter(values[:MOST, 0], values[:MOST, 1], c=colour, cmap="viridis", s=3, linewidths=0)
        panel.set_title(f"{name}: MIG {score:.2f}", fontsize=TEXT)
    label = "first coordinate, coloured by the first factor"
    return lay_out(figure, axes, height=2.6, width=2.6, label=label, side="second coordinate")
