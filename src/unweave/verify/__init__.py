"""Recompute what others published: trained models, data sets, scores, grids. One row per number, or group of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from unweave.errors import InputError, unknown
from unweave.verify import data_statistics, protocols, public_models, reference_scores
from unweave.verify.row import Check, Material, Pair, Row
from unweave.zoo.public import COLLECTION, PREFIX

__all__ = ["CHECKS", "Check", "Material", "Pair", "Row", "checks_named", "verify"]

KINDS = (public_models, data_statistics, reference_scores, protocols)
CHECKS: dict[str, Check] = {check.name: check for kind in KINDS for check in kind.CHECKS}


def checks_named(name: str | None) -> list[Check]:
    """Return the check of a name, all those whose names begin with it and a slash, or all if it is None.

    Public models are also found by the name that opens them, and all of them by that of their collection.
    """
    if name is None:
        return list(CHECKS.values())
    if (given := name.removeprefix(PREFIX).strip("/").replace("-", "_")) == COLLECTION.replace("-", "_"):
        return public_models.CHECKS
    given = given.removeprefix(f"{COLLECTION}/".replace("-", "_"))
    found = [check for key, check in CHECKS.items() if f"{key}/".replace("-", "_").startswith(f"{given}/")]
    if not found:
        groups = dict.fromkeys(key.partition("/")[0] for key in CHECKS)
        near = [key for key in CHECKS if key.startswith(f"{name.partition('/')[0]}/")]
        raise unknown("row", name, near or [*groups, COLLECTION])
    return found


def verify(name: str | None = None, *, source: Path | None = None) -> Iterator[Row]:
    """Measure rows one after another.

    Args:
        name: A row, or the part of its name before a slash; by default all.
        source: A folder with weights, codes and matrices; by default weights are downloaded, pinned by checksum.

    Returns:
        An iterator over the rows. Those whose material is missing say how to get it.
    """
    if source is not None and not source.is_dir():
        raise InputError(f"there is no folder {source}.")
    material = Material(source)
    return (check.run(material) for check in checks_named(name))
