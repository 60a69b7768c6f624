"""Schedules: how a number changes over a run. Constant, linear, cosine, or delayed."""

from __future__ import annotations

import math
from typing import ClassVar, Literal

from pydantic import Field

from unweave.settings import Settings


def steps_of(length: float, steps: int) -> float:
    """A length given as a share of the run, up to 1, or as a number of steps, above 1; in steps."""
    return length * steps if length <= 1 else length


class Schedule(Settings):
    """From ``start`` to the final value: at once, along a line, along half a cosine, or in one jump after a delay.

    ``after`` is when it begins and ``over`` how long it takes; up to 1 they are shares of the run, above 1 steps.
    """

    title: ClassVar[str] = "the schedule"
    kind: Literal["constant", "linear", "cosine", "delayed"] = "constant"
    start: float = Field(default=0.0, ge=0)
    after: float = Field(default=0.0, ge=0)
    over: float = Field(default=1 / 3, gt=0)

    def at(self, step: int, steps: int, final: float) -> float:
        """The value at a step of a run of so many.

        >>> Schedule(kind="linear", over=100).at(50, 1000, final=4.0)
        2.0
        """
        if self.kind == "constant":
            return final
        done = step - steps_of(self.after, steps)
        if self.kind == "delayed":
            return final if done >= 0 else self.start
        share = min(1.0, max(0.0, done / steps_of(self.over, steps)))
        if self.kind == "cosine":
            share = (1 - math.cos(math.pi * share)) / 2
        return self.start + share * (final - self.start)
