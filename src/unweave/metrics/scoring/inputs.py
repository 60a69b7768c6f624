"""Inputs of metrics: codes and factors as arrays, checked once.

Shapes: N samples, D latents, K factors.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, Literal, get_args

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from unweave.errors import InputError, whole
from unweave.metrics.scoring.column_kinds import Kinds, integer_columns, kinds_of, warn_of_whole_floats
from unweave.metrics.scoring.sparse_codes import SparseCodes, check_sparse, is_sparse, standardised_sparse, why_dense
from unweave.metrics.scoring.vectors import Groups, columns_of, principal, projection
from unweave.metrics.scoring.worth import is_reusing

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]
Booleans = NDArray[np.bool_]
Codes = ArrayLike | Tensor  # or a sparse matrix or tensor, which are no ArrayLike; not all metrics take these
Factors = ArrayLike | Tensor
TRAIN, TEST = 10_000, 5_000  # most rows used to fit and to test: the published sizes
LARGEST = 1e100
Binning = Literal["quantile", "width"]
MISSING = -1  # the class of a value that is missing


@dataclass(frozen=True, eq=False, kw_only=True)
class LabelResult:
    """The fields that the results of all metrics of codes and factors have."""

    missing: Integers = field(default_factory=lambda: np.zeros(0, np.int64))  # (K,), rows left out of each factor


@dataclass(frozen=True, eq=False)
class Labelled:
    """Codes (N, D) and the classes of their factors (N, K), numbered from 0 without gaps, -1 where one is missing.

    The classes of a continuous factor are bins; ``values`` (N, K) has the numbers, NaN in the columns of other factors.
    """

    codes: Any  # Floats, or SparseCodes of metrics that take these
    factors: Integers
    values: Floats | None = None  # None if no factor is continuous

    @property
    def varying(self) -> Integers:
        """The factors with more than one class."""
        low = self.factors.min(0) if self.factors.min() >= 0 else np.where(self.factors < 0, 2**62, self.factors).min(0)
        return np.flatnonzero(low < self.factors.max(0))

    @property
    def continuous(self) -> Booleans:
        """Return whether each factor is continuous (K,)."""
        if self.values is None:
            return np.zeros(self.factors.shape[1], np.bool_)
        return np.asarray(~np.isnan(self.values).all(0), np.bool_)

    @property
    def missing(self) -> Integers:
        """The number of rows without a value of each factor (K,)."""
        return np.asarray((self.factors < 0).sum(0), np.int64)

    def take(self, rows: Any) -> Labelled:
        """Return some of the rows."""
        return Labelled(self.codes[rows], self.factors[rows], None if self.values is None else self.values[rows])

    def of(self, factor: int, codes: Any = None) -> tuple[Any, NDArray[Any]]:
        """Return codes and a factor, classes or real numbers, of the rows that have it; codes may be transformed."""
        codes = self.codes if codes is None else codes
        truth: NDArray[Any] = self.factors[:, factor]
        known = truth >= 0
        if self.values is not None and self.continuous[factor]:
            truth = self.values[:, factor]
        return (codes, truth) if known.all() else (codes[known], truth[known])

    def classes_of(self, factor: int) -> tuple[Any, Integers]:
        """Return codes and classes, bins of a continuous factor, of the rows that have the factor."""
        classes = self.factors[:, factor]
        known = classes >= 0
        return (self.codes, classes) if known.all() else (self.codes[known], classes[known])


def check_codes(metric: str, codes: Any, *, rows: int = 2, latents: int = 1) -> Floats:
    """Return codes (N, D) as float64, or raise an error unless they are finite, with enough rows and latents.

    Args:
        metric: The metric, for messages.
        codes: The codes (N, D), or (N,) for a single latent.
        rows: The fewest rows.
        latents: The fewest columns.

    Returns:
        The codes (N, D), a copy unless inputs are reused.
    """
    if is_sparse(codes):
        raise InputError(f"{metric}: takes no sparse codes: {why_dense(metric)}.")
    array = to_numpy(metric, "codes", codes)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] < latents:
        raise InputError(f"{metric}: codes must be (N, D) with D >= {latents}, got shape {array.shape}.")
    if array.dtype.kind not in "fiub":
        raise InputError(f"{metric}: codes must be numbers, got {array.dtype}.")
    if len(array) < rows:
        raise InputError(f"{metric}: needs at least {rows} samples, got {len(array)}.")
    if array.dtype.kind in "iu" and array.size and max(int(array.max()), -int(array.min())) > 2**53:
        raise InputError(
            f"{metric}: codes are integers beyond 2^53, which floats cannot tell apart; subtract an offset first."
        )
    array = array.astype(np.float64, copy=not is_reusing())
    if not np.isfinite(array).all():
        bad = int((~np.isfinite(array)).any(1).sum())
        raise InputError(f"{metric}: {bad:,} of {len(array):,} codes are NaN or infinite.")
    if array.size and np.abs(array).max() > LARGEST:
        raise InputError(
            f"{metric}: codes reach {np.abs(array).max():.1e}, too large to be squared; rescale them first."
        )
    return array


def check_single_precision(metric: str, *codes: Floats) -> None:
    """Raise an error if codes are too large for the single precision that scikit-learn's trees compute in."""
    most = max(float(np.abs(each).max(initial=0)) for each in codes)
    if most > float(np.finfo(np.float32).max):
        raise InputError(f"{metric}: codes reach {most:.1e}, too large for scikit-learn's trees; rescale them first.")


