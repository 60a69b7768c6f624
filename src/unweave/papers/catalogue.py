"""All findings in the order of the papers, found by name."""

from __future__ import annotations

from collections.abc import Mapping
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


def find(name: str) -> Finding:
    """Return a finding by its name, with - or _."""
    found = FINDINGS.get(name.replace("_", "-"))
    if found is None:
        raise unknown("finding", name, FINDINGS)
    return found


def stored_results() -> list[pandas.DataFrame]:
    """Return the results of all findings that come with Unweave."""
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
