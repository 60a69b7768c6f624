"""Schedules: how a number changes over a run. Constant, linear, cosine, delayed, or in cycles."""

from __future__ import annotations

import math
from typing import Annotated, ClassVar, Literal

from pydantic import Field

from unweave.settings import Settings, written_unless


def in_steps(length: float, steps: int) -> float:
    """Convert a length to steps: up to 1 it is a fraction of the run, above 1 a number of steps."""
    return length * steps if length <= 1 else length


class Schedule(Settings):
    """A change from ``start`` to the final value: immediate, linear, along half a cosine, or one jump after a delay.

    ``after`` is when the change begins and ``over`` how long it takes. Values up to 1 are fractions of the run, values
    above 1 are steps. A ``cyclic`` schedule repeats (Fu et al. 2019): each cycle, of length ``over``, rises linearly in
    its first part, ``rise``, and stays at the final value for the rest; their four cycles are ``over=0.25``.
    """

    title: ClassVar[str] = "the schedule"
    kind: Literal["constant", "linear", "cosine", "delayed", "cyclic"] = "constant"
    start: float = Field(default=0.0, ge=0)
    after: float = Field(default=0.0, ge=0)
    over: float = Field(default=1 / 3, gt=0)
    rise: Annotated[float, written_unless(0.5), Field(gt=0, le=1)] = 0.5  # of each cycle

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
        share = max(0.0, done / in_steps(self.over, steps))
        if self.kind == "cyclic":
            share = share % 1 / self.rise
        share = min(1.0, share)
        if self.kind == "cosine":
            share = (1 - math.cos(math.pi * share)) / 2
        return self.start + share * (final - self.start)

    def begin(self, steps: int) -> float:
        """Return the step at which the change begins."""
        return in_steps(self.after, steps)

    @property
    def used(self) -> tuple[str, ...]:
        """The settings that have an effect for this kind of schedule."""
        every = ("start", "after", "over")
        return {"constant": (), "delayed": every[:2], "cyclic": (*every, "rise")}.get(self.kind, every)

    @property
    def is_relative(self) -> bool:
        """Return whether the schedule depends on the total number of steps."""
        used = self.used
        return ("after" in used and 0 < self.after <= 1) or ("over" in used and self.over <= 1)