def check_any_codes(metric: str, codes: Any, *, rows: int = 2, latents: int = 1) -> Any:
    """Return codes (N, D) as float64, or as :class:`SparseCodes` if they are sparse, or raise an error.

    Args:
        metric: The metric, for messages.
        codes: The codes (N, D), an array, a tensor, or a sparse matrix or tensor.
        rows: The fewest rows.
        latents: The fewest columns.

    Returns:
        The checked codes (N, D).
    """
    check = check_sparse if is_sparse(codes) else check_codes
    return check(metric, codes, rows=rows, latents=latents)


def check_factors(metric: str, factors: Any) -> NDArray[Any]:
    """Return factors (N, K) of numbers or words, or raise an error; what is missing is NaN, or None among words."""
    array = to_numpy(metric, "factors", factors)
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.shape[1] == 0:
        raise InputError(f"{metric}: factors must be (N, K) with K >= 1, got shape {array.shape}.")
    if array.dtype.kind == "f" and np.isinf(array).any():
        raise InputError(f"{metric}: factors have infinite entries.")
    if array.dtype.kind == "f" and (most := float(np.nan_to_num(np.abs(array)).max(initial=0))) > LARGEST:
        raise InputError(f"{metric}: factors reach {most:.1e}, too large to be squared; rescale them first.")
    if array.dtype.kind not in "fiubUSO":
        raise InputError(f"{metric}: factors must be numbers or words, got {array.dtype}.")
    return array


def num_varying(factors: NDArray[Any]) -> int:
    """Return how many columns have more than one value, besides missing ones."""
    return sum(int(_present(column, _numbered).max(initial=0)) > 0 for column in factors.T)


def labelled(
    metric: str,
    codes: Any,
    factors: Any,
    *,
    kinds: Kinds = None,
    factor_bins: int = 20,
    binning: Binning = "quantile",
    groups: Groups = None,
    latents: int = 1,
    factors_at_least: int = 1,
    sparse: bool = False,
) -> Labelled:
    """Return codes and factors of the same number of rows, with the factors as classes.

    Args:
        metric: The metric, for messages.
        codes: The codes (N, D).
        factors: The values of the factors (N, K), NaN or None where one is missing.
        kinds: The kinds of the factors, for those that should not be what their types say.
        factor_bins: The number of bins that serve as classes of a continuous factor.
        binning: Whether these have equal counts or equal width.
        groups: The columns of each latent that is a vector, which is replaced by its first principal component.
        latents: The fewest latents that the metric needs.
        factors_at_least: The fewest factors that must vary.
        sparse: Whether the metric takes sparse codes.

    Returns:
        The checked sample.
    """
    bins = whole("factor_bins", factor_bins, at_least=2, at_most=1000)
    if binning not in get_args(Binning):
        raise InputError(f"{metric}: binning must be 'quantile' or 'width', got {binning!r}.")
    sample = _classes(metric, [(codes, factors)], latents, factors_at_least, kinds, bins, binning, sparse=sparse)[0]
    groups = usable_groups(metric, sample.codes, groups)
    return sample if groups is None else replace(sample, codes=principal(metric, sample.codes, groups))


