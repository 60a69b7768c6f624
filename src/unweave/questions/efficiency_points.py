"""How is statistical efficiency related to each metric? See Locatello et al. 2019, sec. 5.6, figures 13 and 14."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.questions._question import Question, draw_points, pair_points
from unweave.questions.statistical_efficiency import Ratios, read_efficiencies

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure


def efficiency_points(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    efficiencies: Sequence[str] | Ratios | None = None,
) -> pandas.DataFrame:
    """Each metric (x) and statistical efficiency (y) of every model, as points for scatter plots (figures 13 and 14).

    Needs the columns of :func:`statistical_efficiency`. Returns ``data``, ``recipe``, ``strength``, ``seed``, ``x``,
    ``y``, ``x_value``, ``y_value``.

    Examples:
        >>> import pandas
        >>> from unweave.questions import efficiency_points
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "mig": [0.1, 0.2, 0.3], "few": [0.3, 0.4, 0.6], "many": [0.6, 0.8, 0.8]})
        >>> efficiency_points(table, efficiencies={"trees": ("few", "many")})["y_value"].round(2).tolist()
        [0.5, 0.5, 0.75]
    """
    runs, metrics, names = read_efficiencies("efficiency_points", table, metrics, efficiencies)
    return pair_points(runs, [(metric, name) for name in names for metric in metrics])


def draw_efficiency_points(result: pandas.DataFrame) -> Figure:
    """Draw statistical efficiency against metrics, one row of panels per data set and classifier (figures 13, 14)."""
    short = result["y"].str.replace("downstream.efficiency_", "", regex=False)
    rows = result.assign(row=result["data"].astype(str) + ", " + short)
    return draw_points(rows, rows="row", columns="x", labels=("score", "statistical efficiency"))


EFFICIENCY_POINTS = Question(
    "efficiency_points",
    "Efficiency, model by model",
    asks="How is statistical efficiency related to each metric?",
    reads="One point per model. A model can be efficient because it learns nothing from more labels.",
    table=efficiency_points,
    draw=draw_efficiency_points,
    paper="Locatello et al. 2019, figures 13 and 14",
    points=True,
)
