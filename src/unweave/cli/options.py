"""Shared by all commands: the console, common options, reading settings, opening runs, JSON and pictures."""

from __future__ import annotations

import inspect
import json
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table

from unweave.errors import InputError
from unweave.key_values import parse
from unweave.plain_json import to_plain
from unweave.progress import Level, progress, set_level
from unweave.store.folder import existing_store, find_run
from unweave.store.remote.hub import PREFIX as HUB
from unweave.zoo.public import PREFIX

if TYPE_CHECKING:
    import pandas

    from unweave.data import FactorData
    from unweave.representation import Encoder, Representation
    from unweave.training import Run

# Names are chosen by users and may contain brackets; piped output is not cut to the width of a screen.
console = Console(markup=False, width=None if sys.stdout.isatty() else 160)


def is_data_option(key: str) -> bool:
    """Return whether a name is that of an option of data sets, such as size, and of no recipe."""
    from unweave.data import SETS, options_of
    from unweave.recipes import RECIPES, parameters_of

    of_recipes = set[str]().union(*map(parameters_of, RECIPES))
    return key in {name for each in SETS.values() for name in options_of(each)} - of_recipes


def _be_quiet(context: typer.Context, value: bool) -> bool:
    return _choose_level(context, value, "quiet", "verbose")


def _be_verbose(context: typer.Context, value: bool) -> bool:
    return _choose_level(context, value, "verbose", "quiet")


def _choose_level(context: typer.Context, value: bool, level: Level, other: Level) -> bool:
    """Set how much progress is shown; the options may stand before or after the command, but not contradict."""
    if value:
        at: Any = context
        while at is not None:
            if at.params.get(other):
                raise InputError("--quiet cannot be combined with --verbose: give one of them.")
            at = at.parent
        set_level(level)
    return value


def parse_folder(value: str | Path) -> Path:
    """Read the path of a folder; an empty one is refused, because it would mean the working directory."""
    if not str(value).strip():
        raise typer.BadParameter("expected a folder, got an empty path; write . for the working directory.")
    return Path(value)


