"""Other libraries' scores of the same codes, beside ours: only what an installed package itself computes.

Each library is called on the same rows as our metric: all of them, or the same two samples where a metric fits and
tests. Codes are made dense for it.
"""

from __future__ import annotations

import importlib
import logging
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version
from types import ModuleType
from typing import Any

import numpy as np

from unweave import metrics
from unweave.errors import InputError, MissingExtra, unknown
from unweave.metrics.scoring.column_kinds import Kinds, warn_of_whole_floats
from unweave.metrics.scoring.factor_kinds import read_kinds
from unweave.metrics.scoring.inputs import Labelled, check_any_codes, fit_and_test, labelled
from unweave.metrics.scoring.sparse_codes import SparseCodes

MOST = 50_000_000  # entries of codes that are made dense
DLIB = "disentanglement_lib.evaluation.metrics"
DLIB_MODULES = ("utils", "mig", "modularity_explicitness", "unsupervised_metrics", "sap_score", "dci")


@dataclass(frozen=True)
class Pair:
    """A score as it is computed here and by the other library."""

    score: str
    ours: float
    theirs: float

    @property
    def difference(self) -> float:
        """Ours minus theirs."""
        return self.ours - self.theirs


@dataclass(frozen=True)
class Samples:
    """All rows, and the two samples of metrics that fit and test; only factors that vary."""

    whole: Labelled
    train: Labelled
    test: Labelled


@dataclass(frozen=True)
class Library:
    """Another library: what is imported, how it is installed, and the scores that both have."""

    package: str  # on the package index
    modules: tuple[str, ...]
    install: str
    compare: Callable[[Samples], Iterator[Pair]]

    @property
    def version(self) -> str:
        """The installed version, "" if it is unknown."""
        try:
            return version(self.package)
        except PackageNotFoundError:
            return ""


def compare_with(
    library: str, codes: Any, factors: Any, *, kinds: Kinds | Mapping[str, str] = None, seed: int = 0
) -> list[Pair]:
    """Return the scores that another library has too, computed by both from the same codes (N, D) and factors (N, K).

    Args:
        library: ``"sae-lens"`` or ``"disentanglement_lib"``, which must be installed.
        codes: The codes, dense or sparse.
        factors: The values of the factors, without gaps; those of disentanglement_lib are classes.
        kinds: The kinds of the factors, as in :func:`unweave.score_codes`.
        seed: The seed of the split into training and test sample.

    Returns:
        One pair per score.
    """
    known = find_library(library)
    checked, (table, declared) = check_any_codes(library, codes), read_kinds(factors, None, kinds, "drop")
    warn_of_whole_floats(declared.whole_floats)
    if checked.shape[0] * checked.shape[1] > MOST:
        raise InputError(f"{library}: needs dense codes, and {checked.shape} are too many; pass fewer rows.")
    dense = checked.matrix.toarray() if isinstance(checked, SparseCodes) else checked
    kept = labelled(library, dense, table, kinds=declared.declared).varying
    table, given = table[:, kept], [declared.declared[k] for k in kept]
    whole, (train, test) = (
        labelled(library, dense, table, kinds=given),
        fit_and_test(library, dense, table, None, seed, kinds=given),
    )
    if whole.missing.any():
        raise InputError(f"{library}: takes no missing values of factors; leave these rows out first.")
    with warnings.catch_warnings(), _without_tensorflow():
        warnings.simplefilter("ignore")
        for module in known.modules:
            try:
                importlib.import_module(module)
            except ImportError as error:
                raise MissingExtra(
                    f"--against {library} needs {module.partition('.')[0]}, which cannot be imported ({error}); "
                    f"install it by: {known.install}"
                ) from error
        return list(known.compare(Samples(whole, train, test)))


@contextmanager
def _without_tensorflow() -> Iterator[None]:
    """Stand in for ``gin.tf``, which needs TensorFlow; the metrics of disentanglement_lib only import it."""
    missing = "gin.tf" not in sys.modules
    if missing:
        sys.modules["gin.tf"] = ModuleType("gin.tf")
    logging.disable(logging.WARNING)  # gin repeats that an argument is deprecated
    try:
        yield
    finally:
        logging.disable(logging.NOTSET)
        if missing:
            del sys.modules["gin.tf"]


