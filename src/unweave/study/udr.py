"""UDR of the runs of a study: how closely each agrees with the runs that differ from it in the seed only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch

from unweave.data import open_data
from unweave.errors import whole
from unweave.metrics import udr

if TYPE_CHECKING:
    from unweave.study.study import Study


def udr_of(study: Study, *, samples: int = 1_000, seed: int = 0) -> dict[str, float]:
    """Return the UDR of each finished run by name (Duan et al. 2020), for settings with at least two finished seeds.

    Runs with the same settings encode the same ``samples`` random images. UDR depends on the other seeds, so it is
    recomputed rather than stored.
    """
    samples = whole("samples", samples, at_least=10)
    groups: dict[str, list[str]] = {}
    for row in study.rows():
        if row.state == "finished":
            alone = {key: value for key, value in row.settings.items() if key != "seed"}
            groups.setdefault(repr(sorted(alone.items())), []).append(row.run)
    planned = {run.name: run for run in study.all_planned()}
    found: dict[str, float] = {}
    for names in map(sorted, map(set, groups.values())):
        if len(names) < 2:
            continue
        runs = [study.open(planned[name]) for name in names]
        generator = torch.Generator().manual_seed(seed)
        images = open_data(runs[0].configuration.data).sample(samples, generator).images
        result = udr([run.encode(images).numpy() for run in runs])
        found |= dict(zip(names, map(float, result.per_model), strict=True))
    return found
