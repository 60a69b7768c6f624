"""Numbers, ranks and counts as text."""

from __future__ import annotations

import math
from numbers import Integral, Real


class Setting(float):
    """A number that somebody has set, such as a strength, which is shown with the digits that it needs."""


def shown(value: object) -> str:
    """Return a value as text: numbers with about four digits, "–" for what is missing.

    >>> shown(0.123456), shown(12600), shown(float("nan"))
    ('0.1235', '12,600', '–')
    """
    if value is None:
        return "–"
    if isinstance(value, bool | str) or not isinstance(value, Real):
        return str(value)
    if isinstance(value, Setting) and math.isfinite(value):
        return f"{float(value):,.12g}".replace("-", "−")
    if isinstance(value, Integral):
        return f"{int(value):,}".replace("-", "−")
    return _decimal(float(value))


def _decimal(number: float) -> str:
    if not math.isfinite(number):
        return "–" if math.isnan(number) else "∞" if number > 0 else "−∞"
    size = abs(number)
    if (number.is_integer() and size < 1e15) or size >= 1000:
        text = f"{number:,.0f}"
    elif size >= 1e-3:
        text = f"{number:.{1 if size >= 100 else 2 if size >= 10 else 3 if size >= 1 else 4}f}"
    else:
        text = f"{number:.2g}"
    return text.replace("-", "−")


def ordinal(number: int) -> str:
    """Return a number as a place: 1st, 2nd, 3rd, 4th.

    >>> ordinal(11), ordinal(22)
    ('11th', '22nd')
    """
    ending = "th" if number % 100 in (11, 12, 13) else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number:,}{ending}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun, such as "1 run" or "12,600 runs"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
