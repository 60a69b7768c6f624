"""Can scores without labels select hyperparameters? See Locatello et al. 2019, sec. 5.5, figure 9."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.questions.ranks import correlate
from unweave.questions.runs import UNSUPERVISED, Over, choose_scores, read_runs, supervised_metrics

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

    Needs ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and one unsupervised score: reconstruction
    error, PSNR, ELBO, KL divergence, total correlation, mutual information of the latents, or UDR. The paper does not
    say whether figure 9 is over models or over medians of seeds; the default is one value per model. Ties have average
    ranks.

    Scores keep their own sign: a useful reconstruction error correlates negatively, a useful ELBO positively. Runs
    without a score are left out; disentanglement_lib, for example, has no ELBO for FactorVAE.

    Returns one row per data set, score and metric: ``data``, ``score``, ``metric``, ``correlation``, ``count``. The
    correlation is NaN for fewer than three models or if one of the two is constant.
    """
    metrics = choose_scores("unsupervised_agreement", table, metrics, supervised_metrics())
    scores = choose_scores("unsupervised_agreement", table, scores, UNSUPERVISED, option="scores")
    runs = read_runs("unsupervised_agreement", table, [*metrics, *scores])
    return correlate(runs, scores, metrics, over, ("score", "metric"))
