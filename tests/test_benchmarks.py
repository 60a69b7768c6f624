"""`make bench` fails where a target that the committed page meets is met no longer."""

from __future__ import annotations

import doctest
import importlib.util
import subprocess
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
HEAD = "# A page\n\nText | with a bar.\n\n| what | seconds | measured | target |\n|---|---|---|---|\n"


@pytest.fixture(scope="module")
def targets() -> ModuleType:
    spec = importlib.util.spec_from_file_location("targets", BENCHMARKS / "targets.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_examples(targets: ModuleType) -> None:
    assert doctest.testmod(targets) == (0, 2)


def page(**results: tuple[str, str]) -> str:
    return HEAD + "".join(f"| {name} | 1 | {value} | {target} |\n" for name, (value, target) in results.items())


@pytest.mark.parametrize(
    ("before", "after", "worse"),
    [
        (("2.1", "≥ 2"), ("1.9", "≥ 2"), True),
        (("2.1", "≥ 2"), ("2.0", "≥ 2"), False),  # the limit itself meets the target
        (("2.1", "≥ 2"), ("9.9", "≥ 2"), False),  # 9.9 < 10.1 as numbers; texts would compare by their first digits
        (("9.9", "≥ 2"), ("10.1", "≥ 2"), False),
        (("1.3", "≤ 1.35"), ("1.4", "≤ 1.35"), True),
        (("1.3", "≤ 1.35"), ("1.35", "≤ 1.35"), False),
        (("1.4", "≤ 1.35"), ("1.5", "≤ 1.35"), False),  # missed before, too
        (("1.86%", "≤ 2%"), ("2.04%", "≤ 2%"), True),
        (("0.9", "≤ 2%"), ("1.9 %", "≤ 2%"), False),  # 0.9 is 90 %
        (("9 s", "≤ 120 s"), ("1,200 s", "≤ 120 s"), True),
        (("3e-3", "≤ 0.005"), ("5.1e-3", "≤ 0.005"), True),
        (("-0.2", "≥ -0.3"), ("-0.4", "≥ -0.3"), True),
        (("1.5", "≥ 1"), ("1.5", "≥ 2"), False),  # a stricter target, which the committed value misses, too
        (("1.5", ""), ("1.4", "≥ 1.45"), True),
        (("1.5", "≥ 1"), ("0.5", ""), False),  # the target was given up
        (("1.5", "2"), ("2.5", "≥ 2"), False),  # a committed target without a direction
    ],
)
def test_a_target_that_was_met(
    targets: ModuleType, before: tuple[str, str], after: tuple[str, str], worse: bool
) -> None:
    other = ("1", "≥ 1")
    found = targets.regressions(page(row=before, other=other), page(row=after, other=other))
    assert [sentence.split(":")[0] for sentence in found] == (["row"] if worse else [])


def test_the_sentence_has_both_values(targets: ModuleType) -> None:
    found = targets.regressions(page(speed=("2.10", "≥ 2")), page(speed=("1.90", "≥ 2")))
    assert found == ["speed: measured 1.90, target ≥ 2, but the committed page has 2.10."]


def test_a_row_that_disappears(targets: ModuleType) -> None:
    before = page(kept=("1", "≥ 1"), lost=("1", "≥ 1"), free=("1", ""))
    found = targets.regressions(before, page(kept=("1", "≥ 1")))
    assert found == ["lost: has a target on the committed page, but is no longer measured."]
    assert targets.regressions("", before) == []


def test_tables_without_targets_are_skipped(targets: ModuleType) -> None:
    text = "| name | value |\n|---|---|\n| a | 1 |\n\n" + page(b=("1", "≥ 1")) + "\n| c | d |\n|---|---|\n| e | 2 |\n"
    assert list(targets.rows(text)) == ["b"]


@pytest.mark.parametrize("target", ["2", "under 2", "the paper's 2.65"])
def test_a_target_needs_a_direction(targets: ModuleType, target: str) -> None:
    with pytest.raises(ValueError, match="starts with ≥ or ≤"):
        targets.regressions("", page(row=("1", target)))


def test_a_value_must_be_a_number(targets: ModuleType) -> None:
    with pytest.raises(ValueError, match="expected a number, got 'none'"):
        targets.regressions("", page(row=("none", "≥ 1")))


def test_the_committed_pages_have_targets_that_can_be_read(targets: ModuleType) -> None:
    for name in ("data", "metrics", "normalised_hessian", "training"):
        text = (BENCHMARKS / f"{name}.md").read_text(encoding="utf-8")
        assert any(row.target for row in targets.rows(text).values())
        targets.missed(text)


def test_the_comparison_is_with_the_last_commit(
    targets: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "pages" / "speed.md"
    path.parent.mkdir()
    path.write_text(page(speed=("2.5", "≥ 2"), memory=("0.5", "≤ 1")), encoding="utf-8")
    git = ["git", "-c", "user.name=test", "-c", "user.email=test@localhost", "-C", str(tmp_path)]
    for command in (["init", "-q"], ["add", "."], ["commit", "-q", "--no-gpg-sign", "-m", "pages"]):
        subprocess.run([*git, *command], check=True)
    assert targets.main(path.parent) == 0
    assert capsys.readouterr().out == "speed.md: 2 of 2 targets are met\n"
    path.write_text(page(speed=("1.5", "≥ 2"), memory=("0.6", "≤ 1")), encoding="utf-8")
    assert targets.main(path.parent) == 1
    assert capsys.readouterr().out == (
        "speed.md: 1 of 2 targets are met\n"
        "  worse than before: speed: measured 1.5, target ≥ 2, but the committed page has 2.5.\n"
    )
