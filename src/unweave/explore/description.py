"""The description of a run on the page: the range, importance and best factor of each latent."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from unweave.data import FactorData
from unweave.errors import InputError, Unavailable
from unweave.latents import Summary
from unweave.metrics.estimators.information import normalised_information
from unweave.names import spelled
from unweave.plain_json import to_plain
from unweave.streams import stream
from unweave.training import Run
from unweave.training.end_summary import summarise

SAMPLE = 4000  # images that mutual information is estimated from
SPAN = 2.0  # standard deviations of the prior, over which sliders of Gaussian latents range
MOST_COLUMNS = 128  # latents for which a Jacobian is computed, one backward pass each
SCORES = 8  # in the heading

Floats = NDArray[np.float64]


def describe(run: Run, data: FactorData | None, summary: Summary | None, no_data: str = "") -> dict[str, Any]:
    """Return the description of a run; see ``static/source.js`` for its fields."""
    codes = factors = None
    if data is not None:
        images, factors = data.sample(SAMPLE, stream(0, "explore"))
        codes = run.encode(images)
    information = None
    if codes is not None and factors is not None:
        information = normalised_information(codes.double().numpy(), factors.numpy(), discrete=run.discrete)
    latents = _latents(run, summary, information, data)
    space = data.space if data is not None and data.has_factors else None
    return {
        "name": run.folder.name,
        "title": f"{spelled(run.configuration.recipe)} on {spelled(run.configuration.data.label)}",
        "facts": facts(run),
        "shape": list(run.configuration.data.shape),
        "order": summary.order_name if summary else "",
        "latents": latents,
        "factors": None
        if space is None
        else [
            {"name": name, "size": size, "kind": kind}
            for name, size, kind in zip(space.names, space.sizes, space.kinds, strict=True)
        ],
        "mutualInformation": None if information is None else np.round(information, 4).tolist(),
        "start": {"codes": summary.mean if summary else [0.0] * run.model.latent.size},
        "note": no_data,
        "hint": run.hint,
        "can": {
            "encode": True,
            "data": data is not None,
            "sample": summary is not None or run.has_posterior,
            "jacobian": run.model.latent.size <= MOST_COLUMNS,
            "live": True,
        },
    }


def facts(run: Run) -> list[list[str]]:
    """Return labels and texts for the heading of a run."""
    c, state = run.configuration, run.state
    trained = [["net", c.net.name], ["steps", f"{run.step:,}"]] if c.linear is None else []
    named = [["label", run.label]] if run.label else []
    shown = [*named, ["latents", f"{c.latent.size}"], ["seed", f"{c.seed}"], *trained]
    if state.psnr is not None:
        shown.append(["PSNR", f"{state.psnr:.1f} dB"])
    with contextlib.suppress(InputError, Unavailable):  # damaged, or measured with several protocols
        shown += [[name, f"{value:.2f}"] for name, value in run.scores.table.items()][:SCORES]
    return shown


def summary_of(run: Run, data: FactorData | None) -> Summary | None:
    """Return the stored summary; for a run in training, one that is measured now if there is data."""
    try:
        return run.summary
    except Unavailable:
        return None if data is None else summarise(run.model, run.configuration, data)


def _latents(
    run: Run, summary: Summary | None, information: Floats | None, data: FactorData | None
) -> list[dict[str, Any]]:
    size = run.model.latent.size
    low, high = _ranges(run, summary)
    values = run.model.values
    importance = summary.information if summary else [0.0] * size
    active = summary.active if summary else [True] * size
    names = data.space.names if information is not None and data is not None else ()
    order = summary.order if summary else list(range(size))
    latents = []
    for index in order:
        best = None if information is None else int(information[index].argmax())
        known = information is not None and best is not None and information[index, best] > 0
        latents.append(
            {
                "index": index,
                "low": low[index],
                "high": high[index],
                "levels": None if values is None else values[index].cpu().tolist(),
                "importance": importance[index],
                "factor": names[best] if known and best is not None else None,
                "certainty": float(information[index, best]) if known and information is not None else None,
                "active": active[index],
            }
        )
    return to_plain(latents)  # type: ignore[no-any-return]


def _ranges(run: Run, summary: Summary | None) -> tuple[list[float], list[float]]:
    """Return the ends of every slider: those of a traversal, see :meth:`Run.traversal_values`."""
    if summary is None and not run.has_posterior and not run.discrete:  # in training, and its data is not here
        return [-1.0] * run.model.latent.size, [1.0] * run.model.latent.size
    learned = {name: value.detach().cpu() for name, value in run.model.learned.items()}
    ends = run.model.latent.traversal(2, SPAN, summary, learned)
    low, high = ends[:, 0], ends[:, -1]
    constant = high <= low
    return torch.where(constant, low - 1, low).tolist(), torch.where(constant, high + 1, high).tolist()
