"""What the page says about the latents of a run: their range, how much they matter, and the factors they follow."""

from __future__ import annotations

import contextlib
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.data import FactorData
from unweave.errors import InputError, Unavailable
from unweave.latents import Summary
from unweave.metrics.estimators.information import discretize, entropies, information_table
from unweave.names import spelled
from unweave.plain_json import to_plain
from unweave.training import Run
from unweave.training.end_summary import summarise
from unweave.training.streams import stream

SAMPLE = 4000  # images that ranges and mutual information are estimated from
BINS = 20  # of a continuous latent, as in MIG
PRIOR = 2.5  # standard deviations; a Gaussian latent can be moved at least that far
EDGES = (0.005, 0.995)  # quantiles of the codes between which a latent can be moved
MOST_COLUMNS = 128  # latents for which a Jacobian is computed, one backward pass each
SCORES = 8  # in the heading
ACTIVE = {"KL": 0.01, "entropy": 0.05, "standard deviation": 0.0}  # a latent with less is not active

Floats = NDArray[np.float64]


def describe(run: Run, data: FactorData | None, summary: Summary | None, no_data: str = "") -> dict[str, Any]:
    """Return the description of a run; see ``static/source.js`` for its fields."""
    codes = factors = None
    if data is not None:
        images, factors = data.sample(SAMPLE, stream(0, "explore"))
        codes = run.encode(images)
    information = None if codes is None or factors is None else normalised_information(codes, factors, run.discrete)
    latents = _latents(run, codes, summary, information, data)
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


def normalised_information(codes: Tensor, factors: Tensor, discrete: bool) -> Floats:
    """Return I(z; f) / H(f) (D, K): how much of each factor each latent knows. A constant factor gives 0.

    The plug-in estimate of MIG; the values of quantised latents are classes and are not binned.
    """
    values, classes = codes.double().numpy(), factors.numpy()
    if discrete:
        binned = np.stack([np.unique(column, return_inverse=True)[1].reshape(-1) for column in values.T], axis=1)
    else:
        binned = discretize(values, BINS)
    entropy = entropies(classes)
    table = information_table(binned, classes)
    return np.divide(table, entropy, out=np.zeros_like(table), where=entropy > 0)


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
    run: Run, codes: Tensor | None, summary: Summary | None, information: Floats | None, data: FactorData | None
) -> list[dict[str, Any]]:
    size = run.model.latent.size
    low, high = _ranges(run, codes, summary)
    values = run.model.values
    importance = _importance(summary, size)
    least = ACTIVE[summary.order_name] if summary else 0.0
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
                "active": importance[index] > least if summary else True,
            }
        )
    return to_plain(latents)  # type: ignore[no-any-return]


def _ranges(run: Run, codes: Tensor | None, summary: Summary | None) -> tuple[list[float], list[float]]:
    """Return the range of every slider: what the data occupies, and at least the bulk of a Gaussian prior."""
    values = run.model.values
    if values is not None:
        return values.amin(1).tolist(), values.amax(1).tolist()
    if codes is not None:
        low, high = torch.quantile(codes, torch.tensor(EDGES), dim=0)
    elif summary is not None:
        mean, std = torch.tensor(summary.mean), torch.tensor(summary.std)
        low, high = mean - PRIOR * std, mean + PRIOR * std
    else:
        low, high = -PRIOR * torch.ones(run.model.latent.size), PRIOR * torch.ones(run.model.latent.size)
    if run.has_posterior:
        low, high = low.clamp(max=-PRIOR), high.clamp(min=PRIOR)
    equal = high <= low  # a constant latent
    return torch.where(equal, low - 1, low).tolist(), torch.where(equal, high + 1, high).tolist()


def _importance(summary: Summary | None, size: int) -> list[float]:
    if summary is None:
        return [0.0] * size
    if summary.kl is not None:
        return summary.kl
    if summary.usage is not None:
        return torch.special.entr(torch.tensor(summary.usage)).sum(1).tolist()  # type: ignore[no-any-return]
    return summary.std
