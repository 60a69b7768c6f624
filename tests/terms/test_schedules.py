from __future__ import annotations

import pytest

from unweave.errors import InputError
from unweave.terms.schedules import Schedule, in_steps


@pytest.mark.parametrize(
    ("schedule", "values"),
    [
        (Schedule(), [4, 4, 4, 4, 4]),
        (Schedule(kind="linear", over=1.0), [0, 1, 2, 3, 4]),
        (Schedule(kind="linear", over=50), [0, 2, 4, 4, 4]),
        (Schedule(kind="linear", over=50, after=0.5, start=2), [2, 2, 2, 3, 4]),
        (Schedule(kind="linear", over=0.5, start=8), [8, 6, 4, 4, 4]),
        (Schedule(kind="cosine", over=1.0), [0, 4 * 0.1464466, 2, 4 * 0.8535534, 4]),
        (Schedule(kind="delayed", after=50), [0, 0, 4, 4, 4]),
    ],
)
def test_values_on_the_way(schedule: Schedule, values: list[float]) -> None:
    assert [schedule.at(step, 100, 4.0) for step in (0, 25, 50, 75, 100)] == pytest.approx(values)


def test_lengths_are_shares_or_steps() -> None:
    assert in_steps(0.25, 300) == 75
    assert in_steps(25, 300) == 25


def test_a_wrong_schedule_is_a_sentence() -> None:
    with pytest.raises(
        InputError, match="kind must be 'constant', 'linear', 'cosine', 'delayed' or 'cyclic', got 'cubic'"
    ):
        Schedule(kind="cubic")  # type: ignore[arg-type]
    with pytest.raises(InputError, match="over must be greater than 0, got 0"):
        Schedule(over=0)


def test_only_some_schedules_depend_on_the_length_of_a_run() -> None:
    assert not Schedule(over=0.5).is_relative  # constant
    assert Schedule(kind="linear").is_relative
    assert not Schedule(kind="linear", over=100).is_relative
    assert Schedule(kind="linear", over=100, after=0.5).is_relative
    assert not Schedule(kind="delayed", over=0.5, after=100).is_relative
    assert Schedule(kind="delayed", after=0.5).used == ("start", "after")


def test_cycles_are_those_of_disent() -> None:
    """CyclicSchedule(period=100, p_high=0.5, start_step=10) of disent 0.8.0 for a value of 4."""
    schedule = Schedule(kind="cyclic", over=100, after=10)
    values = [schedule.at(step, 1000, final=4.0) for step in (0, 10, 20, 35, 60, 109, 110, 111, 185)]
    assert values == pytest.approx([0.0, 0.0, 0.8, 2.0, 4.0, 4.0, 0.0, 0.08, 4.0])
    assert "rise" not in schedule.model_dump(mode="json")
