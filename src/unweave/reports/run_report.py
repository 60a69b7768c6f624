"""The report of a run, and of several runs beside one another."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.names import OWN, spelled
from unweave.own_code import guarded, own_code_of
from unweave.progress import duration
from unweave.reports.facts import Facts, about_recipe, read_facts, sentence_of
from unweave.reports.html.markup import Html, Section, joined, make_page, tag, write_page
from unweave.reports.html.tables import folded, make_table
from unweave.reports.paths import from_here, hide_places, run_commands, source_from_here
from unweave.reports.peers import find_peers
from unweave.reports.run_figures import show_figures
from unweave.reports.score_tables import score_section
from unweave.store.folder import existing_store, read_label
from unweave.store.setting_names import used_settings_of
from unweave.training import Run, score
from unweave.training.public import locate_run

if TYPE_CHECKING:
    import pandas

MOST = 5_000_000  # bytes of a report
MAIN = ("steps", "batch", "lr", "net", "samples")  # settings that are listed even if only some runs have them

Watch = Callable[[str], None]


def report(
    runs: Run | str | Path | Sequence[Run | str | Path],
    out: str | Path = "report.html",
    *,
    data: FactorData | None = None,
    store: str | Path | None = None,
    scored: bool = False,
    trust: bool = True,
    baselines: Sequence[pandas.DataFrame] = (),
    watch: Watch | None = None,
) -> Path:
    """Write the report of a run, or a comparison of several runs, as one HTML file.

    Args:
        runs: Runs, or their names, labels or folders in the ``store``.
        out: The file.
        data: Replaces the data that the runs were trained on, for figures.
        store: The folder whose other runs the scores are compared with.
        scored: Measure every metric that applies first; otherwise the report shows the scores that are stored.
        trust: Whether runs that need code outside of Unweave are opened, as by :func:`unweave.open`.
        baselines: Tables of runs that scores are compared with, where data and protocol are the same.
        watch: Called with the title of each figure.

    Returns:
        The path of the file.
    """
    given = [runs] if isinstance(runs, Run | str | Path) else list(runs)
    if not given:
        raise InputError("report: give at least one run.")
    folders = list(dict.fromkeys(_folder(run, store) for run in given))
    several = [read_facts(folder, data, trust=trust) for folder in folders]
    for facts in several if scored else ():
        if facts.run is not None:
            score(facts.run, facts.data)
    if scored:  # and read what was measured
        several = [read_facts(folder, data, trust=trust) for folder in folders]
    with guarded(trust):
        return write_page(out, make_report(several, watch, baselines))


def make_report(
    several: Sequence[Facts], watch: Watch | None = None, baselines: Sequence[pandas.DataFrame] = ()
) -> str:
    """Return the report of runs as the text of an HTML file."""
    folders = [facts.folder for facts in several]
    peers = [find_peers(facts, facts.folder.parent, apart_from=folders, baselines=baselines) for facts in several]
    figures = show_figures(several, watch)
    notes = [tag("p", note, class_="note warning") for facts in several for note in _notes(facts, len(several))]
    scores = score_section(several, peers)
    if len(several) == 1:
        sections = [scores, *figures, _configuration(several), _repeat(several)]
        lead = joined([tag("p", sentence_of(several[0])), _idea(several[0]), *notes])
        return make_page(_title(several[0]), sections, lead=lead, kind="Run")
    sections = [_overview(several), _differences(several), scores, *figures, _configuration(several), _repeat(several)]
    title = f"Comparison of {len(several)} runs"
    return make_page(title, sections, lead=joined([_idea(facts) for facts in _different(several)] + notes), kind="Runs")


def _folder(run: Run | str | Path, store: str | Path | None) -> Path:
    if isinstance(run, Run):
        return run.folder
    return run if isinstance(run, Path) else locate_run(run, existing_store(store))


def _title(facts: Facts) -> str:
    c = facts.configuration
    named = f"{spelled(c.recipe)} on {spelled(c.data.label)}"
    label = read_label(facts.folder)
    return f"{label}: {named}" if label else named


def _idea(facts: Facts) -> Html:
    about = about_recipe(facts.configuration)
    return tag("p", about, class_="note") if about else Html("")


def _different(several: Sequence[Facts]) -> list[Facts]:
    """Return the first run of each recipe."""
    first: dict[str, Facts] = {}
    for facts in several:
        first.setdefault(about_recipe(facts.configuration), facts)
    return list(first.values())


def _notes(facts: Facts, count: int) -> list[str]:
    """Return what the reader should know first: an undertrained run, and what is missing."""
    notes = [*([facts.run.hint] if facts.run is not None and facts.run.hint else []), *facts.notes]
    places = [facts.folder.absolute(), *([source["path"]] if (source := facts.configuration.data.source) else [])]
    notes = [hide_places(note, places) for note in notes]
    return [f"{facts.label}: {note}" if count > 1 else note for note in notes]


def _overview(several: Sequence[Facts]) -> Section:
    columns = ["run", "name", "method", "data", "seed", "steps", "state", "time", "PSNR"]
    rows: list[list[object]] = []
    for facts in several:
        c, record = facts.configuration, facts.record
        rows.append(
            [
                facts.label,
                facts.folder.name,
                spelled(c.recipe),
                spelled(c.data.label),
                str(c.seed),
                None if c.linear else c.steps,
                facts.status,
                duration(record.seconds) if record.status else "",
                record.psnr,
            ]
        )
    return Section("What was trained", make_table(columns, rows))


def _differences(several: Sequence[Facts]) -> Section:
    """Return the settings in which the runs differ, one column per run.

    Of the settings that only some runs have, those are listed in which these differ, and the main ones.
    """
    flat: list[dict[str, Any]] = [
        {
            "recipe": facts.configuration.recipe,
            "data": facts.configuration.data.label,
            "seed": facts.configuration.seed,
            **({} if facts.configuration.linear else {"steps": facts.configuration.steps}),
            **used_settings_of(facts.configuration.model_dump(mode="json")),
        }
        for facts in several
    ]
    names = dict.fromkeys(name for settings in flat for name in settings)
    rows: list[list[object]] = []
    for name in names:
        values = [settings[name] for settings in flat if name in settings]
        main = name in MAIN or name.endswith(".weight") or name.startswith("latent.")
        if len(set(map(repr, values))) > 1 or (main and len(values) < len(flat)):
            rows.append([name, *(_text(settings[name]) if name in settings else "" for settings in flat)])
    table = make_table(["setting", *(facts.label for facts in several)], rows)
    body = table if rows else tag("p", "The runs have the same settings.")
    return Section(
        "Settings that differ",
        body,
        "A cell is empty where the method of a run has no such setting; a dash stands for none.",
    )


def _text(value: object) -> str:
    return "–" if value is None else f"{value:g}" if isinstance(value, float) else str(value)


def _configuration(several: Sequence[Facts]) -> Section:
    parts = []
    for facts in several:
        fields = facts.configuration.model_dump(mode="json")
        if fields["data"]["source"]:
            fields["data"]["source"] = source_from_here(fields["data"]["source"])
        rows: list[list[object]] = [[name, _text(value)] for name, value in used_settings_of(fields).items()]
        table = make_table(["setting", "value"], rows)
        complete = tag("pre", tag("code", json.dumps(fields, indent=2, ensure_ascii=False)))
        title = "Settings" if len(several) == 1 else f"Settings of {facts.label}"
        parts += [folded(title, table), folded(f"{title}, as JSON", complete)]
    about = "Every setting that determines what was learned, by the name that --set takes."
    return Section("Configuration", joined(parts), about)


def _repeat(several: Sequence[Facts]) -> Section:
    parts = []
    for facts in several:
        if len(several) > 1:
            parts.append(tag("h3", facts.label))
        data = facts.configuration.data
        if data.name == OWN and data.source is None:
            parts.append(tag("p", "The images were an array in memory. In Python, with the same array as data:"))
            parts.append(tag("pre", tag("code", _program(facts))))
            continue
        trust = " --trust" if own_code_of(facts.configuration.model_dump(mode="json")) else ""
        parts.append(tag("pre", tag("code", run_commands(f"unweave train{trust} --from", [facts.folder]))))
        parts.append(
            tag("p", "Without the folder of the run, save its settings as JSON (above) as configuration.json:"),
        )
        parts.append(tag("pre", tag("code", f"unweave train{trust} --from configuration.json")))
    versions = {facts.record.version for facts in several if facts.record.version}
    note = tag("p", f"Trained with {'; '.join(sorted(versions))}.", class_="note") if versions else Html("")
    about = "The same command with the same versions trains the same run. Options such as --seed 1 change it."
    return Section("How to repeat this", joined([*parts, note]), about, "Repeat")


def _program(facts: Facts) -> str:
    return "\n".join(
        (
            "from pathlib import Path",
            "from unweave.training import Execution, fit, read_configuration",
            "",
            f"configuration = read_configuration(Path({from_here(facts.folder)!r}))",
            "run = fit(configuration, Execution(), data, Path('runs'))  # data: the data set that it was trained on",
        )
    )
