from __future__ import annotations

import numpy as np
import pytest

from unweave.reports.html.tables import Setting, counted, ordinal, shown


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.123456, "0.1235"),
        (1.23456, "1.235"),
        (12.3456, "12.35"),
        (123.456, "123.5"),
        (1234.56, "1,235"),
        (-0.5, "−0.5000"),
        (1e-7, "1e−07"),
        (4.0, "4"),
        (np.int64(12600), "12,600"),
        (np.float32(0.5), "0.5000"),
        (float("nan"), "–"),
        (float("-inf"), "−∞"),
        (None, "–"),
        (Setting(0.1), "0.1"),
        (Setting(0.000316), "0.000316"),
        (Setting(1e-7), "1e−07"),
        (Setting(12_600), "12,600"),
        (Setting(float("nan")), "–"),
        (True, "True"),
        ("text", "text"),
    ],
)
def test_numbers_have_about_four_digits(value: object, text: str) -> None:
    assert shown(value) == text


def test_places_and_counts() -> None:
    assert [ordinal(n) for n in (1, 2, 3, 4, 11, 13, 21, 112)] == [
        "1st",
        "2nd",
        "3rd",
        "4th",
        "11th",
        "13th",
        "21st",
        "112th",
    ]
    assert counted(1, "run") == "1 run"
    assert counted(12600, "run") == "12,600 runs"
