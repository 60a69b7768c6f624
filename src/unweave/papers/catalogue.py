"""All findings in the order of the papers, and every figure and table of the papers with the command that makes it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError, unknown
from unweave.papers import (
    adversarial_squares,
    challenging_assumptions,
    combinations,
    impossibility,
    local_disentanglement,
    mpi3d_multi,
    natural_patches,
    perceived_distance,
    tripod,
)
from unweave.papers.finding import SCALES, Finding

if TYPE_CHECKING:
    import pandas

    from unweave.study import Study

FINDINGS = {
    finding.name: finding
    for finding in (
        local_disentanglement.FINDING,
        mpi3d_multi.FINDING,
        natural_patches.FINDING,
        perceived_distance.FINDING,
        adversarial_squares.FINDING,
        challenging_assumptions.FINDING,
        impossibility.FINDING,
        tripod.FINDING,
        combinations.FINDING,
    )
}
RHODES, MICHLO = "Rhodes & Lee 2021", "Michlo et al. 2023"
LOCATELLO, HSU = "Locatello et al. 2019", "Hsu et al. 2024"


def find(name: str) -> Finding:
    """Return a finding by its name, with - or _.

    Examples:
        >>> from unweave.papers import find
        >>> find("challenging_assumptions").name
        'challenging-assumptions'
    """
    found = FINDINGS.get(name.replace("_", "-"))
    if found is None:
        raise unknown("finding", name, FINDINGS)
    return found


def stored_results() -> list[pandas.DataFrame]:
    """Return the results of all findings that come with Unweave.

    Examples:
        >>> from unweave.papers import stored_results
        >>> sum(len(table) for table in stored_results()) > 100
        True
    """
    return [table for finding in FINDINGS.values() if (table := finding.stored()) is not None]


def study_of(
    name: str, scale: str, store: str | Path | None = None, settings: Mapping[str, Any] | None = None
) -> Study | None:
    """Return the study of a finding at a scale, None if nothing needs to be trained.

    Args:
        name: A finding.
        scale: "lite" or "paper".
        store: The folder or address of the runs.
        settings: More settings of all runs, such as ``data.folder``. What the grids vary cannot be changed.

    Returns:
        The study, which trains nothing until it is run.

    Examples:
        >>> from unweave.papers import study_of
        >>> study_of("tripod", "lite", store="runs").spec.name
        'tripod-lite'
        >>> study_of("impossibility", "lite") is None
        True
    """
    from unweave.study import Study

    finding = find(name)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    if not finding.scales:
        if settings:
            raise InputError(f"{name} trains nothing and has no settings.")
        return None
    if scale not in finding.scales:
        raise InputError(f"{name} has no study at the scale {scale!r}: it has {', '.join(finding.scales)}.")
    study = Study(f"{finding.name}/{scale}", store=store)
    return Study(study.spec.with_fixed(settings), store=store) if settings else study


@dataclass(frozen=True)
class Exhibit:
    """A figure, table or theorem of a paper; RUN in a command is a trained run, and RUN… are several.

    Examples:
        >>> from unweave.papers import EXHIBITS
        >>> EXHIBITS[0].number, EXHIBITS[0].command
        ('figures 1, 8, 9', 'unweave paper run natural-patches')
    """

    paper: str
    number: str
    shows: str
    command: str


def _answered(number: str, shows: str, question: str) -> Exhibit:
    return Exhibit(LOCATELLO, number, shows, f"unweave figure {question} --study challenging-assumptions/lite")


EXHIBITS = (
    Exhibit(RHODES, "figures 1, 8, 9", "Jacobian columns on natural images", "unweave paper run natural-patches"),
    Exhibit(RHODES, "figure 2", "Jacobian columns on three dots", "unweave paper run local-disentanglement"),
    Exhibit(RHODES, "figure 3", "Jacobian columns on MPI3D-Multi", "unweave paper run mpi3d-multi"),
    Exhibit(RHODES, "figure 4", "local MIG and modularity by radius", "unweave paper run local-disentanglement"),
    Exhibit(RHODES, "figure 5", "seven methods, every run", "unweave paper run local-disentanglement"),
    Exhibit(RHODES, "figure 6", "Jacobian columns at any image", "unweave figure jacobian RUN…"),
    Exhibit(RHODES, "figure 7", "scores over γ and radius", "unweave paper run local-disentanglement"),
    Exhibit(RHODES, "figure 10", "bases of PCA and ICA", "unweave figure jacobian RUN --set bases=true"),
    Exhibit(RHODES, "Tables 1, 2", "the nets", "unweave nets show conv64"),
    Exhibit(RHODES, "section 5.2", "training times", "unweave study table local-disentanglement/lite --wide"),
    Exhibit(MICHLO, "figures 2, 5", "the data sets", "unweave data show xysquares"),
    Exhibit(MICHLO, "figures 3, 8", "matrices of perceived distances", "unweave paper run perceived-distance"),
    Exhibit(MICHLO, "figures 4, 10", "distances between codes and reconstructions", "unweave figure distances RUN…"),
    Exhibit(MICHLO, "figure 6", "scores on each data set", "unweave paper run adversarial-squares"),
    Exhibit(MICHLO, "figure 7", "latent traversals", "unweave figure traversals RUN"),
    Exhibit(MICHLO, "figure 9", "scores against the spacing", "unweave paper run adversarial-squares"),
    Exhibit(MICHLO, "figure 11", "scores with and without the blurred loss", "unweave paper run adversarial-squares"),
    Exhibit(MICHLO, "figure A1", "cumulative distances", "unweave figure cumulative_distances --data dsprites"),
    Exhibit(MICHLO, "Tables A1, A2", "mean distances, standardisation", "unweave data distances dsprites"),
    Exhibit(MICHLO, "Table A4", "the grids", "unweave study plan adversarial-squares/paper"),
    Exhibit(LOCATELLO, "Theorem 1", "impossibility", "unweave paper run impossibility"),
    Exhibit(LOCATELLO, "figure 1", "reconstructions", "unweave figure reconstructions RUN…"),
    _answered("figures 2, 3, 15, 16", "total correlation against strength", "total_correlation_by_strength"),
    _answered("figure 4", "mean against sampled codes", "mean_against_sampled"),
    _answered("figure 5", "metrics against one another", "metric_pairs"),
    _answered("figure 6", "rank correlations of metrics", "metric_agreement"),
    _answered("figure 7", "ranges of scores per method", "score_ranges"),
    _answered("figure 8", "scores against strength", "scores_by_strength"),
    _answered("figure 9", "unsupervised scores against metrics", "unsupervised_agreement"),
    _answered("figure 10", "transfer of hyperparameters between data sets", "transfer_between_data"),
    _answered("figure 11", "scores of a setting on two data sets", "transfer_of_scores"),
    _answered("figure 12", "downstream accuracy against metrics", "downstream_agreement"),
    _answered("figures 13, 14", "statistical efficiency", "efficiency_points"),
    _answered("Table 1", "beating random model selection", "beating_random"),
    Exhibit(
        LOCATELLO,
        "Tables 2, 3, 4",
        "nets, grids, settings",
        "unweave study plan challenging-assumptions/paper",
    ),
    Exhibit(HSU, "figure 2", "quantised latents, two at a time", "unweave figure latent_pairs RUN"),
    Exhibit(HSU, "figure 3", "kernel densities of latents", "unweave figure kernel_densities RUN"),
    Exhibit(HSU, "figure 4", "two latents moved together", "unweave figure two_latents RUN…"),
    Exhibit(HSU, "figure 5", "normalised mutual information", "unweave figure mutual_information RUN…"),
    Exhibit(HSU, "figure 6", "the data sets", "unweave data show shapes3d_drawn"),
    Exhibit(
        HSU,
        "figures 7 to 10",
        "interventions beside the heat map",
        "unweave figure interventions RUN --set steps=30 --set over=quantile",
    ),
    Exhibit(HSU, "Table 1", "Tripod, ablations and baselines", "unweave paper run tripod"),
    Exhibit(HSU, "Table 2", "thresholds of PSNR", "unweave study plan tripod/paper"),
    Exhibit(HSU, "Tables 4, 5", "settings and grids of tuning", "unweave study plan tripod/paper"),
    Exhibit(HSU, "Table 6", "cost by method", "unweave paper run tripod"),
)


def exhibits_page() -> str:
    """Return the page that lists every figure and table of the papers, in Markdown."""
    lines = [
        "# Figures and tables of the papers",
        "",
        "Every figure and table of the four papers, with the command that makes it; RUN is a trained run. "
        "`unweave paper run NAME` trains what is missing; `unweave paper show NAME` prints what is stored, without "
        "training; figures of `--study` need its runs (`unweave study run`). `--scale paper`, or `/paper` in place of "
        "`/lite`, is the published protocol. `unweave paper figures` prints this list.",
    ]
    for paper in (RHODES, MICHLO, LOCATELLO, HSU):
        lines += ["", f"## {paper}", "", "| | shows | command |", "|---|---|---|"]
        lines += [f"| {e.number} | {e.shows} | `{e.command}` |" for e in EXHIBITS if e.paper == paper]
    return "\n".join(lines) + "\n"