Out = Annotated[Path | None, typer.Option(help="File to write the picture to.", show_default="NAME….png")]
Seed = Annotated[int, typer.Option(min=0, max=2**32 - 1, help="Random seed.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=_be_quiet, help="Show no progress.")]
Verbose = Annotated[bool, typer.Option("--verbose", "-v", callback=_be_verbose, help="Show progress more often.")]
Store = Annotated[str | None, typer.Option(help="The folder of runs.", show_default="UNWEAVE_STORE or ./runs")]
Trust = Annotated[
    bool,
    typer.Option("--trust", help="Import code outside of Unweave that a run names; only for runs that you trust."),
]
Where = Annotated[
    list[str] | None,
    typer.Option(
        help="Only runs with this setting, as in data=xysquares, beta=0.001,0.01 or 'tag=figure 6'; can be repeated."
    ),
]
RunName = Annotated[str, typer.Argument(metavar="RUN", help="A run: its id or a unique prefix, its label or folder.")]
RunNames = Annotated[
    list[str] | None,
    typer.Argument(
        metavar="RUN…",
        help="Runs: run id or unique prefix, label, folder, or hf://OWNER/NAME; or encoders of your own as "
        "module:name, with --data.",
    ),
]
CodesFile = Annotated[
    Path | None,
    typer.Option(
        "--codes", help="Instead of runs: codes (N, D), an .npy, .npz (also of scipy.sparse), .csv or .parquet file."
    ),
]
FactorsFile = Annotated[
    Path | None,
    typer.Option("--factors", help="With --codes: factors, an .npy, .npz, .csv or .parquet file with as many rows."),
]
ImagesPath = Annotated[
    Path | None, typer.Option("--images", help="With --codes: their images in the same order, a folder or a file.")
]
Missing = Annotated[
    str, typer.Option(help="With --factors: error, or drop to leave rows without a value out of that factor.")
]
FactorKinds = Annotated[
    list[str] | None,
    typer.Option(
        "--kind",
        help="With --factors: what a column is, as in age=continuous, or ordered, cyclic or categorical; can be "
        "repeated.",
        show_default="by its values",
    ),
]
Discrete = Annotated[bool, typer.Option("--discrete", help="With --codes: every latent takes one of a few values.")]
ENCODER = re.compile(r"(?!zoo:|public:)[^\W\d][\w.]*:[^\W\d][\w.]*")  # module:name


def several(words: list[str] | None) -> list[str] | None:
    """Read names that are given one by one or with commas between them, as in ``mig,sap``."""
    return words and [each for word in words for each in word.split(",")]


def data_options(settings: Iterable[str] | None) -> dict[str, Any]:
    """Read the options of a data set where nothing else can be set, written as size=32 or data.size=32."""
    return {key.removeprefix("data."): value for key, value in parse(settings).items()}


def load_data(word: str, options: dict[str, Any] | None = None) -> FactorData:
    """Load a data set, written as NAME or NAME,KEY=VALUE,…."""
    from unweave.data import load

    return load(word, **(options or {}))


def print_notes(*sets: FactorData | None) -> None:
    """Print what was found beside data of one's own but not used, such as a table of labels."""
    for note in dict.fromkeys(note for data in sets if data is not None for note in data.notes):
        print_line(f"note: {note}")


def find_runs(names: Sequence[str], store: str | None) -> list[Path]:
    """Return the folders of runs that are given by id, unique prefix, label or folder, each once."""
    return list(dict.fromkeys(find_one_run(name, store) for name in names))


def find_one_run(name: str, store: str | None) -> Path:
    """Return the folder of a run; a public model or a run of the hub is fetched on first use, which needs torch."""
    if name.startswith((PREFIX, HUB)):
        from unweave.training.adoption import locate_run

        return locate_run(name, existing_store(store))
    return find_run(name, existing_store(store))


def open_runs(names: Sequence[str], store: str | None, *, trust: bool) -> list[Run]:
    """Open runs; without ``trust``, those that need code outside of Unweave are refused before any is opened."""
    from unweave.own_code import check_own_code
    from unweave.store.folder import read_fields
    from unweave.training import open_run

    folders = find_runs(names, store)
    for folder in folders if not trust else ():
        check_own_code(read_fields(folder), f"the run {folder}")
    return [open_run(folder, trust=trust) for folder in folders]


class GivenCodes(NamedTuple):
    """Codes on the command line, and what belongs to them."""

    codes: Path | None = None
    factors: Path | None = None
    images: Path | None = None
    missing: str = "error"
    discrete: bool = False
    kinds: list[str] | None = None  # as NAME=KIND


def open_representations(
    names: Sequence[str] | None,
    given: GivenCodes,
    store: str | None,
    *,
    trust: bool,
    data: FactorData | None = None,
) -> list[Representation]:
    """Open what is named on the command line: runs, encoders as module:name, or codes from files.

    Args:
        names: Runs, and encoders as module:name.
        given: Codes instead.
        store: The folder of runs.
        trust: Whether runs that need code outside of Unweave are opened.
        data: The data of the encoders.

    Returns:
        The representations in the order given.
    """
    if bool(names) == (given.codes is not None):
        raise InputError("give either runs (or encoders as module:name), or --codes FILE and --factors FILE.")
    if given.codes is None:
        if any((given.factors, given.images, given.discrete, given.kinds)):
            raise InputError(
                "--factors, --kind, --images and --discrete can be used with --codes only: a run knows its own."
            )
        if given.missing != "error":
            raise InputError(
                "--missing can be used with --codes only: write it behind the data, as in --data photos/,missing=drop."
            )
        each: list[str] = list(dict.fromkeys(names or ()))
        encoders = {name: _encoders(name, data, several=len(each) > 1) for name in each if ENCODER.fullmatch(name)}
        return [opened for name in each for opened in encoders.get(name) or open_runs([name], store, trust=trust)]
    from unweave.data.files.factor_tables import read_matrix
    from unweave.data.files.own_sources import read_factors
    from unweave.representation import Codes

    if data is not None:
        raise InputError("--data can be used with runs and encoders only: codes have --factors and --images.")
    if given.missing not in ("error", "drop"):
        raise InputError(f"--missing takes error or drop, got {given.missing!r}.")
    options: dict[str, Any] = {"missing": given.missing, "kinds": _kinds(given.kinds)}
    factors: Any = given.factors
    if given.images is None:
        factors = read_factors(factors, header_optional=True, **options)
    codes = read_matrix(given.codes)
    return [Codes(codes, factors, images=given.images, discrete=given.discrete, name=given.codes.stem, **options)]


def _kinds(words: Sequence[str] | None) -> dict[str, str] | None:
    """Read the kinds of factors, each written as NAME=KIND."""
    pairs = [word.rpartition("=") for word in words or ()]
    for (name, _, kind), word in zip(pairs, words or (), strict=True):
        if not name or not kind:
            raise InputError(f"--kind takes NAME=KIND, as in age=continuous, got {word!r}.")
    return {name: kind for name, _, kind in pairs} or None


def _encoders(name: str, data: FactorData | None, *, several: bool) -> list[Encoder]:
    """Return the encoder of a name, or those of a dictionary, such as the layers of a network, by their keys.

    With ``several`` names, those of a dictionary have its name in front, as two networks may have the same layers.
    """
    from unweave.own_code import imported
    from unweave.representation import Encoder

    if data is None:
        raise InputError(f"the encoder {name} needs data: name it with --data, as in --data dsprites,size=32.")
    found: Any = imported("encoder", name)
    if isinstance(found, Mapping):
        if not found:
            raise InputError(f"the dictionary {name} has no encoders.")
        return [Encoder(encode, data, name=f"{name}.{key}" if several else str(key)) for key, encode in found.items()]
    made: Any = found() if inspect.isclass(found) else found
    return [Encoder(made, data, name=name)]


def stem_of(run: Run) -> str:
    """Return how the files of a run are named: its recipe, without what cannot be in a name, and 8 digits."""
    recipe = re.sub(r"[^\w.+-]+", "_", run.configuration.recipe)
    return f"{recipe}-{run.name[:8]}"


def draw_pictures(run: Run, data: FactorData, folder: Path) -> None:
    """Write the reconstructions and traversals of a run; each run has its own files."""
    from unweave.figures import (
        draw_reconstructions,
        draw_traversals,
        make_reconstructions,
        make_traversals,
        save_figure,
    )
    from unweave.streams import stream

    generator = stream(run.configuration.seed, "pictures")
    stem = stem_of(run)
    for drawn, name in (
        (draw_reconstructions(make_reconstructions(run, data, generator)), "reconstructions"),
        (draw_traversals(make_traversals(run, data, generator)), "traversals"),
    ):
        path = folder / f"{stem}-{name}.png"
        save_figure(drawn, path)
        print_line(f"wrote {path}")


def check_page(out: Path) -> None:
    """Refuse a file for a page that is not HTML or cannot be written, before anything is computed."""
    if out.suffix.lower() not in (".html", ".htm"):
        raise InputError(f"--out must end in .html, got {out.name!r}.")
    if out.is_dir():
        raise InputError(f"cannot write {out}: it is a folder.")


def pairs(settings: Mapping[str, Any]) -> str:
    """Return settings as text, as in ``beta=4, seed=0``."""
    return ", ".join(f"{key}={value}" for key, value in settings.items())


def print_line(text: str) -> None:
    """Print a text as it is: without colours, and not cut to the width of the screen."""
    console.print(text, soft_wrap=True, highlight=False)


def print_table(columns: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """Print rows of texts below the names of their columns; without names, rows are names and texts."""
    table = Table(*columns, box=None, pad_edge=False, show_header=bool(columns))
    if not columns:
        table.add_column(no_wrap=True)
        table.add_column(overflow="fold")
    for row in rows:
        table.add_row(*row)
    console.print(table)


@contextmanager
def announced_parts(total: int, unit: str) -> Iterator[Callable[[str], None]]:
    """Show the progress of a report; call the function that is yielded with the title of each part as it begins."""
    with progress("report", total, unit=unit) as advance:
        begun = 0

        def announce(title: str) -> None:
            nonlocal begun
            advance(min(begun, 1), title)
            begun += 1

        yield announce


def print_json(value: Any) -> None:
    """Print a value as JSON that other programs can read: what is not finite is a string, such as "NaN"."""
    print_line(json.dumps(to_plain(value), indent=2, ensure_ascii=False, allow_nan=False))


def picture_path(path: Path, others: Sequence[str] = ()) -> Path:
    """Return the path of a picture, with .png if it has no ending; refuse it before anything is computed if it is bad.

    Its name must end in a format of pictures or in one of ``others``, and the file must be writable.
    """
    from unweave.figures.drawing.style import FORMATS

    if not path.name or path.is_dir():
        raise InputError(f"cannot write a picture to {str(path)!r}: it is a folder; give the name of a file.")
    path = path if path.suffix else path.with_name(f"{path.name}.png")
    if path.suffix.lower() not in (*FORMATS, *others):
        raise InputError(f"cannot write {path}: expected a name that ends in {', '.join((*FORMATS, *others))}.")
    new = not path.exists()
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with path.open("ab"):  # leaves a file that exists as it is
            pass
        if new:
            path.unlink()
    except OSError as error:
        raise InputError(f"cannot write {path}: {error.strerror or error}.") from error
    return path


def check_writable(option: str, folder: Path) -> None:
    """Refuse a folder for pictures that cannot be written to, before anything is computed."""
    if folder.exists() and not folder.is_dir():
        raise InputError(f"{option} takes a folder, but {folder} is a file.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / ".unweave"
        probe.touch()
        probe.unlink()
    except OSError as error:
        raise InputError(f"{option}: cannot write to {folder}: {error.strerror or error}.") from error


def chosen(frame: pandas.DataFrame, where: list[str] | None) -> pandas.DataFrame:
    """Return the runs of a table that --where chooses; a table without any is refused."""
    from unweave.study.columns import with_settings

    wanted = parse(where, "--where")
    runs = with_settings(frame, wanted)
    if not len(runs):
        raise InputError(f"no run of the table has {wanted}.")
    return runs
