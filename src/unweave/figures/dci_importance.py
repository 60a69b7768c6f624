"""DCI's importance matrix: which latents does a predictor of each factor rely on?"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal

import numpy as np
import torch

from unweave.data import FactorData
from unweave.errors import InputError, whole
from unweave.figures.drawing.subjects import names_of, ordered_latents, title_of
from unweave.figures.mutual_information import Information, InformationMaps, draw_maps
from unweave.metrics.dci import dci
from unweave.representation import Representation
from unweave.training import Run

if TYPE_CHECKING:
    from matplotlib.figure import Figure


def make_dci_importance(
    runs: Sequence[Representation],
    data: Sequence[FactorData],
    generator: torch.Generator,
    *,
    samples: int = 1_000,
    importance: Literal["gbt", "forest", "svm"] = "gbt",
) -> InformationMaps:
    """Return the importance of each latent for each factor, for every run; the entries of a factor sum to 1.

    If a run has a stored DCI score, it is that matrix; otherwise DCI is computed.

    Args:
        runs: The runs to show.
        data: The data set of each run.
        generator: The source of randomness.
        samples: The number of random images that DCI is computed from.
        importance: The predictor that the importance comes from, as in :func:`unweave.metrics.dci`.

    Returns:
        One matrix per run.
    """
    maps = []
    for run, own, name in zip(runs, data, names_of(runs), strict=True):
        if not own.factor_names:
            raise InputError(f"dci_importance needs data with known factors, and {own.name} has images only.")
        (codes, factors), kinds = run.draw_labelled(whole("samples", samples, at_least=10), generator, own)
        assert factors is not None
        labels = factors.numpy()
        varying = [k for k in range(labels.shape[1]) if len(np.unique(labels[:, k])) > 1]
        stored = run.scores.get("dci") if importance == "gbt" and isinstance(run, Run) else None
        if stored is None or stored.importance.shape[1] != len(varying):
            declared = None if kinds is None else [kinds[k] for k in varying]
            stored = dci(codes, labels[:, varying], importance=importance, kinds=declared)
        totals = stored.importance.sum(0)
        shares = np.divide(stored.importance, totals, out=np.zeros_like(stored.importance), where=totals > 0)
        order, active = ordered_latents(run)[0], run.summary.active
        inactive = tuple(not active[latent] for latent in order)
        names = tuple(own.factor_names[k] for k in varying)
        maps.append(Information(name, shares[order].T, names, tuple(order), inactive))
    title = title_of(runs[0], "DCI importance", data[0]) if len(runs) == 1 else "DCI importance"
    return InformationMaps(title, tuple(maps))


def draw_dci_importance(result: InformationMaps) -> Figure:
    """Draw one heat map per run, inactive latents grey, and return the matplotlib figure."""
    return draw_maps(result.title, result.maps, label="importance", greatest=1.0)
