"""The description of a run on the page: the range, importance and best factor of each latent."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import torch

from unweave.data import FactorData
from unweave.errors import InputError, Unavailable
from unweave.explore.examples import start_seeds
from unweave.factors import FactorSpace
from unweave.latents import Summary
from unweave.latents.latent import evenly
from unweave.metrics import Follows
from unweave.names import spelled, words
from unweave.plain_json import to_plain
from unweave.representation import Representation
from unweave.representation.interface import FOLLOWED
from unweave.store.measurements import name_of_data
from unweave.streams import stream
from unweave.training import Run
from unweave.training.run import summarise

SPAN = 2.0  # standard deviations of the prior, over which sliders of Gaussian latents range
MOST_COLUMNS = 128  # latents for which a Jacobian is computed, one backward pass each
SCORES = 8  # in the heading
QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)  # of a latent given the value of a factor
MOST_VALUES = 40  # of a factor, for which they are shown


def describe(
    run: Representation, data: FactorData | None, summary: Summary | None, no_data: str = ""
) -> dict[str, Any]:
    """Return the description of a representation; see ``static/source.js`` for its fields.

    Args:
        run: A run, or another representation such as codes.
        data: The data that it belongs to; None if it is not available.
        summary: The statistics of its latents over the data; None if they are not known.
        no_data: Why there is no data, which the page shows.

    Returns:
        The fields, ready to be written as JSON.
    """
    found = None if data is None else run.follows(data)
    space = data.space if data is not None and data.has_factors else None
    return {
        "name": run.folder.name if isinstance(run, Run) else run.name,
        "title": f"{spelled(run.method)} on {spelled(run.data_label)}" if isinstance(run, Run) else run.title,
        "data": name_of_data(run.configuration.data.canonical()) if isinstance(run, Run) else run.title,
        "facts": facts(run),
        "shape": None if run.shape is None else list(run.shape),
        "order": summary.order_name if summary else "",
        "latents": _latents(run, summary, found),
        "factors": None if space is None else _factors(space),
        "mutualInformation": None if found is None or space is None else np.round(found.share, 4).tolist(),
        "follows": None if found is None else _matrix(found),
        "start": {
            "codes": summary.mean if summary else [0.0] * run.size,
            "seeds": None if data is None or not data.has_images else start_seeds(data)[:2],
        },
        "note": no_data,
        "hint": run.hint,
        "can": {
            "encode": run.encodes,
            "decode": run.decodes,
            "data": data is not None and data.has_images,
            "sample": run.decodes and (summary is not None or run.has_posterior),
            "jacobian": run.decodes and run.size <= MOST_COLUMNS,
            "live": isinstance(run, Run),
        },
    }


def _factors(space: FactorSpace) -> list[dict[str, Any]]:
    each = zip(space.names, space.sizes, space.kinds, strict=True)
    return [{"name": name, "size": size, "kind": kind} for name, size, kind in each]


def _matrix(found: Follows) -> dict[str, Any]:
    share, chance = (np.round(matrix, 4).tolist() for matrix in (found.share, found.chance))
    return {"factors": list(found.factors), "share": share, "chance": chance, "unfollowed": list(found.unfollowed)}


def facts(run: Representation) -> list[list[str]]:
    """Return labels and texts for the heading of a representation."""
    if not isinstance(run, Run):
        return [["latents", f"{run.size}"], ["decoder", "yes" if run.decodes else "none"]]
    c, state = run.configuration, run.state
    trained = [["net", c.net.name], ["steps", f"{run.step:,}"]] if c.linear is None else []
    named = [["label", run.label]] if run.label else []
    shown = [*named, ["latents", f"{c.latent.size}"], ["seed", f"{c.seed}"], *trained]
    if state.psnr is not None:
        shown.append(["PSNR", f"{state.psnr:.1f} dB"])
    with contextlib.suppress(InputError, Unavailable):  # damaged scores
        scores = [[words(name), f"{value:.2f}"] for name, value in run.scores.table.items() if name != "psnr"]
        shown += scores[:SCORES]
        if len(scores) > SCORES:
            shown.append(["more scores", f"{len(scores) - SCORES}, in the table of runs"])
    return shown


def latents_by_value(run: Representation, data: FactorData) -> list[list[list[list[float]]]]:
    """Return the distribution of each latent given each value of each factor, from the sample of ``follows``.

    Returns:
        For each latent and factor a list of ``[value, number of images, quantiles…]``, the quantiles being
        those of 5, 25, 50, 75 and 95 %. Of a factor with many values, some are left out.
    """
    codes, factors = run.draw(FOLLOWED, stream(0, "follows"), data)
    if factors is None:
        return []
    shares = torch.tensor(QUANTILES, dtype=codes.dtype)
    found: list[list[list[list[float]]]] = [[] for _ in range(run.size)]
    for k in range(factors.shape[1]):
        values = factors[:, k].unique()
        rows = []
        for value in values[evenly(len(values), MOST_VALUES)]:
            chosen = codes[factors[:, k] == value]  # (n, D)
            quantiles = chosen.quantile(shares, dim=0).T  # (D, 5)
            rows.append((value.item(), len(chosen), quantiles))
        for latent in range(run.size):
            found[latent].append(
                [[v, n, *(round(q, 4) for q in quantiles[latent].tolist())] for v, n, quantiles in rows]
            )
    return found


def summary_of(run: Representation, data: FactorData | None) -> Summary | None:
    """Return the stored summary; for a run in training, one that is measured now if there is data."""
    try:
        return run.summary
    except Unavailable:
        if data is None or not isinstance(run, Run):
            return None
        return summarise(run.model, run.configuration, data)


def _latents(run: Representation, summary: Summary | None, found: Follows | None) -> list[dict[str, Any]]:
    size = run.size
    low, high = _ranges(run, summary)
    values = run.levels
    importance = summary.information if summary else [0.0] * size
    active = summary.active if summary else [True] * size
    latents = []
    for index in summary.order if summary else list(range(size)):
        link = next(iter(found.of_latent(index)), None) if found is not None else None
        latents.append(
            {
                "index": index,
                "low": low[index],
                "high": high[index],
                "levels": None if values is None else values[index].tolist(),
                "importance": importance[index],
                "factor": None if link is None else link.factor,
                "certainty": None if link is None else link.share,
                "chance": None if link is None else link.chance,
                "weak": link is not None and link.weak,
                "active": active[index],
            }
        )
    return to_plain(latents)  # type: ignore[no-any-return]


def _ranges(run: Representation, summary: Summary | None) -> tuple[list[float], list[float]]:
    """Return the ends of every slider: those of a traversal, see :meth:`Representation.traversal_values`."""
    if summary is None and not run.has_posterior and not run.discrete:  # in training, and its data is not here
        return [-1.0] * run.size, [1.0] * run.size
    ends = run.traversal_ends(SPAN, summary)
    low, high = ends[:, 0], ends[:, -1]
    constant = high <= low
    return torch.where(constant, low - 1, low).tolist(), torch.where(constant, high + 1, high).tolist()
