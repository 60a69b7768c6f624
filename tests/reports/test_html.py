from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pandas
import pytest

import unweave
from tests.cli.running import run as typed
from tests.reports.reading import Page, check_self_contained
from tests.training.small import pictures, trained
from unweave.cli.options import find_runs
from unweave.reports import report
from unweave.reports.html import (
    LONG,
    Html,
    Section,
    Setting,
    as_path,
    counted,
    escaped,
    frame_table,
    from_here,
    joined,
    make_page,
    make_table,
    ordinal,
    run_commands,
    shown,
    source_from_here,
    tag,
)


def test_children_and_attributes_are_escaped_once() -> None:
    hostile = '"><script>alert(1)</script>'
    made = tag("p", hostile, tag("b", "a & b"), title=hostile)
    assert "<script" not in made
    assert made.count("&lt;script&gt;") == 2
    assert "<b>a &amp; b</b>" in made


def test_attributes_can_be_absent_or_without_value() -> None:
    assert tag("details", "x", open=True, class_=None, hidden=False) == "<details open>x</details>"
    assert tag("img", alt="", src="data:,") == '<img alt="" src="data:,">'
    assert tag("p", name="viewport", aria_label="a") == '<p name="viewport" aria-label="a"></p>'


def test_text_that_cannot_be_written_as_utf8_is_replaced() -> None:
    assert escaped("\ud800").encode("utf-8") == b"?"


def test_joined_keeps_markup_and_escapes_text() -> None:
    assert joined([Html("<br>"), "<", 3]) == "<br>&lt;3"


def test_rows_and_columns_have_scoped_headings() -> None:
    page = Page(make_table(["run", "mig"], [["<b>", 0.5], ["b", None]], caption="Scores", best={(0, 1)}))
    assert [heading["scope"] for heading in page.all("th")] == ["col", "col", "row", "row"]
    assert [cell.get("class") for cell in page.all("td")] == ["number best", "number"]
    assert page.words == ["Scores", "run", "mig", "<b>", "0.5000", "b", "–"]


def test_long_tables_are_folded_and_say_what_they_leave_out() -> None:
    short = frame_table(pandas.DataFrame({"a": range(LONG)}))
    assert not Page(short).all("details")
    page = Page(frame_table(pandas.DataFrame({"a": range(30), "b": [float("nan")] * 30}), most=20))
    assert len(page.all("details")) == 1
    assert len(page.all("tr")) == 21
    assert "Table: 30 rows" in page.text
    assert "The first 20 of 30 rows." in page.text


def test_strengths_are_shown_as_they_were_set_and_scores_with_four_digits() -> None:
    page = Page(frame_table(pandas.DataFrame({"recipe": ["vae"], "strength": [0.1], "mig": [0.1]})))
    assert page.words[-2:] == ["0.1", "0.1000"]
    assert [cell.get("class") for cell in page.all("td")] == ["number", "number"]


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


def test_a_page_has_contents_headings_and_no_script() -> None:
    hostile = "</title><script>alert(1)</script>"
    sections = [
        Section("Scores", tag("p", "one"), "About."),
        Section("Scores", tag("p", "two")),
        Section("…", tag("p")),
    ]
    page = check_self_contained(make_page(hostile, sections, lead=hostile))
    assert [element for element, _ in page.elements if element in ("h1", "h2")] == ["h1", "h2", "h2", "h2"]
    assert [link["href"] for link in page.all("a")] == ["#scores", "#scores-2", "#section"]
    assert hostile in page.text
    policy = next(meta["content"] for meta in page.all("meta") if meta.get("http-equiv"))
    assert policy is not None
    assert policy.startswith("default-src 'none'")


def test_paths_are_seen_from_the_current_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    assert from_here(tmp_path / "runs") == "../runs"
    assert from_here(here / "a" / "b") == "a/b"
    assert from_here("s3://bucket/runs") == "s3://bucket/runs"
    assert as_path(here / "photos") == "./photos"
    source = {"path": str(here / "photos"), "options": {"factors": str(tmp_path / "f.csv"), "size": 16, "names": None}}
    assert source_from_here(source) == {
        "path": "./photos",
        "options": {"factors": "../f.csv", "size": 16, "names": None},
    }


def test_commands_name_runs_and_only_a_store_that_is_not_the_usual_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    first, second = "0123456789abcdef", "fedcba9876543210"
    assert run_commands("unweave score", [tmp_path / "runs" / first]) == f"unweave score {first}"
    assert run_commands("unweave score", [Path("runs") / first]) == f"unweave score {first}"
    several = [tmp_path / "my store" / first, tmp_path / "runs" / second, tmp_path / "my store" / second]
    assert run_commands("unweave score", several).splitlines() == [
        f"unweave score {first} {second} --store 'my store'",
        f"unweave score {second}",
    ]
    assert run_commands("unweave score", [tmp_path / "renamed"]) == "unweave score ./renamed"
    monkeypatch.setenv("UNWEAVE_STORE", str(tmp_path / "my store"))
    assert run_commands("unweave score", [several[0]]) == f"unweave score {first}"


def test_a_report_shows_no_absolute_path_and_its_commands_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UNWEAVE_STORE", raising=False)
    here = tmp_path / "here"
    here.mkdir()
    monkeypatch.chdir(here)
    np.save(tmp_path / "bars.npy", pictures().numpy())
    np.savetxt(tmp_path / "places.csv", np.arange(72), fmt="%d", header="place", comments="")
    data = unweave.load(tmp_path / "bars.npy", factors=tmp_path / "places.csv")
    run = trained(tmp_path / "kept", "pca", data, latents=3)
    text = Page(report(run, "report.html").read_text(encoding="utf-8")).text
    assert str(tmp_path) not in text
    assert f"unweave score {run.name} --store ../kept" in text
    assert find_runs([run.name], "../kept")[0].samefile(run.folder)
    command = next(line.strip() for line in text.splitlines() if "unweave train" in line)
    words = shlex.split(command[command.index("unweave train") :])[:6]
    assert words == ["unweave", "train", "--from", run.name, "--store", "../kept"]
    assert typed(monkeypatch, *words[1:]) == 0
    assert [folder.name for folder in (tmp_path / "kept").iterdir()] == [run.name]

    (tmp_path / "bars.npy").unlink()
    again = Page(report(run, "report.html").read_text(encoding="utf-8")).text
    assert "the images are no longer at ../bars.npy" in again
    assert str(tmp_path) not in again
