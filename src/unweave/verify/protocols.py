"""Numbers that need no material: Theorem 1, the sizes of published grids, and PSNR as Tripod computes it."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from unweave.metrics import psnr
from unweave.papers import impossibility
from unweave.study import Study
from unweave.verify.row import Check, Material, Pair, Row

THEOREM = "Locatello et al. 2019, Theorem 1 and appendix A"
GRIDS = {  # models, and how the paper counts them
    "challenging-assumptions/paper": (
        7 * 6 * 6 * 50,
        "Locatello et al. 2019, sec. 4: data sets × methods × strengths × seeds",
    ),
    "local-disentanglement/paper": (15 * 10, "Rhodes & Lee 2021, figures 4, 5 and 7: methods and strengths × seeds"),
    "mpi3d-multi/paper": (2, "Rhodes & Lee 2021, figure 3: one model of each method"),
    "natural-patches/paper": (3 + 3 + 8, "Rhodes & Lee 2021, figures 1, 8, 9 and 10"),
    "adversarial-squares/paper": (160 + 160 + 40, "Michlo et al. 2023, Table A4: figures 6, 9 and 11"),
    "tripod/paper": (
        4 * 2 * (5 + 5 + 36 + 36),
        "Hsu et al. 2024, Table 5: data sets × seeds × settings that are tuned",
    ),
}
TRIPOD_IMAGE = "kylehkhsu/tripod, disentangle/metrics/image.py"
THRESHOLDS = {"shapes3d": 38.0, "mpi3d_real_complex": 42.0, "falcor3d": 34.0, "isaac3d": 40.0}  # dB
LEVELS = 256


def check_distribution(row: Row, material: Material) -> Row:
    """Measure how far the marginals of the entangled code are from those of the factors."""
    table = impossibility.measure()
    worst = float(table["distance of the marginals"].max())
    correlation = Pair(
        "largest rank correlation of two coordinates", None, float(table["largest rank correlation"].max())
    )
    critical = impossibility.CRITICAL
    why = f"Equal up to sampling: the critical value of {impossibility.SAMPLES:,} samples is {critical:.4f}."
    return replace(row, theirs=0.0, ours=worst, tolerance=critical, why=why, details=(correlation,))


def check_jacobian(row: Row, material: Material) -> Row:
    """Look for an entry of the Jacobian that vanishes."""
    smallest = float(impossibility.measure()["smallest entry of the Jacobian"].min())
    zeros = Pair("entries that are zero", 0.0, float(smallest <= 0))
    return replace(row, theirs="not zero", ours=smallest, details=(zeros,))


def check_entanglement(row: Row, material: Material) -> Row:
    """Measure MIG of the factors and of the entangled code."""
    table = impossibility.measure()
    factors = Pair("MIG of the factors, smallest", 1.0, float(table["mig of the factors"].min()))
    ours = float(table["mig of the entangled code"].max())
    why = "MIG of finite samples in 20 bins is a little above 0."
    return replace(row, theirs=0.0, ours=ours, tolerance=0.1, why=why, details=(factors,))


def check_grid(name: str, row: Row, material: Material) -> Row:
    """Count the runs of a published protocol."""
    return replace(row, theirs=float(GRIDS[name][0]), ours=float(len(Study(name).planned)))


def wrapped(error: int) -> float:
    """Return the ratio in dB of an error of some grey levels whose square wraps modulo 256, in exact arithmetic."""
    square = (error % LEVELS) ** 2 % LEVELS
    return math.inf if square == 0 else 20 * math.log10(255) - 10 * math.log10(square)


def check_wrapped_psnr(row: Row, material: Material) -> Row:
    """Compare our wrapped PSNR with exact arithmetic for every error, and find the smallest value."""
    errors = np.arange(1, LEVELS)
    white, shifted = np.full((LEVELS - 1, 4), 255, np.uint8), np.repeat((255 - errors)[:, None], 4, 1).astype(np.uint8)
    ours, plain = psnr(white, shifted, wrapped=True).per_image, psnr(white, shifted).per_image
    theirs = [wrapped(int(error)) for error in errors]
    finite = [index for index, value in enumerate(theirs) if math.isfinite(value)]
    shown = tuple(
        Pair(f"an error of {e} grey levels, wrapped", theirs[e - 1], float(ours[e - 1])) for e in (15, 17, 100)
    )
    true = Pair("an error of 100 grey levels, not wrapped", None, float(plain[99]))
    worst = max(abs(float(ours[index]) - theirs[index]) for index in finite)
    infinite = sum(np.isinf(ours)) - sum(math.isinf(value) for value in theirs)
    details = (*shown, true, Pair("largest difference over all errors", 0.0, worst))
    details += (Pair("errors that count as none, beyond theirs", 0.0, float(infinite)),)
    why = "uint8 images are subtracted and squared modulo 256, so that large errors count as small ones."
    low = min(theirs)
    return replace(row, theirs=low, ours=float(ours.min()), tolerance=1e-9, details=details, why=why)


def check_thresholds(row: Row, material: Material) -> Row:
    """Compare the thresholds of our specification with the published ones."""
    snapshot = Study("tripod/paper").spec.score.snapshot
    ours: Any = {} if snapshot is None else snapshot.psnr
    pairs = [Pair(f"threshold of {name}", value, float(ours[name])) for name, value in THRESHOLDS.items()]
    why = "In the wrapped unit of their code; of the true ratio these thresholds mean nothing."
    return replace(row, theirs=pairs[0].theirs, ours=pairs[0].ours, details=tuple(pairs[1:]), why=why)


CHECKS = [
    Check("theorem-1/distribution", "distance of the marginals of an entangled code", THEOREM, check_distribution),
    Check("theorem-1/jacobian", "smallest entry of its Jacobian", THEOREM, check_jacobian),
    Check("theorem-1/entanglement", "MIG of the entangled code", THEOREM, check_entanglement),
    *(
        Check(f"grid/{name.partition('/')[0]}", f"models of {name}", where, partial(check_grid, name))
        for name, (_, where) in GRIDS.items()
    ),
    Check("psnr/wrapped", "smallest PSNR in the wrapped form, in dB", TRIPOD_IMAGE, check_wrapped_psnr),
    Check("psnr/thresholds", "PSNR that 3D Shapes must reach, in dB", "Hsu et al. 2024, Table 2", check_thresholds),
]
