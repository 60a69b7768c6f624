"""Which run of each method would one pick without labels?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError
from unweave.figures.drawing.panels import SMALL, Panels, lay_out, style_methods
from unweave.figures.drawing.texts import Labels
from unweave.names import words
from unweave.questions._question import Question
from unweave.study.columns import (
    RUN,
    TableError,
    check_columns,
    choose_metrics,
    grouped,
    read_runs,
    sign_of,
    supervised_metrics,
)

if TYPE_CHECKING:
    import pandas
    from matplotlib.figure import Figure

LONGEST = 1.5  # inches of the name of a data set
RULES = ("udr", "elbo", "reconstruction_error", "psnr", "total_correlation_sampled", "total_correlation")


def best_without_labels(
    table: pandas.DataFrame, *, rule: str | None = None, metrics: Sequence[str] | None = None
) -> pandas.DataFrame:
    """The run of each method on each data set that a rule without labels picks, with its scores.

    Needs ``data``, ``recipe``, ``strength``, ``seed``, at least one metric and the column of the rule. ``rule`` is
    ``"udr"`` or ``"elbo"`` or ``"psnr"`` (the highest), or ``"reconstruction_error"``, ``"total_correlation_sampled"``
    or ``"total_correlation"`` (the lowest); by default the first of these that the table has, in the order ``udr``,
    ``elbo``, ``reconstruction_error``, …. Runs are compared within a data set and a recipe only. Of several runs with
    the best value, the first in the table is picked.

    Returns one row per data set and recipe: ``data``, ``recipe``, ``strength``, ``seed``, ``rule``, ``value`` of the
    rule, ``among`` (the number of runs with such a value) and one column per metric. Recipes without a value of the
    rule, such as an autoencoder without a posterior for ``elbo``, are left out.

    Examples:
        >>> import pandas
        >>> from unweave.questions import best_without_labels
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": "beta_vae", "strength": 1.0, "seed": [0, 1, 2],
        ...     "elbo": [-30, -20, -40], "mig": [0.1, 0.3, 0.2]})
        >>> best_without_labels(table)[["seed", "rule", "value", "mig"]].values.tolist()
        [[1, 'elbo', -20.0, 0.3]]
    """
    rule = choose_rule("best_without_labels", table, rule)
    metrics = choose_metrics("best_without_labels", table, metrics)
    runs = read_runs("best_without_labels", table, [rule, *metrics])
    runs = runs[runs[rule].notna()]
    if not len(runs):
        raise TableError("best_without_labels", f"no run has a value in the column {rule!r}.")
    groups = grouped(runs, ("data", "recipe"))
    among = groups[rule].transform("count")
    picked = (sign_of(rule) * runs[rule]).groupby([runs["data"], runs["recipe"]], sort=False).idxmax().to_numpy()
    chosen = runs.loc[picked].assign(rule=rule, value=runs.loc[picked, rule], among=among.loc[picked])
    return chosen[[*RUN, "rule", "value", "among", *metrics]].reset_index(drop=True)


def draw_best_without_labels(result: pandas.DataFrame) -> Figure:
    """Draw one panel per score with one line per data set and one marker per method; return the matplotlib figure.

    ``result`` is that of :func:`~unweave.questions.best_without_labels`.
    """
    scores = list(result.columns[result.columns.get_loc("among") + 1 :])
    data = list(result["data"].unique())
    styles = style_methods(result["recipe"])
    panels, shortened = Panels([""], scores), Labels()
    names = [shortened.fit(words(name), LONGEST, SMALL) for name in data]
    for place, score in enumerate(scores):
        panel = panels["", score]
        for y in range(len(data)):
            panel.axhline(y, color="0.9", linewidth=0.8, zorder=0)
        for run in result[["data", "recipe", score]].itertuples(index=False, name=None):
            where, recipe, value = run
            panel.plot(value, data.index(where), markersize=5, linestyle="none", **styles[recipe])
        panel.set_yticks(range(len(data)), names if place % panels.across == 0 else [""] * len(data), fontsize=SMALL)
        panel.set_ylim(len(data) - 0.5, -0.5)
    panels.name()
    label = f"score of the run picked by {words(result['rule'].iloc[0])}"
    look: dict[str, Any] = {"label": label, "legend": styles, "labels": shortened}
    return lay_out(panels.figure, panels.axes, height=0.2 * len(data) + 0.2, **look)


def choose_rule(question: str, table: pandas.DataFrame, rule: str | None) -> str:
    """Return the rule, or the first one that the table has; a rule that needs labels is refused."""
    check_columns(question, table, [name for name in RUN if name != "strength"])
    if rule is None:
        present = [name for name in RULES if name in table and table[name].notna().any()]
        if not present:
            raise TableError(question, f"needs a column with a score that uses no labels: one of {', '.join(RULES)}.")
        return present[0]
    if rule in supervised_metrics() or rule.startswith("downstream"):
        raise InputError(f"{question}: the rule {rule!r} uses labels. Choose one of {', '.join(RULES)}.")
    if rule not in RULES:
        raise InputError(f"{question}: the rule must be one of {', '.join(RULES)}, got {rule!r}.")
    check_columns(question, table, [rule])
    return rule


BEST_WITHOUT_LABELS = Question(
    "best_without_labels",
    "Best run without labels",
    asks="Which run of each method would be picked by a rule that uses no labels, and what does it score?",
    reads="One marker per method: the scores of the run that the rule picks on each data set.",
    table=best_without_labels,
    draw=draw_best_without_labels,
)
