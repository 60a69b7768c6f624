"""Does regularisation make the codes factorise? See Locatello et al. 2019, sec. 5.2, figures 2, 3, 15 and 16."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.questions._question import Question
from unweave.questions.scores_by_strength import by_strength, draw_by_strength
from unweave.study.columns import BACKWARDS

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

MEAN, SAMPLED = "total_correlation", "total_correlation_sampled"


def total_correlation_by_strength(
    table: pandas.DataFrame,
    *,
    mean: str = MEAN,
    sampled: str = SAMPLED,
    backwards: Sequence[str] = BACKWARDS,
) -> pandas.DataFrame:
    """Median and quartiles of the Gaussian total correlation of mean and of sampled codes, against the strength.

    The paper reports the median over seeds (figures 2, 3, 15 and 16); the quartiles are added.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed`` and the two columns of total correlation.
        mean: The column for mean codes.
        sampled: The column for sampled codes.
        backwards: The recipes whose largest strength regularises least (AnnealedVAE, whose strength is a capacity).

    Returns:
        The columns of :func:`~unweave.questions.scores_by_strength`, with ``codes`` (``"mean"`` or ``"sampled"``) in
        place of ``metric``. ``order`` counts from the weakest to the strongest regularisation and runs backwards for
        the recipes in ``backwards``.

    Examples:
        >>> import pandas
        >>> from unweave.questions import total_correlation_by_strength
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": [1, 1, 4, 4], "seed": [0, 1, 0, 1],
        ...     "total_correlation": [1, 2, 3, 4], "total_correlation_sampled": [4, 3, 2, 1]})
        >>> total_correlation_by_strength(table)[["codes", "strength", "median"]].values.tolist()
        [['mean', 1.0, 1.5], ['mean', 4.0, 3.5], ['sampled', 1.0, 3.5], ['sampled', 4.0, 1.5]]
    """
    result = by_strength("total_correlation_by_strength", table, [mean, sampled], backwards)
    result["metric"] = result["metric"].map({mean: "mean", sampled: "sampled"})
    return result.rename(columns={"metric": "codes"})


def draw_total_correlation_by_strength(result: pandas.DataFrame) -> Figure:
    """Draw the total correlation of mean and sampled codes on a logarithmic scale, and return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.total_correlation_by_strength`.
    """
    return draw_by_strength(result.assign(codes="total correlation, " + result["codes"]), "codes", logarithmic=True)


TOTAL_CORRELATION_BY_STRENGTH = Question(
    "total_correlation_by_strength",
    "Total correlation",
    asks="Does stronger regularisation make the codes factorise, and does it do so for the mean codes that are "
    "used as the representation, or only for sampled codes?",
    reads="Lines are medians over seeds and bands are quartiles, on a logarithmic scale. The x axis counts the "
    "strengths of each method from weak to strong regularisation.",
    table=total_correlation_by_strength,
    draw=draw_total_correlation_by_strength,
    paper="Locatello et al. 2019, figures 2, 3, 15 and 16",
    about_strengths=True,
)
