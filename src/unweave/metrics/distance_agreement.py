"""Distance agreement: do distances between codes follow those between factors, images and reconstructions?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor

from unweave.data import FactorData
from unweave.data.distances import Distance, ground_truth_distance, mse
from unweave.errors import InputError, unknown, whole
from unweave.metrics.mcc import correlations
from unweave.metrics.scoring.encoders import evaluating
from unweave.metrics.scoring.inputs import Floats, check_codes, check_seed
from unweave.settings import Seed


@dataclass(frozen=True, eq=False)
class DistanceAgreement:
    """Correlations between distances of image pairs; ``score`` is Spearman's, of latent and ground-truth distances."""

    score: float
    names: tuple[str, ...]
    spearman: Floats  # (distances, distances), 0 if one of them is constant
    pearson: Floats


def distance_agreement(
    data: FactorData,
    encode: Callable[[Tensor], Any],
    *,
    decode: Callable[[Tensor], Any] | None = None,
    pairs: int = 5_000,
    over: Literal["factor", "all"] = "factor",
    norm: Literal[1, 2] = 2,
    distance: Distance = mse,
    seed: Seed = 0,
) -> DistanceAgreement:
    """Correlate ground-truth, perceived, latent and reconstruction distances (Michlo et al. 2023, sec. 4.4).

    Ground-truth distances are sums of absolute differences. With the options ``over`` and ``norm`` these are the
    correlations that Disent reports beside flatness and linearity; Disent takes the geometric mean over factors, which
    is not defined for a negative correlation, and here the pairs of all factors are one sample.

    Args:
        data: The data set to draw pairs from.
        encode: A function from float images in [0, 1] to codes.
        decode: A function from codes to such images; without it there are no reconstruction distances.
        pairs: The number of pairs.
        over: ``"factor"`` for pairs that differ in a single factor, ``"all"`` for pairs of independent random points.
        norm: The distance between codes: 2 is Euclidean, 1 the sum of absolute differences.
        distance: The distance between images, and between reconstructions.
        seed: The seed of the pairs.

    Returns:
        The correlations, Spearman's and Pearson's, of each two kinds of distance.

    Examples:
        >>> import unweave
        >>> from unweave.metrics import distance_agreement
        >>> def agreement(spacing):
        ...     data = unweave.load("xysquares", spacing=spacing)
        ...     return distance_agreement(data, lambda images: images.flatten(1), pairs=200).score  # pixels as codes
        >>> round(agreement(1), 2)  # squares overlap with their neighbours
        1.0
        >>> agreement(8)  # they do not: pixels say nothing about distances
        0.0
    """
    pairs = whole("distance_agreement: pairs", pairs, at_least=3)
    generator = torch.Generator().manual_seed(check_seed(seed))
    if over == "factor":
        drawn = data.space.pairs(pairs, 1, generator)
        first, second = drawn.first, drawn.second
    elif over == "all":
        first, second = (data.space.sample(pairs, generator) for _ in range(2))
    else:
        raise unknown("over", over, ("factor", "all"))
    if norm not in (1, 2):
        raise InputError(f"distance_agreement: norm must be 1 or 2, got {norm!r}.")
    seen: list[Floats] = []
    latent: list[Floats] = []
    rebuilt: list[Floats] = []
    for start in range(0, pairs, 256):
        sides = [side[start : start + 256] for side in (first, second)]
        images = [data.images(side, generator).float() / 255 for side in sides]
        with evaluating(encode, *([] if decode is None else [decode])) as like:
            codes = [encode(batch.to(like)) for batch in images]
            a, b = (check_codes("distance_agreement", c, rows=1) for c in codes)
            if len(a) != len(images[0]) or len(b) != len(images[1]):
                raise InputError(
                    f"distance_agreement: encode was given {len(images[0])} images but returned {len(a)} codes."
                )
            seen.append(distance(*images).double().numpy())
            latent.append(np.linalg.norm(a - b, norm, axis=1))
            if decode is not None:
                again = [torch.as_tensor(decode(torch.as_tensor(c))).float().cpu().clamp(0, 1) for c in codes]
                if again[0].shape != images[0].shape or not all(batch.isfinite().all() for batch in again):
                    raise InputError("distance_agreement: decode must return finite images of the data's shape.")
                rebuilt.append(distance(*again).double().numpy())
    truth = ground_truth_distance(first, second).double().numpy()
    columns = {"ground_truth": [truth], "perceived": seen, "latent": latent, "reconstruction": rebuilt}
    names = tuple(name for name, parts in columns.items() if parts)
    table = np.stack([np.concatenate(columns[name]) for name in names], axis=1)  # (pairs, distances)
    from scipy.stats import rankdata

    ranks = rankdata(table, axis=0)
    spearman = correlations(ranks, ranks)
    return DistanceAgreement(float(spearman[2, 0]), names, spearman, correlations(table, table))
