from __future__ import annotations

import pytest

from unweave.errors import InputError
from unweave.settings import keyword_settings


def test_keyword_arguments_of_a_function_are_settings() -> None:
    def draw(canvas: object, *, radius: int = 3, colour: str = "red") -> None:
        """Draw."""

    made = keyword_settings(draw, "the drawing", skip=1)
    assert made(radius=4).model_dump() == {"radius": 4, "colour": "red"}
    with pytest.raises(InputError, match="unknown setting of the drawing 'color': did you mean 'colour'"):
        made(color="blue")
    with pytest.raises(InputError, match="the drawing: radius must be a valid integer"):
        made(radius="wide")


def test_a_setting_needs_a_default() -> None:
    def draw(*, radius: int) -> None:
        """Draw."""

    with pytest.raises(InputError, match="the drawing: its setting 'radius' must have a default value"):
        keyword_settings(draw, "the drawing")