def fit_and_test(
    metric: str,
    codes: Any,
    factors: Any,
    test: tuple[Any, Any] | None,
    seed: int,
    *,
    kinds: Kinds = None,
    test_share: float = 1 / 3,
    most: int = TRAIN,
    groups: Groups = None,
    sparse: bool = False,
) -> tuple[Labelled, Labelled]:
    """Return a sample to fit and one to test: the two that are given, or a random split of one.

    They have at most the published 10,000 and 5,000 rows; from larger samples, rows are drawn at random.

    Args:
        metric: The metric, for messages.
        codes: The codes (N, D).
        factors: The values of the factors (N, K).
        test: Codes and factors of the test sample, None to split the given one.
        seed: The seed of the split.
        kinds: The kinds of the factors, for those that should not be what their types say.
        test_share: The share of the rows that are held out by the split.
        most: The largest number of rows to fit.
        groups: The columns of each latent that is a vector, which is replaced by the first principal component of the
            sample to fit.
        sparse: Whether the metric takes sparse codes.

    Returns:
        The sample to fit and the sample to test.
    """
    rng = np.random.default_rng(check_seed(seed))
    if test is not None and not (isinstance(test, tuple | list) and len(test) == 2):
        raise InputError(f"{metric}: test must be a pair (codes, factors), got {_kind(test)}.")
    if test is None:
        both = _classes(metric, [(codes, factors)], 1, 1, kinds, sparse=sparse)[0]
        if len(both.codes) < 3:
            raise InputError(f"{metric}: needs at least 3 samples to fit and to test, got {len(both.codes)}.")
        order = np.random.RandomState(42 + seed).permutation(len(both.codes))  # with seed 0, the split of Tripod's code
        cut = math.ceil(len(order) * test_share)
        return _projected(metric, _varied(metric, both.take(order[cut:][:most])), both.take(order[:cut][:TEST]), groups)
    train, held_out = _classes(metric, [(codes, factors), test], 1, 1, kinds, sparse=sparse)
    if train.codes.shape[1] != held_out.codes.shape[1]:
        raise InputError(
            f"{metric}: the test codes have {held_out.codes.shape[1]} latents, "
            f"but the training codes have {train.codes.shape[1]}."
        )
    return _projected(metric, _varied(metric, subsample(train, most, rng)), subsample(held_out, TEST, rng), groups)


def _projected(metric: str, train: Labelled, test: Labelled, groups: Groups) -> tuple[Labelled, Labelled]:
    """Return both samples with one column per group."""
    groups = usable_groups(metric, train.codes, groups)
    if groups is None:
        return train, test
    project = projection(metric, train.codes, groups)
    return replace(train, codes=project(train.codes)), replace(test, codes=project(test.codes))


def usable_groups(metric: str, codes: Any, groups: Groups) -> Groups:
    """Return groups of columns; None for sparse codes, for which an error is raised unless each column is a group."""
    if groups is None or not isinstance(codes, SparseCodes):
        return groups
    width = codes.shape[1]
    if columns_of(metric, groups, width) != columns_of(metric, None, width):
        raise InputError(f"{metric}: groups of columns need dense codes; each column of sparse codes is one latent.")
    return None


def check_seed(seed: int) -> int:
    """Return the seed if every kind of generator accepts it, or raise an error."""
    return whole("seed", seed, at_most=2**32 - 100)


