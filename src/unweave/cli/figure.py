"""``unweave figure``: draw a figure of runs, of data sets or of a table, and list all figures."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from unweave.cli.options import (
    CodesFile,
    Discrete,
    FactorKinds,
    FactorsFile,
    GivenCodes,
    ImagesPath,
    Json,
    Missing,
    Quiet,
    RunNames,
    Seed,
    Store,
    Trust,
    Verbose,
    Where,
    chosen,
    is_data_option,
    load_data,
    open_representations,
    picture_path,
    print_json,
    print_line,
    print_notes,
    print_table,
)
from unweave.cli.study import open_study
from unweave.errors import InputError, extra
from unweave.key_values import parse, split_data
from unweave.names import titled

if TYPE_CHECKING:
    from unweave.figures import Figure

MOVING, NUMBERS = (".gif", ".mp4"), ".csv"


def figure(
    name: Annotated[str, typer.Argument(metavar="NAME", help="The name of a figure, or: list.")],
    runs: RunNames = None,
    out: Annotated[
        Path | None,
        typer.Option(
            help="File to write: .png, .svg or .pdf; .gif or .mp4 of traversals; .csv for the numbers.",
            show_default="NAME.png",
        ),
    ] = None,
    study: Annotated[
        str | None, typer.Option(help="Instead of runs: the TOML file of a study, or a name such as tripod/lite.")
    ] = None,
    table: Annotated[
        Path | None, typer.Option(help="Instead of runs: a .csv, .parquet or .json file with one row per run.")
    ] = None,
    data: Annotated[
        list[str] | None,
        typer.Option(help="A data set, as in xysquares or xysquares,spacing=2; can be repeated."),
    ] = None,
    codes: CodesFile = None,
    factors: FactorsFile = None,
    images: ImagesPath = None,
    kinds: FactorKinds = None,
    missing: Missing = "error",
    discrete: Discrete = False,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            help="A setting of the figure, as in steps=7, or an option of --data, as in data.size=32; can be repeated.",
        ),
    ] = None,
    where: Where = None,
    seed: Seed = 0,
    trust: Trust = False,
    store: Store = None,
    as_json: Json = False,
    quiet: Quiet = False,
    verbose: Verbose = False,
) -> None:
    """Draw a figure of runs, encoders or codes, of data sets or of a table of runs; `unweave figure list` lists all.

    With runs, --data names the data set to draw instead of the one that they were trained on. With --json, print the
    numbers of the figure, and write a file only if --out is given.
    """
    import torch

    from unweave.figures.figure import records_of
    from unweave.questions import figure_named
    from unweave.questions._figure import make_figure
    from unweave.study.columns import read_table

    if name == "list":
        _print_list(as_json)
        return
    entry = figure_named(name)
    path = Path(f"{entry.name}.png") if out is None else out
    if (suffix := path.suffix.lower()) in MOVING and entry.frames is None:
        raise InputError(f"cannot write {path}: {entry.name} does not move, so it cannot be {suffix}.")
    if out is not None or not as_json:
        path = picture_path(path, (*(MOVING if entry.frames is not None else ()), NUMBERS))
    _check_source(entry, runs or ([str(codes)] if codes is not None else None), study, table, data)
    represented = GivenCodes(codes, factors, images, missing, discrete, kinds)
    if where and study is None and table is None:
        raise InputError("--where chooses runs of --study or --table: name one of them.")
    options, given = split_data(parse(settings))
    if options and not data:
        raise InputError(f"--set data.{next(iter(options))} is an option of a data set: name it with --data.")
    if suffix in MOVING:
        given = {**entry.moving, **given}
    for key in given.keys() - entry.settings.keys():
        if data and is_data_option(key):
            raise InputError(f"unknown setting of {entry.name} {key!r}: did you mean 'data.{key}'?")
    given = entry.check_settings(given)
    sets = [load_data(word, options) for word in data or ()]
    of: Any = sets if entry.source == "data" else []
    if table is not None:
        of = chosen(read_table(table, "--table"), where)
    elif study is not None:
        of = open_study(study, store)
    elif not of:
        of = open_representations(runs, represented, store, trust=trust, data=sets[0] if sets else None)
    with titled({} if study is None else of.titles):
        generator = torch.Generator().manual_seed(seed)
        result = make_figure(entry, of, sets, generator, given, parse(where, "--where"))
        if as_json:
            print_json(records_of(entry, result))
        if out is not None or not as_json:
            _write(entry, result, path)
    if not as_json:
        print_notes(*sets)
        print_line(f"wrote {path}")


def _print_list(as_json: bool) -> None:
    from unweave.figures.figure import NEEDS, SOURCES
    from unweave.questions import all_figures

    if as_json:
        print_json(
            [
                {
                    "name": entry.name,
                    "summary": entry.about,
                    "source": entry.source,
                    "from": SOURCES[entry.source],
                    "needs": [NEEDS[need] for need in entry.needs],
                    "paper": entry.paper,
                    "moves": entry.frames is not None,
                    "settings": {
                        key: {"default": value.default, "type": str(value.annotation).replace("typing.", "")}
                        for key, value in entry.settings.items()
                    },
                }
                for entry in all_figures().values()
            ]
        )
        return
    rows = ((e.name, e.about, SOURCES[e.source], ", ".join(e.settings)) for e in all_figures().values())
    print_table(("name", "shows", "made from", "settings"), rows)
    print_line("\nunweave figure NAME RUN… --out FILE --set SETTING=VALUE")


def _check_source(
    entry: Figure, runs: list[str] | None, study: str | None, table: Path | None, data: list[str] | None
) -> None:
    """Refuse a combination of runs, study, table and data that the figure cannot be made from."""
    from unweave.figures.figure import SOURCES

    name, source, shown = entry.name, entry.source, SOURCES[entry.source]
    if sum((bool(runs), study is not None, table is not None)) > 1:
        raise InputError("give runs, or --study, or --table: one of them.")
    if source == "table":
        if data:
            raise InputError(f"{name} is made from a table of runs; it takes no --data.")
        if not (runs or study or table):
            raise InputError(f"{name} needs several runs, --study SPEC or --table FILE.")
        return
    if study is not None or table is not None:
        raise InputError(f"{name} shows {shown}; it takes no --study and no --table.")
    if source == "data":
        if bool(runs) == bool(data):
            raise InputError(f"{name} needs runs, whose data it shows, or --data NAME: one of the two.")
        return
    if not runs:
        raise InputError(f"{name} needs {shown}: unweave figure {name} RUN")
    if source == "run" and len(runs) > 1:
        raise InputError(f"{name} shows one run at a time, got {len(runs)}.")
    if data and len(data) > 1:
        raise InputError(f"{name}: give --data once; all runs are then shown on it.")


def _write(entry: Figure, result: Any, path: Path) -> None:
    from unweave.figures import save_figure
    from unweave.figures.figure import records_of
    from unweave.figures.traversals import write_animation
    from unweave.store.files import write_output

    suffix = path.suffix.lower()
    if suffix in MOVING:
        assert entry.frames is not None
        write_animation(entry.frames(result), path)
    elif suffix == NUMBERS:
        write_output(path, extra("pandas", "study").DataFrame(records_of(entry, result)).to_csv(index=False))
    else:
        save_figure(entry.draw(result), path)
