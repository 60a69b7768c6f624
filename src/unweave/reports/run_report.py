"""The report of a run, and of several runs beside one another."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from unweave.data import FactorData
from unweave.errors import InputError
from unweave.metrics.scoring.display import follow_lines
from unweave.names import OWN, brief, words
from unweave.own_code import guarded, own_code_of
from unweave.reports.facts import PERMUTATIONS, Facts, RunFacts, measure_facts, read_facts
from unweave.reports.html import (
    Html,
    Section,
    folded,
    from_here,
    hide_places,
    joined,
    make_page,
    make_table,
    run_commands,
    source_from_here,
    tag,
)
from unweave.reports.report_figures import show_figures
from unweave.reports.score_tables import find_peers, score_section
from unweave.representation import Encoder, Representation
from unweave.representation.interface import FOLLOWED
from unweave.store.files import write_output
from unweave.store.folder import existing_store, store_folder
from unweave.store.setting_names import used_settings_of
from unweave.training import Run, score
from unweave.training.adoption import locate_run

if TYPE_CHECKING:
    import pandas

OVERVIEW = ("run", "name", "method", "data", "seed", "steps", "state", "time", "PSNR")
MOST = 5_000_000  # bytes of a report
MAIN = ("steps", "batch", "lr", "net", "samples")  # settings that are listed even if only some runs have them

Watch = Callable[[str], None]


def report(
    runs: Any,
    out: str | Path = "report.html",
    *,
    data: FactorData | None = None,
    store: str | Path | None = None,
    scored: bool = False,
    metrics: str | Sequence[str] | None = None,
    trust: bool = True,
    baselines: Sequence[pandas.DataFrame] = (),
    watch: Watch | None = None,
) -> Path:
    """Write the report of a representation, or a comparison of several, as one HTML file.

    Args:
        runs: A run, or its name, label or folder in the ``store``; an encoder of your own, with ``data``;
            :class:`unweave.Encoder` or :class:`unweave.Codes`; or several of them. Only runs have stored scores: the
            others are scored first.
        out: The file.
        data: Replaces the data that the runs were trained on, for figures; the data of encoders.
        store: The folder whose other runs the scores are compared with.
        scored: Measure every metric that applies first; otherwise the report shows the scores that are stored.
        metrics: Measure these metrics first, instead of every one.
        trust: Whether runs that need code outside of Unweave are opened, as by :func:`unweave.open`.
        baselines: Tables of runs that scores are compared with, where data and protocol are the same.
        watch: Called with the title of each figure.

    Returns:
        The path of the file.

    Examples:
        >>> import numpy as np, unweave
        >>> factors = np.indices((5, 4)).reshape(2, -1).T.repeat(20, axis=0)  # (400, 2)
        >>> unweave.report(unweave.Codes(-factors, factors, names=["x", "y"]), "report.html").name
        'report.html'
    """
    given: list[Any] = list(runs) if isinstance(runs, list | tuple) else [runs]
    if not given:
        raise InputError("report: give at least one run.")
    several: list[Facts] = []
    for each in given:
        if callable(each) and not isinstance(each, Representation):
            each = _encoder(each, data)
        if isinstance(each, Representation) and not isinstance(each, Run):
            several.append(measure_facts(each, data if each.encodes else None, metrics or "all"))
            continue
        folder = _folder(each, store)
        if any(isinstance(facts, RunFacts) and facts.folder == folder for facts in several):
            continue
        facts = read_facts(folder, data, trust=trust)
        if (scored or metrics) and facts.run is not None:
            score(facts.run, facts.data, metrics=metrics or "all", null=PERMUTATIONS)
            facts = read_facts(folder, data, trust=trust)  # with what was measured
        several.append(facts)
    with guarded(trust):
        return write_output(out, make_report(several, watch, baselines, store=store))


def make_report(
    several: Sequence[Facts],
    watch: Watch | None = None,
    baselines: Sequence[pandas.DataFrame] = (),
    *,
    store: str | Path | None = None,
) -> str:
    """Return the report of representations as the text of an HTML file.

    Args:
        several: The facts about each of them.
        watch: Called with the title of each figure.
        baselines: Tables of runs that scores are compared with.
        store: The store that the scores of encoders are compared with; those of a run are compared with its own.

    Returns:
        The page.
    """
    runs = [facts for facts in several if isinstance(facts, RunFacts)]
    folders = [facts.folder for facts in runs]
    stores = [facts.folder.parent if isinstance(facts, RunFacts) else store_folder(store) for facts in several]
    peers = [
        find_peers(facts, own, apart_from=folders, baselines=baselines)
        for facts, own in zip(several, stores, strict=True)
    ]
    separated = separated_section(several)
    figures = show_figures(several, watch)
    notes = [tag("p", note, class_="note warning") for facts in several for note in _notes(facts, len(several))]
    scores = score_section(several, peers)
    settings = [_configuration(runs), _repeat(runs)] if runs else []
    if len(several) == 1:
        lead = joined([tag("p", several[0].sentence), _idea(several[0]), *notes])
        kind = "Run" if runs else "Representation"
        return make_page(several[0].title, [*separated, scores, *figures, *settings], lead=lead, kind=kind)
    rows = make_table(list(OVERVIEW), [facts.overview for facts in several])
    overview = Section("What was trained" if runs else "What is compared", rows)
    differences = [_differences(runs)] if len(runs) > 1 else []
    sections = [overview, *differences, *separated, scores, *figures, *settings]
    title = f"Comparison of {len(several)} {'runs' if len(runs) == len(several) else 'representations'}"
    return make_page(title, sections, lead=joined([_idea(facts) for facts in _different(several)] + notes), kind="Runs")


def _encoder(encode: Any, data: FactorData | None) -> Encoder:
    if data is None:
        raise InputError("report: pass the data as well; only a run knows the data that it was trained on.")
    return Encoder(encode, data)


def separated_section(several: Sequence[Facts]) -> list[Section]:
    """Return which factor each latent follows, in words; nothing where the factors are not known."""
    parts = []
    for facts in several:
        found = None if facts.run is None or facts.data is None else facts.run.follows(facts.data)
        if found is not None:
            found = replace(found, factors=tuple(map(words, found.factors)), constant=tuple(map(words, found.constant)))
            heading = tag("h3", facts.label) if len(several) > 1 else Html("")
            parts.append(joined([heading, tag("ul", *(tag("li", line) for line in follow_lines(found)))]))
    about = (
        f"I(z; f) / H(f) minus what permuted codes score, the chance, on {FOLLOWED:,} images or all that there are; "
        "weak means below 0.1."
    )
    return [Section("What has it separated?", joined(parts), about, "Separated")] if parts else []


def _folder(run: Run | str | Path, store: str | Path | None) -> Path:
    if isinstance(run, Run):
        return run.folder
    return run if isinstance(run, Path) else locate_run(run, existing_store(store))


def _idea(facts: Facts) -> Html:
    return tag("p", facts.about, class_="note") if facts.about else Html("")


def _different(several: Sequence[Facts]) -> list[Facts]:
    """Return the first run of each recipe."""
    first: dict[str, Facts] = {}
    for facts in several:
        first.setdefault(facts.about, facts)
    return list(first.values())


def _notes(facts: Facts, count: int) -> list[str]:
    """Return what the reader should know first: an undertrained run, and what is missing."""
    notes = [*([facts.run.hint] if facts.run is not None and facts.run.hint else []), *facts.notes]
    source = None if facts.identity is None else facts.identity.source
    places = [source["path"]] if source else []
    places += [facts.folder.absolute()] if isinstance(facts, RunFacts) else []
    notes = [hide_places(note, places) for note in notes]
    return [f"{facts.label}: {note}" if count > 1 else note for note in notes]


def _differences(several: Sequence[RunFacts]) -> Section:
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
    return "–" if value is None else brief(value)


def _configuration(several: Sequence[RunFacts]) -> Section:
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


def _repeat(several: Sequence[RunFacts]) -> Section:
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


def _program(facts: RunFacts) -> str:
    return "\n".join(
        (
            "from pathlib import Path",
            "from unweave.training import Execution, fit, read_configuration",
            "",
            f"configuration = read_configuration(Path({from_here(facts.folder)!r}))",
            "run = fit(configuration, Execution(), data, Path('runs'))  # data: the data set that it was trained on",
        )
    )
