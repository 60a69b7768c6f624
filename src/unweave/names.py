"""Printed names: methods and data sets as their papers spell them, in figures, in reports and on the page."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from pathlib import Path
from typing import Any

METHODS = {
    "ae": "AE",
    "vae": "VAE",
    "beta_vae": "β-VAE",
    "annealed_vae": "AnnealedVAE",
    "factor_vae": "FactorVAE",
    "beta_tcvae": "β-TCVAE",
    "dip_vae_i": "DIP-VAE-I",
    "dip_vae_ii": "DIP-VAE-II",
    "jl1_vae": "JL1-VAE",
    "jl2_vae": "JL2-VAE",
    "info_vae": "InfoVAE",
    "dfc_vae": "DFC-VAE",
    "control_vae": "ControlVAE",
    "triplet_vae": "triplet VAE",
    "triplet_ae": "triplet AE",
    "ada_triplet_vae": "Ada-triplet VAE",
    "ada_triplet_ae": "Ada-triplet AE",
    "ada_ae": "Ada-AE",
    "ada_gvae": "Ada-GVAE",
    "ada_ml_vae": "Ada-ML-VAE",
    "qlae": "QLAE",
    "tripod_naive": "naive Tripod",
    "tripod": "Tripod",
    "tripod_without_nhp": "Tripod without NHP",
    "tripod_without_klm": "Tripod without KLM",
    "tripod_finer": "finer Tripod",
    "pca": "PCA",
    "ica": "ICA",
}
DATA = {
    "dsprites": "dSprites",
    "color_dsprites": "Color-dSprites",
    "noisy_dsprites": "Noisy-dSprites",
    "scream_dsprites": "Scream-dSprites",
    "dsprites_pictures": "dSprites on pictures",
    "three_dots": "three dots",
    "four_dots": "four dots",
    "xysquares": "XYSquares",
    "xyobject": "XYObject",
    "xyobject_shaded": "XYObjectShaded",
    "rooms3d": "Rooms3D",
    "shapes3d_drawn": "3D Shapes (drawn)",
    "natural": "natural patches",
    "shapes3d": "3D Shapes",
    "cars3d": "Cars3D",
    "smallnorb": "smallNORB",
    "mpi3d_toy": "MPI3D toy",
    "mpi3d_realistic": "MPI3D realistic",
    "mpi3d_real": "MPI3D real",
    "mpi3d_real_complex": "MPI3D real complex",
    "mpi3d_multi": "MPI3D multi",
    "falcor3d": "Falcor3D",
    "isaac3d": "Isaac3D",
}
SCORES = {
    "beta_vae_score": "BetaVAE score",
    "factor_vae_score": "FactorVAE score",
    "infomec": "InfoMEC",
    "dci_es": "DCI-ES",
}
SEVERAL = {  # metrics with several scores, which are fields of their results; any other metric has ``score``
    "dci": ("disentanglement", "completeness", "informativeness"),
    "infomec": ("modularity", "compactness", "explicitness"),
    "edi": ("modularity", "compactness", "explicitness"),
    "minimality_sufficiency": ("minimality", "sufficiency"),
    "dci_es": ("explicitness", "size"),
    "single_latents": ("f1", "auc"),
    "value_match": ("mcc", "uniqueness"),
    "feature_match": ("mcc", "uniqueness"),
    "sparsity": ("active", "dead"),
    "omes": ("score", "overlap", "multiple_encoding"),
    "wasserstein_correlation": ("score", "normalised"),
    "downstream": (
        "score",
        "efficiency_logistic",
        "efficiency_boosted",
        *(f"{classifier}_{labels}" for classifier in ("logistic", "boosted") for labels in (10, 100, 1_000, 10_000)),
    ),
    "linearity": ("score", "axis_ratio", "axis_alignment"),
}
CAPITALS = {
    "auc", "bce", "dci", "dcimig", "dip", "edi", "elbo", "f1", "fsq", "irs", "jemmig", "kl", "l1", "l2", "mcc", "mig",
    "mse", "omes", "psnr", "sap", "udr",
}  # fmt: skip
OWN = "own"  # the name of all data that comes from the user's own files and arrays
ARRAY_FILES = {".npy", ".npz", ".h5", ".hdf5"}  # endings of files of images, left out of a label

_KNOWN = {**METHODS, **DATA, **SCORES}
_LONGEST_FIRST = "|".join(sorted(_KNOWN, key=len, reverse=True))
_NAME = re.compile(rf"(?<![\w.:/-])({_LONGEST_FIRST})((?:[+-][a-z_][\w.:]*)*)(?![\w:/])")
_PART = re.compile(r"([+-])([a-z_][\w.:]*)")
_TITLES: ContextVar[Mapping[str, str]] = ContextVar("titles", default={})  # noqa: B039, which is never changed


@contextmanager
def titled(titles: Mapping[str, str]) -> Iterator[None]:
    """Print these names of methods, data sets and scores by their titles, in everything that is written inside.

    >>> with titled({"my_method:white_vae": "White VAE", "mig": "gap"}):
    ...     words("my_method:white_vae"), words("mig")
    ('White VAE', 'gap')
    """
    before = _TITLES.set({**_TITLES.get(), **titles})
    try:
        yield
    finally:
        _TITLES.reset(before)


def spelled(text: object) -> str:
    """Return a text with methods, data sets and scores as they are printed; names of the user's own are left as is.

    >>> spelled("beta_vae+jacobian_l1 on dsprites, seed 0")
    'β-VAE + jacobian L1 on dSprites, seed 0'
    """
    titles, text = _TITLES.get(), str(text)
    if not titles:
        return _NAME.sub(_printed, text)
    longest = "|".join(re.escape(name) for name in sorted(titles, key=len, reverse=True))
    parts = re.split(rf"(?<![\w.:/-])({longest})(?![\w:/])", text)  # every second one has a title
    return "".join(titles[part] if place % 2 else _NAME.sub(_printed, part) for place, part in enumerate(parts))


def words(name: object, width: int = 0) -> str:
    r"""Return a name of a score, recipe or data set as words, broken into lines of about ``width`` letters.

    >>> words("dci.disentanglement", 12)
    'DCI\ndisentanglement'
    """
    title = _TITLES.get().get(str(name))
    text = title or spelled(name)
    if not title and ":" not in text:  # which the user's own have, as module:name
        parts = re.sub(r"_|\.(?=[a-z])", " ", text).split(" ")
        text = " ".join("β" if part == "beta" else part.upper() if part in CAPITALS else part for part in parts)
    return "\n".join(textwrap.wrap(text, width, break_long_words=False)) if width else text


def method_of(label: str) -> str:
    """Return the method in the label of a recipe, without what was added to it or removed from it.

    A label that does not begin with the name of a method of Unweave is returned as it is.

    >>> method_of("vae+jacobian_l1-kl"), method_of("beta_vae (kl 2)"), method_of("mine:white-vae")
    ('vae', 'beta_vae', 'mine:white-vae')
    """
    found = _NAME.match(label)
    return found[1] if found else label


def listed(names: Sequence[str]) -> str:
    """Return names as they stand in a sentence.

    >>> listed(["a"]), listed(["a", "b", "c"])
    ('a', 'a, b and c')
    """
    *first, last = names
    return f"{', '.join(first)} and {last}" if first else last


def brief(value: object) -> str:
    """Return the value of a setting as text, numbers with as few digits as they need.

    >>> brief(0.0010), brief(4), brief("fsq")
    ('0.001', '4', 'fsq')
    """
    return f"{value:g}" if isinstance(value, float) else str(value)


def score_fields(metric: str) -> dict[str, str]:
    """Return the names of the scores of a metric, each with the field of the result that holds it.

    >>> score_fields("mig"), score_fields("wasserstein_correlation")
    ({'mig': 'score'}, {'wasserstein_correlation.score': 'score', 'wasserstein_correlation.normalised': 'normalised'})
    """
    return {f"{metric}.{field}": field for field in SEVERAL[metric]} if metric in SEVERAL else {metric: "score"}


def label_of(name: str, source: Mapping[str, Any] | None) -> str:
    """Return the name to show: for the user's own data, the name of its file or folder."""
    if name != OWN:
        return name
    path = Path(source["path"]) if source else Path("own images")
    return path.stem if path.suffix.lower() in ARRAY_FILES else path.name


def _printed(found: re.Match[str]) -> str:
    """Return a name as it is printed, with the parts that a label adds to it or removes from it."""
    parts = [f" {'+' if sign == '+' else '−'} {words(part)}" for sign, part in _PART.findall(found[2])]
    return _KNOWN[found[1]] + "".join(parts)
