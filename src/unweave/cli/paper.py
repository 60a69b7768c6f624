"""``unweave paper``: list and run the findings of the papers, and write their pages."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from unweave.cli.command import Commands
from unweave.cli.options import Json, Quiet, Store, Verbose, check_page, print_json, print_line, print_table
from unweave.cli.study import (
    Address,
    Cpus,
    Device,
    Engine,
    Fixed,
    Gpus,
    Retry,
    Workers,
    announce,
    carry_out,
    place,
    unfinished,
)
from unweave.errors import InputError
from unweave.key_values import parse

paper_app = Commands("Papers: test the findings of the papers, each with one command.")
Name = Annotated[str, typer.Argument(metavar="NAME", help="A finding; unweave paper list shows them.")]
Scale = Annotated[str, typer.Option(help="lite, for two cores, or paper, the published protocol.")]
Out = Annotated[Path | None, typer.Option(help="Folder for the report and the table.", show_default="paper-NAME/SCALE")]


@paper_app.command("list")
def list_papers(as_json: Json = False) -> None:
    """List the findings, with the paper and the scales of each."""
    from unweave.papers import FINDINGS

    if as_json:
        print_json(
            [
                {"name": each.name, "paper": each.paper, "finding": each.sentence, "scales": list(each.scales)}
                for each in FINDINGS.values()
            ]
        )
        return
    rows = ((each.name, each.paper, each.sentence, ", ".join(each.scales) or "exact") for each in FINDINGS.values())
    print_table(("name", "paper", "finding", "scales"), rows)


@paper_app.command("run")
def run_paper(
    name: Name,
    scale: Scale = "lite",
    settings: Fixed = None,
    store: Store = None,
    engine: Engine = "local",
    workers: Workers = None,
    address: Address = None,
    cpus: Cpus = 1.0,
    gpus: Gpus = 0.0,
    device: Device = None,
    retry: Retry = False,
    out: Out = None,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Train and score what a finding needs, and write its report, its table and its figures.

    Running it again continues it.
    """
    from unweave.figures import save_figure
    from unweave.papers import find, report, study_of, write_document
    from unweave.papers.document import picture_file
    from unweave.store.files import write_output

    finding = find(name)
    study = study_of(name, scale, store, parse(settings))
    if study is not None:
        announce(study, workers)
        if finding.stored() is not None:
            stored = f"stored results: {finding.folder / 'results.csv'}; unweave paper show {finding.name} prints them."
            print_line(stored)
        carry_out(study, None, retry=retry, where=place(engine, workers, address, cpus, gpus, device))
    table = finding.table(study)
    folder = out or Path(f"paper-{finding.name}") / (scale if finding.scales else "")
    write_output(folder / f"{finding.name}.csv", table.to_csv(index=False))
    command = ["unweave", "paper", "run", finding.name, *(["--scale", scale] if finding.scales else [])]
    command += [word for setting in settings or () for word in ("--set", setting)]
    document = write_document(
        finding, table, study=study, command=shlex.join(command), text="" if study is None else study.text
    )
    for picture, figure in document.figures:
        save_figure(figure, folder / picture_file(finding, picture))
    path = write_output(folder / f"{finding.name}.html", report(document))
    for claim in document.answer.claims:
        print_line(f"{claim.verdict:10}  {claim.sentence}  {claim.evidence}")
    print_line(f"wrote {path} and {folder / f'{finding.name}.csv'}")
    if study is not None and study.unfinished:
        print_line("The report leaves out runs that are not finished; --retry tries those that failed again.")
        print_line(unfinished(study.unfinished))
        raise typer.Exit(1)


@paper_app.command("show")
def show_paper(
    name: Name,
    out: Annotated[
        Path | None, typer.Option(help="Write the page of the stored results to this HTML file.", show_default="print")
    ] = None,
    as_json: Json = False,
) -> None:
    """Print what the stored results of a finding show, claim by claim, without training anything."""
    from unweave.papers import find, report, write_document
    from unweave.store.files import write_output

    if out is not None:
        check_page(out)
    finding = find(name)
    if (table := finding.stored()) is None:
        raise InputError(f"no results of {finding.name} come with Unweave yet: unweave paper run {finding.name}")
    command = f"unweave paper run {finding.name}"
    document = write_document(finding, table, command=command, draw=out is not None)
    if as_json:
        print_json([{"claim": c.sentence, "verdict": c.verdict, "numbers": c.evidence} for c in document.answer.claims])
        return
    print_line(f"{finding.sentence} ({finding.paper})")
    for claim in document.answer.claims:
        print_line(f"{claim.verdict:10}  {claim.sentence}  {claim.evidence}")
    print_line(f"{len(table):,} rows of results: {finding.folder / 'results.csv'}")
    if out is not None:
        print_line(f"wrote {write_output(out, report(document))}")
    else:
        print_line(f"{command} trains it again; --out FILE.html writes the page.")


@paper_app.command("figures")
def list_figures(as_json: Json = False) -> None:
    """List every figure and table of the four papers, with the command that makes it."""
    from unweave.papers import EXHIBITS

    if as_json:
        print_json([vars(each) for each in EXHIBITS])
        return
    rows = ((each.paper, each.number, each.shows, each.command) for each in EXHIBITS)
    print_table(("paper", "figure", "shows", "command"), rows)


@paper_app.command("pages")
def write_pages(
    out: Annotated[Path | None, typer.Option(help="Folder for the pages, in Markdown.", show_default="papers")] = None,
    folder: Annotated[Path | None, typer.Argument(metavar="[FOLDER]", help="The same as --out.")] = None,
) -> None:
    """Write a page for each finding whose results come with Unweave, with the figures of its table.

    Figures of runs are not drawn again: unweave paper run writes them.
    """
    from unweave.figures import save_figure
    from unweave.papers import FINDINGS, exhibits_page, overview, page, write_document
    from unweave.papers.document import picture_file
    from unweave.store.files import write_output

    if out is not None and folder is not None:
        raise InputError("give FOLDER or --out, not both.")
    folder = out or folder or Path("papers")
    answers = {}
    for name, finding in FINDINGS.items():
        if (table := finding.stored()) is None:
            continue
        document = write_document(finding, table)
        answers[name] = document.answer
        write_output(folder / f"{name}.md", page(document))
        for picture, figure in document.figures:
            save_figure(figure, folder / picture_file(finding, picture))
        print_line(f"wrote {folder / f'{name}.md'}")
    write_output(folder / "index.md", overview(answers))
    write_output(folder / "figures.md", exhibits_page())
