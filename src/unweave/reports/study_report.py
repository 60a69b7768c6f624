"""The report of a study: its results, what was run, the answers, the best runs, the failures, how to repeat it."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.errors import InputError, extra
from unweave.figures.score_strips import draw_score_strips, make_score_strips
from unweave.names import spelled, titled, words
from unweave.progress import duration
from unweave.questions import QUESTIONS
from unweave.reports.html import (
    Html,
    Section,
    Setting,
    counted,
    folded,
    frame_table,
    from_here,
    joined,
    make_page,
    make_table,
    shown,
    tag,
)
from unweave.reports.report_figures import show_figure
from unweave.store.files import write_output
from unweave.study.columns import (
    UNSUPERVISED,
    TableError,
    choose_scores,
    disentanglement_metrics,
    sign_of,
    strengths_vary,
    with_disentanglement,
)
from unweave.study.results import grids, results

if TYPE_CHECKING:
    import pandas

    from unweave.study import Study

Watch = Callable[[str], None]
DONE = "finished"
MOST_VALUES = 12  # of a setting that varies
MOST_STRIPS = 6  # scores in the plot of all runs
MOST_ROWS = 4_000  # of the table of an answer


def write_study_report(
    study: Study,
    out: str | Path = "study.html",
    *,
    command: str = "",
    metrics: Sequence[str] | None = None,
    watch: Watch | None = None,
    udr: bool = False,
    beside: str | Path | pandas.DataFrame | None = None,
    where: Mapping[str, Any] | None = None,
) -> Path:
    """Write the report of a study as one HTML file and return its path.

    Args:
        study: The study, which need not be complete.
        out: The path of the file.
        command: The command that repeats the study.
        metrics: The scores to compare methods by; by default the disentanglement metrics of the study.
        watch: A function that is called with the name of each part before it is computed.
        udr: Whether finished runs are opened to compute how closely each agrees with its other seeds.
        beside: Results from elsewhere, or their file, to compare with; see :func:`unweave.study.results.lay_beside`.
        where: Settings of the runs to report on, as in ``{"tag": "figure 6"}``; by default all runs.

    Returns:
        The path of the file.

    Examples:
        >>> import unweave
        >>> from unweave.reports import write_study_report
        >>> write_study_report(unweave.Study("tripod/lite", store="runs"), "study.html").name
        'study.html'
    """
    from unweave.study.grid import varying

    table = study.table_beside(beside, where)
    known = set(table["run"])
    planned = [run for run in study.all_planned() if run.name in known]
    if not planned:
        raise InputError(f"no run of {study.spec.name} has {where}.")
    if udr:
        from unweave.study.table import udr_of

        table["udr"] = table["run"].map(udr_of(study))
    with titled(study.titles):
        page = study_page(
            table,
            title=words(study.spec.name) if study.spec.name in study.titles else study.spec.name,
            varies=varying(planned),
            text=study.text,
            command=command,
            metrics=metrics,
            watch=watch,
        )
    return write_output(out, page)


def write_table_report(
    table: pandas.DataFrame,
    out: str | Path = "study.html",
    *,
    title: str = "Runs",
    metrics: Sequence[str] | None = None,
    watch: Watch | None = None,
) -> Path:
    """Write the report of a table with one row per run, such as the results of another project, as one HTML file.

    See :mod:`unweave.questions` for what is asked of the table.

    Args:
        table: The runs; the columns ``data``, ``recipe``, ``strength`` and ``seed`` identify a run.
        out: The path of the file.
        title: The title of the report.
        metrics: The columns of scores to compare methods by; by default, those that have the name of a disentanglement
            metric of the catalogue, such as mig or dci.disentanglement.
        watch: A function that is called with the name of each part before it is computed.

    Returns:
        The path of the file.

    Examples:
        >>> import pandas
        >>> from unweave.reports import write_table_report
        >>> table = pandas.DataFrame({
        ...     "data": "dsprites", "recipe": ["ae", "ae", "vae", "vae"], "strength": 1.0,
        ...     "seed": [0, 1, 0, 1], "mig": [0.1, 0.2, 0.4, 0.5]})
        >>> write_table_report(table, "runs.html", title="Two methods").name
        'runs.html'
    """
    if not isinstance(table, extra("pandas", "study").DataFrame):
        raise InputError(f"the report needs a pandas data frame with one row per run, got {type(table).__name__}.")
    if not len(table):
        raise InputError("the table has no rows: there is nothing to report.")
    varies = [name for name in ("data", "recipe", "strength", "seed") if name in table and table[name].nunique() > 1]
    return write_output(out, study_page(table, title=title, varies=varies, metrics=metrics, watch=watch))


def study_page(
    table: pandas.DataFrame,
    *,
    title: str,
    varies: list[str],
    text: str = "",
    command: str = "",
    metrics: Sequence[str] | None = None,
    watch: Watch | None = None,
) -> str:
    """Return the report of a table of runs as the text of an HTML file.

    Args:
        table: One row per run.
        title: The heading.
        varies: The settings in which runs differ.
        text: The specification of the study.
        command: The command that repeats the study.
        metrics: The scores to compare methods by; by default those of the table.
        watch: A function that is called with the name of each part before it is computed.

    Returns:
        The page.
    """
    if metrics is not None:
        table = with_disentanglement(table, choose_scores("the report", table, metrics, ()))
    state = table.get("state")
    finished = table if state is None else table[state == DONE]
    answers, refused = answer(finished, watch)
    sections = [*_results(table, metrics), _what_was_run(table, varies), *answers]
    if len(best := best_runs(finished)):
        about = "The run with the best value of each score on each data set, selected using the labels."
        sections.append(Section("Best runs", frame_table(best, name=words, headings=2), about))
    if state is not None and (failures := _failures(table)) is not None:
        sections.append(failures)
    if refused:
        sections.append(unanswered(refused))
    if text or command:
        sections.append(_how_to_repeat(text, command))
    return make_page(title, sections, lead=_lead(table, finished), kind="Study")


def _results(table: pandas.DataFrame, metrics: Sequence[str] | None) -> list[Section]:
    """Return the section with the table of results and the plot of all runs; none if the table has no scores."""
    try:
        found = results(table, metrics=metrics)
    except TableError:
        return []
    parts = [
        make_table(grid.columns, grid.rows, caption=grid.data, best=grid.best, class_="results")
        for grid in grids(found)
    ]
    finished = table[table["state"] == DONE] if "state" in table else table
    compared = metrics or [name for name in disentanglement_metrics(finished) if name in set(found["score"])]
    try:
        strips = draw_score_strips(make_score_strips(finished, metrics=list(compared)[:MOST_STRIPS]))
        parts.append(show_figure(strips, "Scores of all runs", caption="Every run is a point; the bar is the mean."))
    except InputError:  # which says that no run has a score of disentanglement
        pass
    about = "Mean ± standard deviation over seeds; the best of each column is bold."
    return [Section("Results", joined(parts), about)]


def best_runs(table: pandas.DataFrame) -> pandas.DataFrame:
    """Return the best run for every score and data set, one row each; the first of several equals."""
    pandas = extra("pandas", "study")
    scores = dict.fromkeys((*disentanglement_metrics(table), *UNSUPERVISED))
    known = [name for name in scores if name in table and name != "kl_per_latent"]
    names = [name for name in ("recipe", "strength", "seed", "run") if name in table]
    rows: list[dict[str, Any]] = []
    for data, group in table.groupby("data", sort=False) if "data" in table else ():
        for score in known:
            values = pandas.to_numeric(group[score], errors="coerce").dropna() * sign_of(score)
            if len(values):
                best = group.loc[values.idxmax()]
                rows.append({"data": data, "score": score, "value": best[score], **{n: best[n] for n in names}})
    return pandas.DataFrame(rows)


def _lead(table: pandas.DataFrame, finished: pandas.DataFrame) -> Html:
    parts = [counted(len(table), "run")]
    for column, noun in (("recipe", "method"), ("data", "data set")):
        if column in table:
            parts.append(counted(table[column].nunique(), noun))
    told = f"{parts[0]} of {parts[1]} on {parts[2]}" if len(parts) == 3 else ", ".join(parts)
    rest = " All are finished." if len(finished) == len(table) else f" {len(finished):,} are finished."
    return tag("p", f"{told}.{rest if 'state' in table else ''}")


def _what_was_run(table: pandas.DataFrame, varies: list[str]) -> Section:
    numbers: dict[str, object] = {"runs": shown(len(table))}
    if "state" in table:
        numbers |= {str(state): shown(int(count)) for state, count in table["state"].value_counts().items()}
    if "seconds" in table:
        seconds = float(extra("pandas", "study").to_numeric(table["seconds"], errors="coerce").sum())
        numbers["of training in total"] = duration(seconds)
    parts = [
        tag(
            "dl",
            joined(tag("div", tag("dt", key), tag("dd", value)) for key, value in numbers.items()),
            class_="numbers",
        )
    ]
    if "data" in table and "recipe" in table:
        counts = table.groupby(["recipe", "data"], sort=False, dropna=False).size().unstack(fill_value=0)
        rows = [[words(recipe), *map(int, row)] for recipe, row in zip(counts.index, counts.to_numpy(), strict=True)]
        parts.append(make_table(["method", *map(words, counts.columns)], rows, caption="Runs by method and data set"))
    if settings := [name for name in varies if name in table]:
        rows = [[name, _values(table[name])] for name in settings]
        parts.append(make_table(["setting", "values"], rows, caption="Settings that vary", class_="words"))
    return Section("What was run", joined(parts))


def _values(column: pandas.Series) -> str:
    """Return the different values of a setting: numbers in their order, texts as they first appear."""
    values = list(
        dict.fromkeys(column.dropna().map(lambda value: value if isinstance(value, int | float) else str(value)))
    )
    if not any(isinstance(value, str) for value in values):
        values.sort()
    values = [Setting(value) if isinstance(value, float) else value for value in values]
    texts = [spelled(value) if isinstance(value, str) else shown(value) for value in values]
    if len(texts) > MOST_VALUES:
        return f"{', '.join(texts[:3])}, …, {texts[-1]} ({len(texts):,} values)"
    return ", ".join(texts)


def _failures(table: pandas.DataFrame) -> Section | None:
    failed = table[table["state"].isin(("failed", "damaged"))]
    if not len(failed):
        return None
    names = [name for name in ("run", "data", "recipe", "strength", "seed", "state", "error") if name in failed]
    about = "unweave study run --retry tries failed runs again."
    return Section("Failures", frame_table(failed[names], name=words), about)


def _how_to_repeat(text: str, command: str) -> Section:
    parts = []
    if command:
        parts += [tag("p", "This command runs the study, or continues it:"), tag("pre", tag("code", command))]
    if text:
        parts += [tag("p", "The specification:"), tag("pre", tag("code", text.strip()))]
    return Section("How to repeat this study", joined(parts), short="Repeat")


def run_command(spec: str | Path, store: str | Path | None = None, settings: Sequence[str] = ()) -> str:
    """Return the command that runs a study, with more settings of all runs, as it is typed in the current folder."""
    place = [] if store is None else ["--store", from_here(store)]
    fixed = [word for setting in settings for word in ("--set", setting)]
    return shlex.join(["unweave", "study", "run", from_here(spec), *place, *fixed])


def answer(table: pandas.DataFrame, watch: Callable[[str], None] | None = None) -> tuple[list[Section], dict[str, str]]:
    """Return one section per question that the table answers, and for the others the sentence that says what it lacks.

    ``watch`` is called with the title of each question before it is answered.
    """
    sections, refused = [], {}
    for question in QUESTIONS.values():
        if watch is not None:
            watch(question.title)
        try:
            if question.about_strengths and not strengths_vary(table):
                raise TableError(question.name, "asks about hyperparameters, and no method has several.")
            result = question.table(table)
            figure = show_figure(question.draw(result), f"{question.title}. {question.reads}", caption=question.reads)
        except InputError as error:
            refused[question.title] = error.reason if isinstance(error, TableError) else str(error)
            continue
        listed = Html("") if question.points else frame_table(result, name=words, most=MOST_ROWS, headings=2)
        sections.append(Section(question.title, joined([figure, listed]), question.asks))
    return sections, refused


def unanswered(refused: dict[str, str]) -> Section:
    """Return the section about questions that the table does not answer."""
    titles: dict[str, list[str]] = {}
    for title, reason in refused.items():
        titles.setdefault(reason[:1].upper() + reason[1:], []).append(title)
    entries = [tag("li", tag("strong", "; ".join(of)), ". ", reason) for reason, of in titles.items()]
    about = "These questions need something that the runs of this study do not have."
    listed = folded(f"{counted(len(refused), 'question')} of {len(QUESTIONS)}", tag("ul", joined(entries)))
    return Section("What could not be answered", listed, about, "Not answered")