def subsample(sample: Labelled, rows: int, rng: np.random.Generator) -> Labelled:
    """Return at most ``rows`` rows of a sample, drawn without replacement and kept in order."""
    if len(sample.codes) <= rows:
        return sample
    return sample.take(np.sort(rng.choice(len(sample.codes), rows, replace=False)))


def _varied(metric: str, train: Labelled) -> Labelled:
    if not len(train.varying):
        raise InputError(
            f"{metric}: no factor varies in the {len(train.codes):,} training samples, as some classes are too rare."
        )
    return train


def dead(codes: Floats) -> Any:
    """Return which latents are constant (D,), up to rounding errors."""
    return np.ptp(codes, axis=0) <= 1e-12 * np.abs(codes).max(0)


def standardised(train: Any, *others: Any) -> tuple[Any, ...]:
    """Standardise latents to mean 0 and standard deviation 1 on the first sample; constant ones become 0."""
    if isinstance(train, SparseCodes):
        return standardised_sparse(train, *others)
    size = np.abs(train).max(0, initial=0.0)
    tiny = np.where(
        (size > 0) & (size < 1 / LARGEST), 1 / np.where(size > 0, size, 1.0), 1.0
    )  # avoids underflow of the squares
    scaled = [codes * tiny for codes in (train, *others)]
    still = dead(scaled[0])
    mean, std = scaled[0].mean(0), np.where(still, 1.0, scaled[0].std(0))
    return tuple(np.where(still, 0.0, (codes - mean) / std) for codes in scaled)


def _classes(
    metric: str,
    pairs: Sequence[tuple[Any, Any]],
    latents: int,
    factors_at_least: int,
    kinds: Kinds = None,
    bins: int = 20,
    binning: Binning = "quantile",
    *,
    sparse: bool = False,
) -> list[Labelled]:
    check = check_any_codes if sparse else check_codes
    codes = [check(metric, c, latents=latents) for c, _ in pairs]
    if len({isinstance(c, SparseCodes) for c in codes}) > 1:
        raise InputError(f"{metric}: the codes of one sample are sparse and those of the other are not.")
    factors = [check_factors(metric, f) for _, f in pairs]
    for c, f in zip(codes, factors, strict=True):
        if len(c) != len(f):
            raise InputError(f"{metric}: got {len(c):,} codes but {len(f):,} rows of factors.")
    widths = {f.shape[1] for f in factors}
    if len(widths) > 1:
        raise InputError(f"{metric}: the two samples have different numbers of factors, {sorted(widths)}.")
    together = np.concatenate(factors)
    integers = np.all([integer_columns(f, array) for (_, f), array in zip(pairs, factors, strict=True)], axis=0)
    declared, whole_floats = kinds_of(metric, together, kinds, integers=integers)
    warn_of_whole_floats(whole_floats)
    real = [kind == "continuous" for kind in declared]
    columns = [
        _present(column, partial(_binned, bins=bins, binning=binning) if continuous else _numbered)
        for column, continuous in zip(together.T, real, strict=True)
    ]
    values = np.where(real, together, np.nan).astype(np.float64) if any(real) else None
    varying = sum(int(column.max()) > 0 for column in columns)
    if varying < factors_at_least:
        need = "one factor that varies" if factors_at_least == 1 else f"{factors_at_least} factors that vary"
        raise InputError(f"{metric}: needs at least {need}, but {varying} of {len(columns)} do.")
    compact = np.stack(columns, axis=1).astype(np.int64)
    ends = np.cumsum([len(c) for c in codes])
    rows = [slice(end - len(c), end) for c, end in zip(codes, ends, strict=True)]
    return [Labelled(c, compact[at], None if values is None else values[at]) for c, at in zip(codes, rows, strict=True)]


def _present(column: NDArray[Any], classes_of: Callable[[NDArray[Any]], Integers]) -> Integers:
    """Return the classes of a column (N,), -1 where a value is missing."""
    known = np.array([entry is not None for entry in column]) if column.dtype.kind == "O" else column == column
    if known.all():
        return classes_of(column.astype(str) if column.dtype.kind == "O" else column)
    classes = np.full(len(column), MISSING, np.int64)
    if known.any():
        rest = column[known]
        classes[known] = classes_of(rest.astype(str) if column.dtype.kind == "O" else rest)
    return classes


