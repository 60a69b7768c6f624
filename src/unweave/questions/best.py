"""Which run of each method would one pick without labels?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from unweave.errors import InputError
from unweave.questions.runs import (
    RUN,
    check_columns,
    choose_scores,
    grouped,
    read_runs,
    sign_of,
    supervised_metrics,
)

if TYPE_CHECKING:
    import pandas

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
    """
    rule = choose_rule("best_without_labels", table, rule)
    metrics = choose_scores("best_without_labels", table, metrics, supervised_metrics())
    runs = read_runs("best_without_labels", table, [rule, *metrics])
    runs = runs[runs[rule].notna()]
    if not len(runs):
        raise InputError(f"best_without_labels: no run has a value in the column {rule!r}.")
    groups = grouped(runs, ("data", "recipe"))
    among = groups[rule].transform("count")
    picked = (sign_of(rule) * runs[rule]).groupby([runs["data"], runs["recipe"]], sort=False).idxmax().to_numpy()
    chosen = runs.loc[picked].assign(rule=rule, value=runs.loc[picked, rule], among=among.loc[picked])
    return chosen[[*RUN, "rule", "value", "among", *metrics]].reset_index(drop=True)


def choose_rule(analysis: str, table: pandas.DataFrame, rule: str | None) -> str:
    """Return the rule, or the first one that the table has; a rule that needs labels is refused."""
    check_columns(analysis, table, [name for name in RUN if name != "strength"])
    if rule is None:
        present = [name for name in RULES if name in table and table[name].notna().any()]
        if not present:
            raise InputError(f"{analysis} needs a column with a score that uses no labels: one of {', '.join(RULES)}.")
        return present[0]
    if rule in supervised_metrics() or rule.startswith("downstream"):
        raise InputError(f"{analysis}: the rule {rule!r} uses labels. Choose one of {', '.join(RULES)}.")
    if rule not in RULES:
        raise InputError(f"{analysis}: the rule must be one of {', '.join(RULES)}, got {rule!r}.")
    check_columns(analysis, table, [rule])
    return rule
