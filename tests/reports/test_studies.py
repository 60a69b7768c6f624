from __future__ import annotations

import re
from pathlib import Path

import pandas
import pytest

from tests.questions.tables import noise_table
from tests.reports.reading import check_self_contained
from unweave import Study
from unweave.errors import InputError
from unweave.questions import QUESTIONS
from unweave.reports import write_study_report, write_table_report
from unweave.reports.study_report import answer, best_runs, run_command, study_page, unanswered


def test_the_best_run_of_each_score_and_data_set() -> None:
    table = noise_table("mig", "reconstruction_error").reset_index(drop=True)
    best = best_runs(table).set_index(["data", "score"])
    for data, group in table.groupby("data"):
        top, least = group.loc[group["mig"].idxmax()], group.loc[group["reconstruction_error"].idxmin()]
        assert best.loc[(data, "mig"), "value"] == top["mig"]
        assert tuple(best.loc[(data, "mig"), ["recipe", "seed"]]) == (top["recipe"], top["seed"])
        assert best.loc[(data, "reconstruction_error"), "value"] == least["reconstruction_error"]


def test_the_report_of_a_table_with_hostile_names(tmp_path: Path) -> None:
    hostile = "<script>alert(1)</script>"
    table = noise_table("mig", data=("dsprites", hostile), seeds=2).assign(state="finished", seconds=90.0, error="")
    table.iloc[0, table.columns.get_loc("state")] = "failed"
    table.iloc[0, table.columns.get_loc("error")] = f"diverged {hostile}"
    page = check_self_contained(
        study_page(table, title=hostile, varies=["data", "seed"], text=hostile, command=hostile)
    )
    assert "36 runs of 3 methods on 2 data sets. 35 are finished." in page.text
    assert "54 min" in page.text  # 36 × 90 s
    assert f"diverged {hostile}" in page.text
    assert "How to repeat this study" in page.text


def test_a_table_of_other_columns_is_reported_with_reasons(tmp_path: Path) -> None:
    path = write_table_report(pandas.DataFrame({"accuracy": [0.1, 0.2]}), tmp_path / "page.html", title="mine")
    page = check_self_contained(path.read_text())
    assert "What could not be answered" in page.text
    assert "lacks the columns" in page.text
    assert "are finished" not in page.text  # which the table does not say
    assert page.text.count("he table lacks the columns 'data', 'recipe', 'seed'.") < 3  # analyses share a reason
    with pytest.raises(InputError, match="no rows"):
        write_table_report(pandas.DataFrame(), tmp_path / "page.html")
    with pytest.raises(InputError, match="data frame"):
        write_table_report([1], tmp_path / "page.html")


def test_udr_is_computed_if_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    study = Study('name = "tiny"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\nseed = [0, 1]\n', store=tmp_path)
    agreement = {run.name: place / 2 for place, run in enumerate(study.planned)}
    scored = study.table().assign(state="finished", mig=[0.25, 0.75])
    monkeypatch.setattr(study, "table", lambda where=None: scored)
    monkeypatch.setattr("unweave.study.table.udr_of", lambda study: agreement)
    page = check_self_contained(write_study_report(study, tmp_path / "study.html", udr=True).read_text())
    assert "Selection by UDR" in page.text
    assert "lacks the column" not in page.text.partition("Selection by UDR")[2].partition("Best run")[0]


def test_the_report_of_a_study_that_was_not_run(tmp_path: Path) -> None:
    spec = 'name = "tiny"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\nseed = [0, 1]\n# <b>\n'
    path = write_study_report(Study(spec, store=tmp_path), tmp_path / "study.html", command="unweave study run x")
    page = check_self_contained(path.read_text())
    assert "2 runs of 1 method on 1 data set. 0 are finished." in page.text
    assert "not started" in page.text
    assert "# <b>" in page.text
    assert "unweave study run x" in page.text


def test_the_report_opens_with_results_and_asks_about_strengths_only_where_they_vary() -> None:
    several = noise_table("mig", "sap")
    page = study_page(several, title="several", varies=["strength"])
    sections = re.findall("<h2>(.*?)</h2>", page)
    assert sections[:2] == ["Results", "What was run"]
    assert "Transfer between data sets" in sections
    first = several[several["recipe"] == "beta_vae"].groupby(["data", "strength"], sort=False)["mig"].mean()
    assert f"{first['dsprites', 1]:.3f}".replace("-", "−") in page.partition("What was run</h2>")[0]
    single = several[several["strength"] == several.groupby("recipe")["strength"].transform("min")]
    sections = re.findall("<h2>(.*?)</h2>", study_page(single, title="single", varies=["recipe"]))
    assert "Differences between methods" in sections
    assert not {"Transfer between data sets", "Scores on two data sets", "Score ranges"} & {*sections}


def test_the_command_is_quoted_for_a_shell() -> None:
    assert run_command(Path("my study.toml"), "a store") == "unweave study run 'my study.toml' --store 'a store'"


def test_what_applies_is_shown_and_the_rest_is_refused_with_a_sentence() -> None:
    table = noise_table("mig", data=("dsprites",), seeds=2)
    seen: list[str] = []
    sections, refused = answer(table, seen.append)
    titles = [section.title for section in sections]
    assert sorted([*titles, *refused]) == sorted(question.title for question in QUESTIONS.values())
    assert seen == [question.title for question in QUESTIONS.values()]
    assert {"Score ranges", "Variance explained", "Differences between methods"} <= set(titles)
    assert "at least two data sets" in refused["Transfer between data sets"]
    assert "at least 2 columns of scores" in refused["Agreement of metrics"]
    for section in sections:
        assert "data:image/" in section.body
    text = unanswered({"<b>": "needs <i>"}).body
    assert "&lt;b&gt;" in text
    assert "<i>" not in text