def _numbered(column: NDArray[Any]) -> Integers:
    """Return the different values of a column as classes 0, 1, …, in increasing order."""
    return np.unique(column, return_inverse=True)[1].reshape(-1)


def _binned(column: NDArray[Any], bins: int, binning: Binning) -> Integers:
    """Return the bins of real numbers: of equal counts, or of equal width from the minimum to the maximum."""
    inner = np.linspace(0, 1, bins + 1)[1:-1]
    low, high = column.min(), column.max()
    edges = np.quantile(column, inner) if binning == "quantile" else low + (high - low) * inner
    classes = _numbered(np.searchsorted(np.unique(edges), column, side="left" if binning == "quantile" else "right"))
    return classes if classes.max() > 0 or low == high else _numbered(column > low)


def _kind(values: Any) -> str:
    return f"a {type(values).__name__}" + (f" of {len(values)}" if isinstance(values, list | tuple) else "")


def to_numpy(
    metric: str,
    what: str,
    values: Any,
    *,
    expected: str = "one matrix with rows of one length",
    objects: bool = False,
) -> NDArray[Any]:
    """Return tensors, lists and the like as an array, or raise an error that says what was expected.

    Args:
        metric: The metric, for messages.
        what: The name of the argument, such as "codes", for messages.
        values: What was given for it.
        expected: What it should have been, for messages.
        objects: Whether objects among factors are kept; otherwise they become numbers or words.

    Returns:
        The array, of any shape and type.
    """
    if hasattr(values, "tocsr"):
        raise InputError(f"{metric}: {what} must be dense, got a sparse matrix; pass its toarray().")
    if isinstance(values, Tensor):
        if values.is_meta or values.layout != torch.strided:
            raise InputError(f"{metric}: {what} must be a dense tensor with data.")
        values = values.detach().cpu().resolve_conj().resolve_neg()
        known = (torch.float16, torch.float32, torch.float64)
        values = values.float() if values.is_floating_point() and values.dtype not in known else values
        return np.asarray(values.numpy())  # numpy does not have the shorter floats, such as bfloat16
    try:
        array = np.asarray(values)
    except (TypeError, ValueError, RuntimeError) as error:
        raise InputError(f"{metric}: {what} must be {expected}, got {_kind(values)}.") from error
    if isinstance(values, np.ma.MaskedArray):
        raise InputError(f"{metric}: {what} is a masked array; drop the masked rows first.")
    return _from_objects(metric, array) if array.dtype.kind == "O" and what == "factors" and not objects else array


def _from_objects(metric: str, array: NDArray[Any]) -> NDArray[Any]:
    """Return numbers if all entries are numbers, else words; missing entries are NaN, or None among words."""
    gaps = np.array([entry is None or entry != entry for entry in array.reshape(-1)]).reshape(array.shape)
    if gaps.any():
        array = array.copy()
        array[gaps] = np.nan
        if all(isinstance(entry, int | float | np.number) for entry in array[~gaps].tolist()):
            return array.astype(np.float64)
        array[~gaps] = _from_objects(metric, array[~gaps])
        array[gaps] = None
        return array
    entries = array.reshape(-1).tolist()
    if all(isinstance(entry, int | np.integer) for entry in entries):
        return (
            np.unique(array, return_inverse=True)[1].reshape(array.shape)
            if _beyond(entries)
            else array.astype(np.int64)
        )
    if all(isinstance(entry, int | float | np.number) for entry in entries):
        return array.astype(np.float64)
    for column in array.T if array.ndim == 2 else [array]:
        if any(isinstance(entry, float | np.floating) and entry % 1 for entry in column):
            raise InputError(f"{metric}: one factor has fractions and another has words; score them separately.")
    return array.astype(str)


def _beyond(entries: list[Any]) -> bool:
    """Return whether integers are too large for 64 bits, in which case only their order is kept."""
    return any(not -(2**63) <= entry < 2**63 for entry in entries)
