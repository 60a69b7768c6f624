"""FactorSpace: a grid of factors of variation, and the ways of sampling points from it.

A point is a row of K integers, one value per factor. Sampling is vectorised and uses an explicit ``torch.Generator``.
Shapes: n points, M batches, K factors; ``…`` stands for any number of leading axes.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from numbers import Real
from typing import ClassVar, Literal, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from unweave.errors import InputError, unknown, whole

MOST_SHOWN = 16  # factors shown in the string of a space
Changed = int | tuple[int, int] | Literal["original"]  # how many factors differ within a pair
Whole = Tensor | NDArray[np.integer] | Sequence[int] | Sequence[Sequence[int]]


@dataclass(frozen=True)
class Factor:
    """One factor of variation with the values 0 … size − 1."""

    size: int
    kind: ClassVar[str]

    def __post_init__(self) -> None:
        size = whole("a factor's size", self.size, at_least=1, at_most=2**63 - 1)  # values are int64
        object.__setattr__(self, "size", size)


class Ordered(Factor):
    """Values on a line: close numbers are similar.

    Examples:
        >>> import unweave
        >>> unweave.FactorSpace.of(x=unweave.Ordered(8)) == unweave.FactorSpace.of(x=8)  # the default
        True
    """

    kind = "ordered"


class Cyclic(Factor):
    """Values on a circle: the last is next to the first.

    Examples:
        >>> import unweave
        >>> unweave.FactorSpace.of(hue=unweave.Cyclic(10), x=8).kinds
        ('cyclic', 'ordered')
    """

    kind = "cyclic"


class Categorical(Factor):
    """Values without order: two values are equal or different.

    Examples:
        >>> import unweave
        >>> unweave.FactorSpace.of(shape=unweave.Categorical(3), x=8).kinds
        ('categorical', 'ordered')
    """

    kind = "categorical"


class Pairs(NamedTuple):
    """Pairs of points: ``first`` and ``second`` (n, K) differ exactly where ``changed`` (n, K) is true."""

    first: Tensor
    second: Tensor
    changed: Tensor


class FixedBatches(NamedTuple):
    """Batches of points ``factors`` (M, n, K); those of batch m have the same value of factor ``axis[m]``."""

    factors: Tensor
    axis: Tensor


@dataclass(frozen=True)
class FactorSpace:
    """Every combination of the named factors, in C order: the last factor varies fastest.

    Examples:
        >>> import unweave
        >>> space = unweave.FactorSpace.of(shape=unweave.Categorical(3), x=8, y=8)
        >>> print(space, len(space), space.size)
        shape 3 · x 8 · y 8 3 192
        >>> space.traverse([0, 2, 5], "shape").tolist()  # every shape at one place
        [[0, 2, 5], [1, 2, 5], [2, 2, 5]]
    """

    names: tuple[str, ...]
    factors: tuple[Factor, ...]

    @classmethod
    def of(cls, **factors: int | Factor) -> FactorSpace:
        """Make a space from named factors; a number is the size of an ordered factor.

        >>> FactorSpace.of(shape=Categorical(3), angle=Cyclic(40), x=32).size
        3840
        """
        return cls(tuple(factors), tuple(f if isinstance(f, Factor) else Ordered(f) for f in factors.values()))

    def __post_init__(self) -> None:
        if not self.factors:
            raise InputError("a factor space needs at least one factor.")
        if len(self.names) != len(self.factors) or len(set(self.names)) != len(self.names):
            raise InputError(f"each factor needs a different name: {len(self.factors)} factors, names {self.names}.")

    def __len__(self) -> int:
        return len(self.factors)

    def __str__(self) -> str:
        shown = [f"{name} {factor.size}" for name, factor in zip(self.names, self.factors, strict=True)]
        more = len(shown) - MOST_SHOWN
        return " · ".join(shown[:MOST_SHOWN]) + (f" · and {more:,} more" if more > 0 else "")

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The number of values of each factor."""
        return tuple(factor.size for factor in self.factors)

    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kind of each factor: ``ordered``, ``cyclic`` or ``categorical``."""
        return tuple(factor.kind for factor in self.factors)

    @cached_property
    def size(self) -> int:
        """The number of points."""
        return math.prod(self.sizes)

    @property
    def has_positions(self) -> bool:
        """Return whether every point has a 64-bit position on the grid."""
        return self.size <= 2**63

    def axis(self, factor: str | int) -> int:
        """Return the column of a factor, given by name or by column."""
        if isinstance(factor, str):
            if factor not in self.names:
                raise unknown("factor", factor, self.names)
            return self.names.index(factor)
        column = whole("a factor given by column", factor, at_least=None)
        if not -len(self) <= column < len(self):
            raise InputError(f"there is no factor {column}: the space has {len(self)} ({', '.join(self.names)}).")
        return column % len(self)

    def check(self, factors: Whole) -> Tensor:
        """Return ``factors`` (…, K) as int64; raise an InputError if a value does not exist."""
        factors = as_integers("factors", factors)
        if factors.ndim == 0 or factors.shape[-1] != len(self):
            raise InputError(
                f"factors must have {len(self)} columns ({', '.join(self.names)}), got shape {tuple(factors.shape)}."
            )
        outside = (factors < 0) | (factors >= self._sizes(factors.device))  # (…, K)
        if outside.any():
            row = outside.reshape(-1, len(self)).nonzero()[0]  # (2,): point, factor
            value = int(factors.reshape(-1, len(self))[row[0], row[1]])
            name, size = self.names[row[1]], self.sizes[row[1]]
            raise InputError(f"factor {name!r} is out of range: got {value}, expected 0 to {size - 1}.")
        return factors

    def index(self, factors: Whole) -> Tensor:
        """Return the positions (…) of points (…, K) on the grid."""
        factors = self.check(factors)
        return (factors * self._strides(factors.device)).sum(-1)

    def at(self, index: Whole) -> Tensor:
        """Return the points (…, K) at positions ``index`` (…); the inverse of :meth:`index`."""
        index = as_integers("positions", index)
        if index.numel() and (int(index.min()) < 0 or int(index.max()) >= self.size):
            raise InputError(
                f"positions must be between 0 and {self.size - 1}, got {int(index.min())} to {int(index.max())}."
            )
        return index[..., None] // self._strides(index.device) % self._sizes(index.device)

    def sample(
        self,
        n: int,
        generator: torch.Generator,
        *,
        where: Mapping[str, int | Sequence[int]] | None = None,
        correlation: Mapping[tuple[str, str], float] | None = None,
        accept: Callable[[Tensor], Tensor] | None = None,
    ) -> Tensor:
        """Draw n points (n, K), uniformly by default.

        Args:
            n: The number of points.
            generator: The source of randomness.
            where: Restricts factors to the given values: ``{"shape": 0, "x": range(8)}``.
            correlation: Correlates ordered factors by a Gaussian copula: with ``{("x", "y"): 0.8}`` each factor stays
                uniform, and the underlying normal variables have the given correlation.
            accept: A function from points (m, K) to booleans (m,); only the points for which it is true are kept.

        Returns:
            The points (n, K).
        """
        n, generator = whole("the number of points", n), check_generator(generator)
        choices = self.choices(where or {}, generator.device)
        links = self._links(correlation or {}, generator.device)
        if accept is None:
            return self._draw(n, generator, choices, links)
        kept: list[Tensor] = []
        for _ in range(256):
            points = self._draw(max(n, 1024), generator, choices, links)
            kept.append(points[_accepted(accept, points)])
            if sum(map(len, kept)) >= n:
                return torch.cat(kept)[:n]
        drawn, found = 256 * max(n, 1024), sum(map(len, kept))
        raise InputError(
            f"accept kept {found} of {drawn} points, fewer than the {n} needed: restrict values with where= instead."
        )

    def traverse(self, factors: Whole, axis: str | int) -> Tensor:
        """Vary one factor over all its values, from each point: (…, K) becomes (…, size, K)."""
        column, factors = self.axis(axis), self.check(factors)
        line = factors[..., None, :].repeat_interleave(self.sizes[column], dim=-2)  # (…, size, K)
        line[..., column] = torch.arange(self.sizes[column], device=factors.device)
        return line

    def near(
        self, center: Whole, rho: float, n: int, generator: torch.Generator, *, fixed: Iterable[str | int] = ()
    ) -> Tensor:
        """Draw n points in the neighbourhood of each centre: (…, K) becomes (…, n, K). Rhodes & Lee 2021, sec. 5.3.

        Every factor is uniform within ⌊ρ·size⌋ steps of its value at the centre: clipped at the ends of an ordered
        factor, wrapped around for a cyclic one. Categorical factors keep their value.

        Args:
            center: The centres (…, K).
            rho: The radius, as a fraction of the number of values of each factor.
            n: The number of points of each neighbourhood.
            generator: The source of randomness.
            fixed: Further factors that keep their value.

        Returns:
            The points (…, n, K).
        """
        n, generator = whole("the number of points", n), check_generator(generator)
        if not isinstance(rho, Real) or not 0 <= rho <= 1:
            raise InputError(f"rho must be a fraction of the range of each factor, from 0 to 1, got {rho!r}.")
        if isinstance(fixed, str) or not isinstance(fixed, Iterable):
            raise InputError(f"fixed must be a list of factors, got {fixed!r}.")
        still = {self.axis(factor) for factor in fixed} | {
            k for k, kind in enumerate(self.kinds) if kind == "categorical"
        }
        # 0.29 · 100 is 28.999…, so a small tolerance is needed
        steps = [0 if k in still else math.floor(rho * size + 1e-9) for k, size in enumerate(self.sizes)]
        radius = torch.tensor(steps, device=generator.device)  # (K,)
        sizes = self._sizes(generator.device)
        center = self.check(center).to(generator.device)[..., None, :]  # (…, 1, K)
        wraps = torch.tensor([kind == "cyclic" for kind in self.kinds], device=generator.device)
        low = torch.where(wraps, center - radius, (center - radius).clamp(min=0))
        high = torch.where(wraps, center + radius, torch.minimum(center + radius, sizes - 1))
        width = torch.minimum(high - low + 1, sizes)  # at most once around a circle
        return (low + _below(width.expand(*center.shape[:-2], n, len(self)), generator)) % sizes

    def pairs(self, n: int, changed: Changed | None, generator: torch.Generator) -> Pairs:
        """Draw n pairs of points that differ in exactly ``changed`` factors.

        ``changed`` is a number, a range ``(low, high)`` drawn from uniformly, both ends included, or None for 1 … K.
        The factors that change are chosen uniformly; a new value is uniform over the other values. ``"original"`` is
        the code of Locatello et al. 2020 and Michlo et al. 2023: k is uniform on 1 … K − 1, then 1 or k factors with
        equal chance get a new value, which is uniform over all values and so may be the old one.
        """
        n, generator = whole("the number of pairs", n), check_generator(generator)
        if isinstance(changed, str):
            return self._original_pairs(n, changed, generator)
        sizes = self._sizes(generator.device)
        changeable = sizes > 1  # (K,)
        most = int(changeable.sum())
        ends = (1, most) if changed is None else changed if isinstance(changed, tuple | list) else (changed, changed)
        if len(ends) != 2:
            raise InputError(f"changed must be a number or a range (low, high), got {changed!r}.")
        low, high = (whole("changed", end) for end in ends)
        if not 0 <= low <= high <= most or most == 0:
            raise InputError(f"changed={changed} must be between 0 and {most}, the number of factors that can change.")
        first = self._draw(n, generator, {}, None)
        count = torch.randint(low, high + 1, (n, 1), generator=generator, device=generator.device)
        order = torch.rand(n, len(self), generator=generator, device=generator.device, dtype=torch.float64)
        rank = order.masked_fill(~changeable, 2.0).argsort(-1).argsort(-1)  # (n, K), constant factors last
        mask = rank < count
        step = 1 + _below((sizes - 1).clamp(min=1).expand(n, len(self)), generator)
        return Pairs(first, torch.where(mask, (first + step) % sizes, first), mask)

    def _original_pairs(self, n: int, changed: str, generator: torch.Generator) -> Pairs:
        if changed != "original" or len(self) < 2:
            raise InputError(
                f"changed must be a number, a range (low, high) or 'original' (two factors or more), got {changed!r}."
            )
        first, redrawn = self._draw(n, generator, {}, None), self._draw(n, generator, {}, None)
        count = torch.randint(1, len(self), (n, 1), generator=generator, device=generator.device)
        single = torch.randint(2, (n, 1), generator=generator, device=generator.device).bool()
        order = torch.rand(n, len(self), generator=generator, device=generator.device, dtype=torch.float64)
        second = torch.where(order.argsort(-1).argsort(-1) < count.masked_fill(single, 1), redrawn, first)
        return Pairs(first, second, first != second)

    def fixed_batches(
        self, batches: int, n: int, generator: torch.Generator, *, axis: str | int | Tensor | None = None
    ) -> FixedBatches:
        """Draw batches of n points that have the same value of one factor.

        Args:
            batches: The number of batches, M.
            n: The number of points of a batch.
            generator: The source of randomness.
            axis: That factor, or one factor per batch (M,); by default it is drawn uniformly for each batch.

        Returns:
            The points (M, n, K) and the factor of each batch (M,).
        """
        batches, n = whole("the number of batches", batches), whole("the number of points", n)
        generator = check_generator(generator)
        if axis is None:
            axes = torch.randint(len(self), (batches,), generator=generator, device=generator.device)
        elif isinstance(axis, Tensor):
            axes = as_integers("axis", axis).to(generator.device)
            if axes.shape != (batches,) or ((axes < 0) | (axes >= len(self))).any():
                raise InputError(f"axis must have the column of a factor for each of {batches} batches.")
        else:
            axes = torch.full((batches,), self.axis(axis), device=generator.device)
        factors = self._draw(batches * n, generator, {}, None).view(batches, n, len(self))
        shared = self._draw(batches, generator, {}, None)[:, None].expand_as(factors)  # (M, n, K)
        column = axes[:, None, None].expand(batches, n, 1)
        return FixedBatches(factors.scatter(2, column, shared.gather(2, column)), axes)

    def _sizes(self, device: torch.device) -> Tensor:
        return torch.tensor(self.sizes, device=device)

    def _strides(self, device: torch.device) -> Tensor:
        if not self.has_positions:
            raise InputError(
                f"a grid of {len(self):,} factors with more than 2^63 points has no 64-bit positions: use factors."
            )
        return torch.tensor([math.prod(self.sizes[k + 1 :]) for k in range(len(self))], device=device)

    def _draw(
        self, n: int, generator: torch.Generator, choices: Mapping[int, Tensor], links: tuple[list[int], Tensor] | None
    ) -> Tensor:
        counts = [len(choices[k]) if k in choices else size for k, size in enumerate(self.sizes)]
        limits = torch.tensor(counts, device=generator.device)  # (K,)
        factors = _below(limits.expand(n, len(self)), generator)
        if links is not None:
            columns, root = links
            normal = torch.randn(n, len(columns), generator=generator, device=generator.device, dtype=torch.float64)
            uniform = torch.special.ndtr(normal @ root.T)  # (n, linked factors)
            ranks = (uniform * limits[columns]).long()
            factors[:, columns] = torch.minimum(ranks, limits[columns] - 1)
        for column, values in choices.items():
            factors[:, column] = values[factors[:, column]]
        return factors

    def choices(self, where: Mapping[str, int | Sequence[int]], device: torch.device) -> dict[int, Tensor]:
        """Return the values (m,) that ``where`` allows for each column it names."""
        choices = {}
        for name, values in where.items():
            column, size = self.axis(name), self.sizes[self.axis(name)]
            given = values.tolist() if isinstance(values, Tensor | np.ndarray) else values
            several = given if isinstance(given, Iterable) and not isinstance(given, str) else [given]
            allowed = sorted({whole(f"where: {name}", value, at_least=None) for value in several})
            if not allowed or allowed[0] < 0 or allowed[-1] >= size:
                raise InputError(f"where: values of {name} must be between 0 and {size - 1}, got {values!r}.")
            choices[column] = torch.tensor(allowed, device=device)
        return choices

    def _links(
        self, correlation: Mapping[tuple[str, str], float], device: torch.device
    ) -> tuple[list[int], Tensor] | None:
        """Return the correlated columns and the Cholesky factor of their correlation matrix."""
        if not correlation:
            return None
        for pair in correlation:
            if not isinstance(pair, tuple) or len(pair) != 2:
                raise InputError(
                    f"correlation: keys must be pairs of factors, as in {{('x', 'y'): 0.8}}, got {pair!r}."
                )
        columns = sorted({self.axis(name) for pair in correlation for name in pair})
        for column in columns:
            if self.kinds[column] != "ordered":
                raise InputError(
                    f"correlation: {self.names[column]} is {self.kinds[column]}, but must be an ordered factor."
                )
        matrix = torch.eye(len(columns), dtype=torch.float64, device=device)
        for (a, b), strength in correlation.items():
            i, j = columns.index(self.axis(a)), columns.index(self.axis(b))
            if i == j or not isinstance(strength, Real) or not -1 < strength < 1:
                raise InputError(f"correlation: {a} and {b} must be different and {strength!r} between -1 and 1.")
            if matrix[i, j] not in (0, strength):
                raise InputError(f"correlation: {a} and {b} are given twice, with {matrix[i, j]:g} and {strength:g}.")
            matrix[i, j] = matrix[j, i] = strength
        root, failed = torch.linalg.cholesky_ex(matrix)
        if failed:
            raise InputError(
                "correlation: these values are inconsistent, because their matrix is not positive definite."
            )
        return columns, root


def _below(limits: Tensor, generator: torch.Generator) -> Tensor:
    """Draw an integer from 0 to limit − 1 for every entry, uniform up to a bias below limit / 2⁶³."""
    bits = torch.randint(2**63 - 1, limits.shape, generator=generator, device=generator.device)
    return bits % limits


def _accepted(accept: Callable[[Tensor], Tensor], points: Tensor) -> Tensor:
    mask = accept(points)
    if not isinstance(mask, Tensor) or mask.dtype != torch.bool or mask.shape != points.shape[:1]:
        got = f"{mask.dtype} {tuple(mask.shape)}" if isinstance(mask, Tensor) else repr(mask)
        raise InputError(f"accept must return one boolean for each of the {len(points)} points, got {got}.")
    return mask


def check_generator(generator: object) -> torch.Generator:
    """Check that an explicit generator was given, and return it; the global one is never used."""
    if not isinstance(generator, torch.Generator):
        raise InputError(f"sampling needs a generator: pass a torch.Generator, got {generator!r}.")
    return generator


def as_integers(what: str, values: Whole) -> Tensor:
    """Convert integers in a tensor, an array or nested lists to an int64 tensor."""
    try:
        tensor = values if isinstance(values, Tensor) else torch.from_numpy(np.array(values))
    except (TypeError, ValueError) as error:
        raise InputError(f"{what} must be integers in rows of the same length, got {values!r}.") from error
    if tensor.numel() and (tensor.is_floating_point() or tensor.is_complex() or tensor.dtype == torch.bool):
        raise InputError(f"{what} must be integers, got {tensor.dtype}.")
    return tensor.long()
