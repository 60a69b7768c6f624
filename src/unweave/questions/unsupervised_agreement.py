"""Can scores without labels select hyperparameters? See Locatello et al. 2019, sec. 5.5, figure 9."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from unweave.questions._question import Question, correlate, draw_correlations
from unweave.study.columns import UNSUPERVISED, Over, choose_metrics, choose_scores, read_runs

if TYPE_CHECKING:
    import pandas


def unsupervised_agreement(
    table: pandas.DataFrame,
    *,
    metrics: Sequence[str] | None = None,
    scores: Sequence[str] | None = None,
    over: Over = "models",
) -> pandas.DataFrame:
    """Spearman's rank correlation of scores that need no labels with disentanglement metrics, for each data set.

    Ties have average ranks. Scores keep their own sign: a useful reconstruction error correlates negatively, a useful
    ELBO positively. Runs without a score are left out; disentanglement_lib, for example, has no ELBO for FactorVAE.

    Args:
        table: Runs with ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and one unsupervised score.
        metrics: The columns of metrics; by default all disentanglement metrics of the table.
        scores: The columns of unsupervised scores; by default all of reconstruction error, PSNR, ELBO, KL divergence,
            total correlation, mutual information of the latents, and UDR that the table has.
        over: ``"models"`` correlates one value per model, ``"medians"`` the medians over seeds; the paper does not say
            which figure 9 does.

    Returns:
        One row per data set, score and metric: ``data``, ``score``, ``metric``, ``correlation``, ``count``. The
        correlation is NaN for fewer than three models or if one of the two is constant.

    Examples:
        >>> import pandas
        >>> from unweave.questions import unsupervised_agreement
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "elbo": [-30, -20, -40], "mig": [0.2, 0.3, 0.1]})
        >>> unsupervised_agreement(table)[["score", "metric", "correlation"]].round(2).values.tolist()
        [['elbo', 'mig', 1.0]]
    """
    metrics = choose_metrics("unsupervised_agreement", table, metrics)
    scores = choose_scores("unsupervised_agreement", table, scores, UNSUPERVISED, option="scores")
    runs = read_runs("unsupervised_agreement", table, [*metrics, *scores])
    return correlate(runs, scores, metrics, over, ("score", "metric"))


UNSUPERVISED_AGREEMENT = Question(
    "unsupervised_agreement",
    "Scores without labels",
    asks="Can scores that need no labels, such as the reconstruction error, predict the metrics that do?",
    reads="Spearman's rank correlation times 100 of each unsupervised score with each metric, one matrix per "
    "data set. A reconstruction error that is useful correlates negatively.",
    table=unsupervised_agreement,
    draw=partial(draw_correlations, rows="score", columns="metric", panels="data"),
    paper="Locatello et al. 2019, figure 9",
)
