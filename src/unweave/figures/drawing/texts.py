"""Texts that fit their place: measured in the font that is drawn, wrapped, and shortened where nothing else helps."""

from __future__ import annotations

import re
from functools import lru_cache

LINE = 1.25  # height of a line of text, over the size of its letters
SPARE = 1.05  # renderers round the width of each letter
ELLIPSIS = "…"


@lru_cache(maxsize=1 << 14)
def text_width(text: str, size: float) -> float:
    """Return the width of one line of text in inches; ``size`` is in points."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    points: float = text_to_path.get_text_width_height_descent(text, FontProperties(size=size), False)[0]
    return SPARE * points / 72


def text_height(lines: int, size: float) -> float:
    """Return the height of lines of text in inches; ``size`` is in points."""
    return lines * LINE * size / 72


def wrapped(text: str, inches: float, size: float) -> list[str]:
    """Return the lines of a text, none wider than ``inches``; words that are wider are broken, if possible at a sign.

    Line breaks in the text are kept.
    """
    lines = []
    for paragraph in text.split("\n"):
        line = ""
        for word in paragraph.split(" "):
            if not line or text_width(f"{line} {word}", size) <= inches:
                line = f"{line} {word}" if line else word
            else:
                lines.append(line)
                line = word
            while text_width(line, size) > inches and len(line) > 1:
                part = _beginning(line, inches, size)
                lines.append(part.rstrip())
                line = line[len(part) :]
        lines.append(line)
    return lines


def shortened(text: str, inches: float, size: float, lines: int = 1) -> str:
    r"""Return a text in at most so many lines; of one that is too long, the middle is left out.

    Args:
        text: The text; its own line breaks are kept if they fit.
        inches: The width of a line.
        size: The size of its letters in points.
        lines: The largest number of lines.

    Returns:
        The lines, separated by line breaks, with an ellipsis where the middle was.

    Examples:
        >>> shortened("a run", 1.0, 8), shortened("a label of many words, seed 3", 1.0, 8)[:5]
        ('a run', 'a lab')
    """
    flat = " ".join(text.split())
    for form in (text, flat):  # with its own line breaks if they fit
        if len(whole := wrapped(form, inches, size)) <= lines:
            return "\n".join(whole)
    text = flat
    low, high, found = 0, len(text), [ELLIPSIS]
    while low <= high:
        kept = (low + high) // 2
        end = kept // 3
        tried = wrapped(f"{text[: kept - end]}{ELLIPSIS}{text[len(text) - end :]}", inches, size)
        if len(tried) <= lines:
            low, found = kept + 1, tried
        else:
            high = kept - 1
    return "\n".join(found)


class Labels:
    """The labels of a figure: each fits its place, and those that were shortened are written out in the caption."""

    def __init__(self) -> None:
        self._full: dict[str, str] = {}  # by the shortened text

    def fit(self, text: str, inches: float, size: float, lines: int = 1) -> str:
        """Return a text that fits, and another one than other texts have that were shortened.

        Args:
            text: The text of the label.
            inches: The width of a line.
            size: The size of its letters in points.
            lines: The largest number of lines.

        Returns:
            The text itself if it fits, else its beginning and end, with a number behind it if another text was
            shortened alike.
        """
        short = shortened(text, inches, size, lines)
        if ELLIPSIS not in short:
            return short
        full = " ".join(text.split())
        number = 2
        while self._full.get(" ".join(short.split()), full) != full:
            mark = f" ({number})"
            short = shortened(text, max(inches - text_width(mark, size), 0.1), size, lines) + mark
            number += 1
        self._full[" ".join(short.split())] = full
        return short

    @property
    def caption(self) -> str:
        """The full text of each label that was shortened."""
        return "; ".join(f"{short}: {full}" for short, full in self._full.items())


def _beginning(word: str, inches: float, size: float) -> str:
    """Return the longest beginning of a word that fits; it ends at a sign if one is in its second half."""
    end = 1
    while end < len(word) and text_width(word[: end + 1], size) <= inches:
        end += 1
    signs = [found.end() for found in re.finditer(r"[^\w]|_", word[:end]) if found.end() > end // 2]
    return word[: signs[-1] if signs else end]
