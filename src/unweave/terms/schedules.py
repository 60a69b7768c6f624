"""Schedules: how a number changes over a run. Constant, linear, cosine, or delayed."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import Field

from unweave.settings import Settings


def in_steps(length: float, steps: int) -> float:
    """Convert a length to steps: up to 1 it is a fraction of the run, above 1 a number of steps."""
    return length * steps if length <= 1 else length


class Schedule(Settings):
    """A change from ``start`` to the final value: immediate, linear, along half a cosine, or one jump after a delay.

    ``after`` is when the change begins and ``over`` how long it takes. Values up to 1 are fractions of the run, values
    above 1 are steps.
    """

    title: ClassVar[str] = "the schedule"
    kind: Literal["constant", "linear", "cosine", "delayed"] = "constant"
    start: float = Field(default=0.0, ge=0)
    after: float = Field(default=0.0, ge=0)
    over: float = Field(default=1 / 3, gt=0)

    def at(self, step: int, steps: int, final: float) -> float:
        """Return the value at a step of a run of ``steps`` steps.

        >>> Schedule(kind="linear", over=100).at(50, 1000, final=4.0)
        2.0
        """
        if self.kind == "constant":
            return final
        done = step - self.begin(steps)
        if self.kind == "delayed":
            return final if done >= 0 else self.start
        share = min(1.0, max(0.0, done / in_steps(self.over, steps)))
        if self.kind == "cosine":
            share = (1 - math.cos(math.pi * share)) / 2
        return self.start + share * (final - self.start)

    def begin(self, steps: int) -> float:
        """Return the step at which the change begins."""
        return in_steps(self.after, steps)

    @property
    def used(self) -> tuple[str, ...]:
        """The settings that have an effect for this kind of schedule."""
        return {"constant": (), "delayed": ("start", "after")}.get(self.kind, ("start", "after", "over"))

    @property
    def is_relative(self) -> bool:
        """Whether the schedule depends on the total number of steps."""
        used = self.used
        return ("after" in used and 0 < self.after <= 1) or ("over" in used and self.over <= 1)
