"""Run what a finding needs, and keep its table."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError, Unavailable, extra, unknown
from unweave.papers.catalogue import FINDINGS
from unweave.papers.finding import SCALES, Finding
from unweave.papers.specs import spec_path, table_path

if TYPE_CHECKING:
    import pandas

    from unweave.study import Study


def find(name: str) -> Finding:
    """Return a finding by its name."""
    if name not in FINDINGS:
        raise unknown("finding", name, FINDINGS)
    return FINDINGS[name]


def study_of(
    name: str, scale: str, store: str | Path | None = None, settings: Mapping[str, Any] | None = None
) -> Study | None:
    """Return the study of a finding at a scale, None if nothing needs to be trained.

    ``settings`` are settings of all runs that are added to the specification, such as ``data.folder``. What its grids
    vary cannot be changed.
    """
    from unweave.study import Study

    finding = find(name)
    if scale not in SCALES:
        raise unknown("scale", scale, SCALES)
    if not finding.specs:
        if settings:
            raise InputError(f"{name} trains nothing and has no settings.")
        return None
    if scale not in finding.specs:
        raise InputError(f"{name} has no study at the scale {scale!r}: it has {', '.join(finding.specs)}.")
    study = Study(spec_path(finding.specs[scale]), store=store)
    if not settings:
        return study
    return Study(study.spec.with_fixed(settings), store=store)


def run_paper(
    name: str,
    scale: str = "lite",
    *,
    store: str | Path | None = None,
    settings: Mapping[str, Any] | None = None,
    **running: Any,
) -> pandas.DataFrame:
    """Train and score what is missing, and return the table of a finding. ``running`` is passed to Study.run."""
    study = study_of(name, scale, store, settings)
    if study is not None:
        study.run(**running)
    return find(name).table(study)


def read_table(name: str, path: str | Path | None = None) -> pandas.DataFrame:
    """Read a table of a finding from a file, by default the one that comes with Unweave (lite scale)."""
    pandas = extra("pandas", "study")
    path = table_path(name) if path is None else Path(path)
    if not path.is_file():
        raise Unavailable(f"there is no table {path}: unweave paper run {name} computes it.")
    return pandas.read_csv(path)