def find_library(name: str) -> Library:
    """Return a library by its name."""
    if name not in LIBRARIES:
        raise unknown("library", name, LIBRARIES)
    return LIBRARIES[name]


def _sae_lens(samples: Samples) -> Iterator[Pair]:
    import torch

    theirs: Any = importlib.import_module("sae_lens.synthetic.evals")
    codes, factors = samples.whole.codes, samples.whole.factors
    match, counts = metrics.value_match(codes, factors), metrics.sparsity(codes)
    indicators = (factors[:, match.values[:, 0]] == match.values[:, 1]).astype(np.float64)
    latents, truth = (torch.from_numpy((each - each.mean(0)).T.copy()) for each in (codes, indicators))
    yield Pair("value_match.mcc", match.mcc, float(theirs.mean_correlation_coefficient(latents, truth)))
    yield Pair("value_match.uniqueness", match.uniqueness, float(theirs.feature_uniqueness(latents, truth)))
    active, dead = theirs.L0Calculator(), theirs.DeadLatentsCalculator(codes.shape[1])
    for calculator in (active, dead):
        calculator.add_batch(torch.from_numpy(codes))
    yield Pair("sparsity.active", counts.active, float(active.compute()))
    yield Pair("sparsity.dead", counts.dead, float(dead.compute()))


def _disentanglement_lib(samples: Samples) -> Iterator[Pair]:
    if samples.whole.continuous.any():
        raise InputError("disentanglement_lib: takes classes only, but a factor is continuous.")
    gin: Any = importlib.import_module("gin")
    theirs: Any = {name: importlib.import_module(f"{DLIB}.{name}") for name in DLIB_MODULES}
    with gin.unlock_config():
        gin.bind_parameter("discretizer.discretizer_fn", theirs["utils"]._histogram_discretize)
        gin.bind_parameter("discretizer.num_bins", 20)
    codes, factors = samples.whole.codes, samples.whole.factors
    information = theirs["utils"].discrete_mutual_info(theirs["utils"].make_discretizer(codes.T), factors.T)
    yield Pair("mig", metrics.mig(codes, factors).score, theirs["mig"]._compute_mig(codes.T, factors.T)["discrete_mig"])
    modularity = theirs["modularity_explicitness"].modularity(information)
    yield Pair("modularity", metrics.modularity(codes, factors).score, float(modularity))
    correlation = theirs["unsupervised_metrics"].gaussian_total_correlation(np.cov(codes.T))
    yield Pair("total_correlation (ridge=0)", metrics.total_correlation(codes, ridge=0).score, float(correlation))
    x, y, held_out = samples.train.codes, samples.train.factors, (samples.test.codes, samples.test.factors)
    given = (x.T, y.T, held_out[0].T, held_out[1].T)
    sap = theirs["sap_score"]._compute_sap(*given, False)["SAP_score"]
    yield Pair("sap", metrics.sap(x, y, test=held_out).score, float(sap))
    ours, dci = metrics.dci(x, y, test=held_out), theirs["dci"]._compute_dci(*given)
    yield Pair("dci.disentanglement", ours.disentanglement, float(dci["disentanglement"]))
    yield Pair("dci.completeness", ours.completeness, float(dci["completeness"]))
    yield Pair("dci.informativeness", ours.informativeness, float(dci["informativeness_test"]))


LIBRARIES = {
    "sae-lens": Library("sae-lens", ("sae_lens.synthetic.evals",), "pip install sae-lens", _sae_lens),
    "disentanglement_lib": Library(
        "disentanglement-lib",
        ("gin", "absl", "six", f"{DLIB}.mig"),
        "pip install 'gin-config<0.5' absl-py six && pip install --no-deps disentanglement-lib",
        _disentanglement_lib,
    ),
}
