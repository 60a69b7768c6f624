"""The time of each part of a training step, read from a clock before and after the functions that a step calls."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any

from steps import Step
from unweave.training.loop import Session

PARTS = ("drawing the batch", "encoder", "decoder", "loss terms", "backward", "optimiser", "rest")


def measure_parts(session: Session, step: Step, rounds: int) -> dict[str, float]:
    """Return the median milliseconds of each part, and of the whole step.

    Reading the clock takes some microseconds per step, nothing else is added. The session must not be used for other
    measurements afterwards.
    """
    clock = _Clock()
    clock.watch(session, "_images", "drawing the batch")
    clock.watch(session._model.encoder, "forward", "encoder")
    clock.watch(session._model.decoder, "forward", "decoder")
    clock.watch(session._objective, "forward", "objective")
    clock.watch(session._fabric, "backward", "backward")
    for optimiser in session._wrapped:
        clock.watch(optimiser, "step", "optimiser")
    times: dict[str, list[float]] = {name: [] for name in (*PARTS, "step")}
    for number in range(rounds + 3):
        clock.spent = dict.fromkeys(clock.spent, 0.0)
        start = time.perf_counter()
        step(number)
        spent = clock.spent | {"step": time.perf_counter() - start}
        objective = spent.pop("objective")
        spent["loss terms"] = objective - spent["encoder"] - spent["decoder"]
        spent["rest"] = (
            spent["step"] - objective - sum(spent[p] for p in ("drawing the batch", "backward", "optimiser"))
        )
        for name in times if number >= 3 else ():
            times[name].append(1e3 * spent[name])
    return {name: statistics.median(values) for name, values in times.items()}


class _Clock:
    """Adds up the seconds that functions take, by part."""

    def __init__(self) -> None:
        self.spent: dict[str, float] = {}

    def watch(self, owner: object, name: str, part: str) -> None:
        """Replace a method of one object by the same method with a clock."""
        method: Callable[..., Any] = getattr(owner, name)
        self.spent[part] = 0.0

        def timed(*arguments: Any, **keywords: Any) -> Any:
            start = time.perf_counter()
            try:
                return method(*arguments, **keywords)
            finally:
                self.spent[part] += time.perf_counter() - start

        setattr(owner, name, timed)
