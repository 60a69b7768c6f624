"""Scores of real codes, and scores that follow from published matrices."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from unweave import metrics
from unweave.errors import InputError, Unavailable
from unweave.metrics.infomec import concentration
from unweave.verify.row import Check, Material, Pair, Row

GRANULARITY = "CzhBebop/Disentangling-Granularity-An-Implicit-Inductive-Bias-in-Factorized-VAEs"
MATRICES = "qlae/shapes3d.json"
CODES = "codes/shapes3d_vae.npz"
TRANSFER = "JacopoDapueto/transfer_disentanglement"
DLIB = "disentanglement_lib 1.5"
TRIPOD = "the public code of Tripod"
CALLED = {  # on the same rows, by us, because no scores were published with the codes
    DLIB: f"the functions of {DLIB}, called with scikit-learn 1.9.1",
    TRIPOD: f"the steps of {TRIPOD}, without arguments that scikit-learn 1.9.1 no longer has",
}
FIT, TEST = 10_000, 5_000  # the first rows, and those after them


def check_infomec(which: str, row: Row, material: Material) -> Row:
    """Recompute InfoM or InfoC from each published matrix of normalised mutual information."""
    home = f"github.com/{GRANULARITY}, as {{trial: {{infom, infoc, nmi (factors × latents)}}}}"
    files = [] if material.folder is None else sorted(material.folder.glob("qlae/*.json"))
    pairs = []
    for path in files or [material.file(MATRICES, home)]:
        try:
            for name, trial in json.loads(path.read_text(encoding="utf-8")).items():
                ours = concentration(_active(trial), axis=1 if which == "infom" else 0)
                pairs.append(Pair(f"{which} of {name} in {path.name}", float(trial[which]), ours))
        except (ValueError, TypeError, KeyError, AttributeError, IndexError) as error:
            raise Unavailable(f"{path} does not have {{trial: {{infom, infoc, nmi}}}} ({error}).") from error
    if not pairs:
        raise Unavailable(f"{files[0]} has no trials.")
    return replace(row, theirs=pairs[0].theirs, ours=pairs[0].ours, tolerance=1e-6, details=tuple(pairs[1:]))


def _active(trial: dict[str, Any]) -> Any:
    """Return the matrix (D, K) of the latents that count as active, where the file says which.

    It is a list, or as printed: ``"[ True False]"``. Inactive ones are left out before shares are taken.
    """
    matrix = np.array(trial["nmi"], np.float64).T
    said = trial.get("active_latents")
    words = said.strip("[] \n").split() if isinstance(said, str) else said
    if words is None or len(words) != len(matrix):  # only active latents are in the matrix
        return matrix
    return matrix[[str(word).strip(",") == "True" for word in words]]


class Codes(NamedTuple):
    """Codes and factors that are fitted to, and those that are tested on."""

    codes: Any
    factors: Any
    test: tuple[Any, Any]


def read_codes(material: Material, kind: str) -> Codes:
    """Return the published codes: ``mean`` or ``sampled``."""
    path = material.file(CODES, f"github.com/{TRANSFER}, example/, as arrays mean, sampled (N, 10) and factors (N, 6)")
    try:
        with np.load(path, allow_pickle=False) as arrays:
            codes, factors = arrays[kind].astype(np.float64), arrays["factors"].astype(np.int64)
    except (ValueError, KeyError) as error:
        raise Unavailable(f"{path} does not have the arrays mean, sampled and factors ({error}).") from error
    if len(codes) < FIT + TEST:
        raise Unavailable(f"{path} has {len(codes):,} rows, and {FIT + TEST:,} are needed.")
    end = FIT + TEST
    return Codes(codes[:FIT], factors[:FIT], (codes[FIT:end], factors[FIT:end]))


class Reference(NamedTuple):
    """The scores that another implementation returned for the codes, and how they are computed here."""

    by: str
    score: Callable[[Codes], dict[str, float]]  # by the names of ``values``
    values: dict[str, dict[str, float]]  # by kind of codes, and by name; the first one is shown in the table
    tolerance: float
    why: str = ""


def _dci(codes: Codes, importance: Any, test: Any) -> dict[str, float]:
    result = metrics.dci(codes.codes, codes.factors, importance=importance, test=test)
    return {name: getattr(result, name) for name in ("disentanglement", "completeness", "informativeness")}


def _infomec(codes: Codes) -> dict[str, float]:
    result = metrics.infomec(codes.codes, codes.factors)
    return {name: getattr(result, name) for name in ("modularity", "compactness", "explicitness")}


def _explicitness(codes: Codes) -> dict[str, float]:
    result = metrics.explicitness(codes.codes, codes.factors, test=codes.test)
    return {"test": result.score, "train": result.train}


def _wasserstein(codes: Codes) -> dict[str, float]:
    result = metrics.wasserstein_correlation(codes.codes)
    return {"score": result.score, "normalised": result.normalised}


def _score(function: Callable[[Codes], Any]) -> Callable[[Codes], dict[str, float]]:
    return lambda codes: {"score": function(codes).score}


NEIGHBOURS = "Nearest neighbours are of codes with a little noise, which is drawn at random."
FORESTS = "Forests draw at random, and theirs have no seed."
BOOSTING = "Boosting of theirs has no seed."
REFERENCES = {
    "mig": Reference(
        DLIB,
        _score(lambda codes: metrics.mig(codes.codes, codes.factors)),
        {"mean": {"score": 0.6114048168617574}, "sampled": {"score": 0.6256285527972675}},
        1e-9,
    ),
    "modularity": Reference(
        DLIB,
        _score(lambda codes: metrics.modularity(codes.codes, codes.factors)),
        {"mean": {"score": 0.9682330441935761}, "sampled": {"score": 0.9703944014855107}},
        1e-9,
    ),
    "explicitness": Reference(
        DLIB,
        _explicitness,
        {
            "mean": {"test": 0.9604078180546951, "train": 0.959999553392842},
            "sampled": {"test": 0.9597192649256642, "train": 0.9593158989136118},
        },
        1e-6,
    ),
    "sap": Reference(
        DLIB,
        _score(lambda codes: metrics.sap(codes.codes, codes.factors, method="svm", test=codes.test)),
        {"mean": {"score": 0.0641}, "sampled": {"score": 0.06073333333333333}},
        1e-3,
        "Support vector machines of theirs have no seed.",
    ),
    "sap/correlation": Reference(
        DLIB,
        _score(lambda codes: metrics.sap(codes.codes, codes.factors, method="correlation")),
        {"mean": {"score": 0.39621105940612006}, "sampled": {"score": 0.3984355982603987}},
        1e-9,
    ),
    "total_correlation": Reference(
        DLIB,
        _score(lambda codes: metrics.total_correlation(codes.codes, ridge=0)),
        {"mean": {"score": 0.8572631953430423}, "sampled": {"score": 0.8465222585089984}},
        1e-9,
    ),
    "wasserstein_correlation": Reference(
        DLIB,
        _wasserstein,
        {
            "mean": {"score": 0.8614706180872851, "normalised": 0.05275218009901072},
            "sampled": {"score": 0.8574335651775229, "normalised": 0.05225006688090491},
        },
        1e-9,
    ),
    "infomec": Reference(
        TRIPOD,
        _infomec,
        {
            "mean": {"modularity": 0.5107328804, "compactness": 0.4768643666, "explicitness": 0.8012528823},
            "sampled": {"modularity": 0.5833816038, "compactness": 0.5380528691, "explicitness": 0.7995201223},
        },
        0.01,
        NEIGHBOURS,
    ),
    "dci": Reference(
        DLIB,
        lambda codes: _dci(codes, "gbt", codes.test),
        {"mean": {"disentanglement": 0.9350948635, "completeness": 0.8482200523, "informativeness": 0.9975333333}},
        0.01,
        BOOSTING,
    ),
    "dci/forest": Reference(
        TRIPOD,
        lambda codes: _dci(codes, "forest", None),
        {
            "mean": {"disentanglement": 0.6164360104, "completeness": 0.5062715518, "informativeness": 0.9988333333},
            "sampled": {"disentanglement": 0.6306337086, "completeness": 0.5214896764, "informativeness": 0.9971666667},
        },
        0.01,
        FORESTS,
    ),
}


def check_codes(metric: str, kind: str, row: Row, material: Material) -> Row:
    """Score the codes by a metric, beside the values of the other implementation.

    Args:
        metric: The name of the metric among :data:`REFERENCES`.
        kind: Which codes of the posterior are scored, "mean" or "sampled".
        row: The row of the check, without numbers.
        material: Where the codes are read from.

    Returns:
        The row with their score and ours, first the main one, then others as details.
    """
    reference = REFERENCES[metric]
    ours, theirs = reference.score(read_codes(material, kind)), reference.values[kind]
    first, *others = theirs
    details = tuple(Pair(name, theirs[name], ours[name]) for name in others)
    numbers: dict[str, Any] = {"theirs": theirs[first], "ours": ours[first], "tolerance": reference.tolerance}
    return replace(row, details=details, why=reference.why, **numbers)


def check_others(row: Row, material: Material) -> Row:
    """Score the codes by all metrics that neither implementation has as a function of codes."""
    codes = read_codes(material, "mean")
    table: dict[str, float] = {}
    left_out = []
    for name in metrics.METRICS:
        if name in REFERENCES:
            continue
        try:
            table |= metrics.score_codes(codes.codes, codes.factors, metrics=[name], test=codes.test).table
        except InputError:  # it needs an encoder, a decoder or a posterior
            left_out.append(name)
    pairs = tuple(Pair(name, None, value) for name, value in table.items())
    why = f"Neither implementation has these as functions of codes. Not defined for codes alone: {', '.join(left_out)}."
    return replace(row, theirs="none", ours=pairs[0].ours, details=pairs, why=why)


KINDS = {"mean": "means", "sampled": "samples"}
CHECKS = [
    *(
        Check(
            f"qlae/{which}",
            f"{title} from the published matrices of five QLAE runs on 3D Shapes",
            GRANULARITY,
            partial(check_infomec, which),
        )
        for which, title in (("infom", "InfoM"), ("infoc", "InfoC"))
    ),
    *(
        Check(
            f"codes/{metric}/{kind}",
            f"{metric} of the {title} of a VAE on 3D Shapes, by {reference.by}",
            f"codes: {TRANSFER}; value: {CALLED[reference.by]}",
            partial(check_codes, metric, kind),
        )
        for metric, reference in REFERENCES.items()
        for kind, title in KINDS.items()
        if kind in reference.values
    ),
    Check("codes/others", "the other metrics of the same means", f"codes: {TRANSFER}", check_others),
]
