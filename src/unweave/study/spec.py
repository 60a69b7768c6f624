"""The specification of a study: a page of TOML, checked as a whole before anything is trained."""

from __future__ import annotations

import itertools
import math
import os
import re
import tomllib
from collections.abc import Hashable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal

from pydantic import Field

from unweave.errors import InputError, Unavailable, unknown
from unweave.key_values import names_in, parse_data
from unweave.settings import Settings

SHIPPED = Path(__file__).parents[1] / "papers"  # one folder per finding, with its specifications
NAME = re.compile(r"[\w.-]+")
AXES = ("recipe", "data")  # what every run has; everything else is a setting
MOST = 100_000  # seeds of a grid
MOST_RUNS = 1_000_000  # of all grids
SNAPSHOT = "score.snapshot"  # the table of the rule for snapshots
STRENGTH = "strength"  # of a grid: the setting that regularises, which analyses compare methods by
TAG = "tag"  # of a grid: a text by which its runs are found again, such as the figure that they belong to
TOO_LONG = re.compile(r"(?<!\w)\d\w{1000}|(\.[ \t]*[\w\"'-]+[ \t]*){50}")  # a number, or a dotted name
NUMBER = re.compile(r"[+-]?(\d[\d_]*\.?\d*|\.\d+)(e[+-]?\d+)?|true|false", re.IGNORECASE)


class SnapshotRule(Settings):
    """Score a snapshot of each run instead of its final weights: the best of those that reconstruct well enough.

    With several scores in ``by``, each of them is that of the snapshot which is best in it.
    """

    title: ClassVar[str] = "[score.snapshot]"
    by: str | tuple[str, ...] = Field(min_length=1)  # a score, as in infomec.modularity, or several
    best: Literal["highest", "lowest"] = "highest"
    psnr: dict[str, Annotated[float, Field(strict=True)]] = Field(default_factory=dict)  # dB required, by data set

    @property
    def scores(self) -> tuple[str, ...]:
        """The scores that choose snapshots; the first also chooses for metrics that are not among them."""
        return (self.by,) if isinstance(self.by, str) else self.by


class Scoring(Settings):
    """The metrics that every run is scored with, and their protocol."""

    title: ClassVar[str] = "[score]"
    samples: int = Field(default=10_000, ge=2, strict=True)
    test_samples: int = Field(default=5_000, ge=1, strict=True)
    source: Literal["pool", "fresh"] = "pool"  # of images that share a factor; the published form draws fresh ones
    seed: int = Field(default=0, ge=0, strict=True)
    settings: dict[str, dict[str, Any]] = Field(default_factory=dict)  # of metrics, by their names
    snapshot: SnapshotRule | None = None  # None to score the final weights


class Ablation(Settings):
    """A recipe of the second stage with the settings that were chosen for another one, but for some of them."""

    title: ClassVar[str] = "[select.ablations]"
    of: str  # the recipe whose choice it takes
    without: tuple[str, ...] = ()  # settings that it does not have


class Selection(Settings):
    """A second stage: in each group choose the settings with the best score, and train fresh seeds of them.

    ``ablations`` adds recipes that are not tuned themselves, as in ``tripod_finer = { of = "tripod" }``.
    """

    title: ClassVar[str] = "[select]"
    by: str  # a score, as in infomec.modularity
    per: tuple[str, ...] = ("data", "recipe")  # one choice for each combination of these
    best: Literal["highest", "lowest"] = "highest"
    over_seeds: Literal["mean", "median"] = "mean"
    seeds: tuple[int, ...]  # of the second stage
    score_seed: int | None = Field(default=None, ge=0, strict=True)  # of its evaluation set; None for that of [score]
    ablations: dict[str, Ablation] = Field(default_factory=dict)  # by recipe

    def ablated(self, chosen: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
        """Return the settings of the ablations, from the choices of the recipes that they are ablations of."""
        return [
            {key: value for key, value in settings.items() if key not in ablation.without} | {"recipe": recipe}
            for recipe, ablation in self.ablations.items()
            for settings in chosen
            if settings["recipe"] == ablation.of
        ]


class Spec(Settings):
    """A study: the union of its grids, the settings that all runs share, and how runs are scored.

    Examples:
        >>> from unweave.study import Spec
        >>> spec = Spec(name="seeds", grid=[{"recipe": "ae", "data": "xysquares", "seed": [0, 1, 2]}])
        >>> [point["seed"] for point in spec.points()]
        [0, 1, 2]
    """

    title: ClassVar[str] = "the study"
    name: str
    metrics: tuple[str, ...] = ()
    disentanglement: tuple[str, ...] = ()  # the scores by which questions compare methods; () for all that need labels
    titles: dict[str, str] = Field(default_factory=dict)  # of methods, data sets and scores, where people read them
    score: Scoring = Scoring()
    fixed: dict[str, Any] = Field(default_factory=dict)
    grid: tuple[dict[str, Any], ...]
    select: Selection | None = None

    def with_fixed(self, settings: Mapping[str, Any]) -> Spec:
        """Return the specification with more settings that all runs share; those of its grids cannot be replaced.

        ``metrics`` replaces the metrics of the study.
        """
        settings = dict(settings)
        metrics = names_in("metrics", settings.pop("metrics", self.metrics))
        for grid in self.grid:
            zipped = {key for each in _zips(grid, "the grid") for key in each}
            for key in settings:
                if key in {"zip", *grid, *zipped}:
                    raise InputError(f"{key} is set by a grid of the study {self.name}: it cannot be changed.")
        changed = self.model_copy(update={"fixed": {**self.fixed, **settings}, "metrics": metrics})
        _check_axes(changed, "")
        _check_count(changed, "")
        return changed

    def scoring_of(self, stage: int) -> Scoring:
        """Return how the runs of a stage are scored; the second can have an evaluation set of its own."""
        if stage == 1 or self.select is None or self.select.score_seed is None:
            return self.score
        return self.score.model_copy(update={"seed": self.select.score_seed})

    def points(self) -> Iterator[dict[str, Any]]:
        """Yield the settings of every run: the product of the axes of each grid, one grid after the other."""
        for number in range(1, len(self.grid) + 1):
            yield from self.points_of(number)

    def points_of(self, number: int) -> Iterator[dict[str, Any]]:
        """Yield the settings of the runs of one grid; the first is number 1."""
        return (point for _, point in self.grouped_points_of(number))

    def grouped_points_of(self, number: int) -> Iterator[tuple[Hashable, dict[str, Any]]]:
        """Yield the settings of the runs of one grid, each with a key that runs share if they differ in the seed."""
        yield from _product({**self.fixed, **self.grid[number - 1]}, f"grid {number}")


def find_spec(given: str | Path) -> Path:
    """Return the file of a specification, given its path or the name of one that comes with Unweave, as in tripod/lite.

    A file comes first, except for a single word, which is no path: write ./word. Names may have - or _.

    Examples:
        >>> from unweave.study import find_spec
        >>> find_spec("tripod/lite").name
        'lite.toml'
    """
    path, text = Path(given), str(given)
    is_path = isinstance(given, Path) or bool(path.suffix) or "/" in text or os.sep in text
    if is_path and path.is_file():
        return path
    if (shipped := shipped_spec(text)) is not None:
        return shipped
    if is_path and (path.suffix or text.count("/") != 1):
        return path
    error = unknown("specification", text, shipped_names())
    raise InputError(f"{error} For the file of this name, write ./{text}") if path.is_file() else error


def shipped_spec(name: str) -> Path | None:
    """Return the file of a specification that comes with Unweave, None if there is none of this name."""
    return dict(_shipped()).get(name.replace("_", "-"))


def shipped_names() -> list[str]:
    """Return the names of the specifications that come with Unweave, such as tripod/lite."""
    return [name for name, _ in _shipped()]


def _shipped() -> Iterator[tuple[str, Path]]:
    for path in sorted(SHIPPED.glob("*/*.toml")):
        yield f"{path.parent.name.replace('_', '-')}/{path.stem}", path


def read_spec(path: str | Path) -> Spec:
    """Read a specification from a TOML file, or one that comes with Unweave by its name; errors name the line.

    Examples:
        >>> from unweave.study import read_spec
        >>> read_spec("tripod/lite").metrics
        ('infomec', 'dci', 'psnr')
    """
    path = find_spec(path)
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise Unavailable(f"cannot read the study {path}: {getattr(error, 'strerror', None) or error}.") from error
    try:
        return parse_spec(text)
    except InputError as error:
        raise error.reworded(f"{path}: {error}") from error


def parse_spec(text: str) -> Spec:
    r"""Return the specification in a TOML text.

    Examples:
        >>> from unweave.study import parse_spec
        >>> spec = parse_spec('name = "one"\n[[grid]]\nrecipe = "ae"\ndata = "xysquares"\nseed = [0, 1]')
        >>> spec.name, spec.grid[0]["seed"]
        ('one', [0, 1])
    """
    if long := TOO_LONG.search(text):
        raise InputError(f"line {text.count(chr(10), 0, long.start()) + 1}: {long[0][:20]}… is too long to be read.")
    try:
        fields = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise InputError(f"this is not TOML: {error}.") from error
    except RecursionError as error:
        raise InputError("lists and tables are nested too deeply: a study needs a few levels.") from error
    for key in fields:
        if key not in Spec.model_fields:
            raise _at(text, key, unknown("key of a study", key, Spec.model_fields))
    grids = fields.get("grid")
    if not grids:
        raise InputError("a study needs at least one [[grid]].")
    if not isinstance(grids, list) or not all(isinstance(grid, dict) for grid in grids):
        raise _at(text, "grid", InputError("each grid is a table under [[grid]], with two brackets."))
    if "name" not in fields:
        raise InputError('a study needs a name: name = "…".')
    if not isinstance(fields["name"], str) or not NAME.fullmatch(fields["name"]):
        raise _at(text, "name", InputError("name must be a word of letters, digits, dots and dashes."))
    for key in ("metrics", "disentanglement"):
        fields[key] = _checked_names(key, fields.get(key, []), text)
    try:
        spec = Spec(**fields)
    except InputError as error:
        table, _, key = error.setting.rpartition(".")
        if table == SNAPSHOT:
            raise with_line(text, *place_in_snapshot(text, key), error) from None
        if table in ("score", "select") and line_of(text, key, table):
            raise with_line(text, key, table, error) from None
        raise with_line(text, error.setting.partition(".")[0], 0, error) from None
    _check_axes(spec, text)
    _check_count(spec, text)
    return spec


def _checked_names(key: str, names: Any, text: str) -> tuple[str, ...]:
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise _at(text, key, InputError(f"{key} must be a list of names, got {names!r}."))
    if repeated := _repeated(names):
        raise _at(text, key, InputError(f"{key} lists {repeated} twice: list it once."))
    return tuple(names)


def _repeated(values: Sequence[Any]) -> str | None:
    """Return the first value that is listed twice, None if all are different."""
    seen: set[Hashable] = set()
    for value in values:
        key = (
            (isinstance(value, bool), value) if isinstance(value, Hashable) else repr(value)
        )  # 4 and 4.0 are one value
        if key in seen:
            return repr(value)
        seen.add(key)
    return None


def line_of(text: str, key: str, section: int | str = 0) -> int | None:
    """Return the first line of a key: in the text, in the nth [[grid]], or in the table with a name."""
    current, table = 0, ""
    for number, line in enumerate(text.splitlines(), 1):
        current += line.strip().startswith("[[grid]]")
        if header := re.match(r"\s*\[+\s*([\w.]+)\s*\]", line):
            table = header[1]
        here = table if isinstance(section, str) else current if table.partition(".")[0] == "grid" else None
        if re.match(rf"""\s*(\[+\s*)?["']?{re.escape(key)}["']?\s*(=|\])""", line) and section in (0, here):
            return number
    return None


def place_in_snapshot(text: str, key: str) -> tuple[str, str]:
    """Return where a key of the rule for snapshots is: a key and its section, whether or not the rule has a table."""
    if line_of(text, SNAPSHOT) is None:
        return "snapshot", "score"
    return (key if line_of(text, key, SNAPSHOT) else SNAPSHOT), SNAPSHOT


def with_line(text: str, key: str, section: int | str, error: InputError) -> InputError:
    """Return an error with the line of the key that it is about: in the grid, in one of its zips, or elsewhere.

    Args:
        text: The TOML of the specification.
        key: The key, "" if the error is about none.
        section: The number of its grid, the name of its table, or 0 for the whole text.
        error: The error.

    Returns:
        The error with the line.
    """
    if not key:
        return error
    zipped = line_of(text, "zip", section)
    if zipped and key not in text.splitlines()[zipped - 1]:
        zipped = None
    zipped = zipped or (line_of(text, "grid.zip", section) if key == "zip" else None)
    line = line_of(text, key, section) or zipped or line_of(text, key) or line_of(text, "grid", section)
    return error.reworded(f"line {line}: {error}") if line else error


def _check_axes(spec: Spec, text: str) -> None:
    _check_values(spec.fixed, "[fixed]", text, "fixed")
    for number, grid in enumerate(spec.grid, 1):
        _check_values(grid, f"grid {number}", text, number)

        def wrong(key: str, message: str, number: int = number) -> InputError:
            return with_line(text, key, number, InputError(f"grid {number}{message}"))

        merged = {**spec.fixed, **grid}
        try:
            varied = {key for zipped in _zips(merged, f"grid {number}") for key in zipped}
        except InputError as error:
            raise with_line(text, "zip", number, error) from None
        for axis in AXES:
            if axis not in merged and axis not in varied:
                raise wrong("grid", f" has no {axis}.")
        for key in varied & merged.keys():
            raise wrong(key, f": {key} is given twice, once in a zip.")
        if "seed" in merged and "seeds" in merged:
            raise wrong("seeds", ": give seed or seeds, not both.")
        seeds = merged.get("seeds", 1)
        if isinstance(seeds, bool) or not isinstance(seeds, int) or not 1 <= seeds <= MOST:
            raise wrong("seeds", f": seeds must be a number of seeds from 1 to {MOST:,}, got {seeds!r}.")
        strength = merged.get(STRENGTH)
        if strength is not None and (not isinstance(strength, str) or strength not in {*merged, *varied}):
            raise wrong(STRENGTH, f": strength must be the name of a setting of the grid, got {strength!r}.")
        if not isinstance(tag := merged.get(TAG, ""), str) or TAG in varied:
            raise wrong(TAG, f': tag must be one text, as in tag = "figure 6", got {tag!r}.')
        for key, value in merged.items():
            if isinstance(value, list) and not value:
                raise wrong(key, f": {key} has no values.")
            if key != "zip" and isinstance(value, list) and (repeated := _repeated(value)):
                raise wrong(key, f": {key} lists {repeated} twice: list it once.")


def _check_values(settings: Mapping[str, Any], title: str, text: str, section: int | str) -> None:
    """Refuse numbers in quotes, and dotted names without quotes, which TOML reads as a table."""
    zips = settings.get("zip", [])
    zipped = [
        pair for each in (zips if isinstance(zips, list) else [zips]) if isinstance(each, dict) for pair in each.items()
    ]
    for key, value in (*settings.items(), *zipped):
        if isinstance(value, dict) and key not in ("zip", "terms") and not {"name", "kind"} & value.keys():
            dotted = f"{key}.{next(iter(value), '')}"
            wrong = InputError(
                f'{title}: write "{dotted}" in quotes, because {dotted} without them is a table in TOML.'
            )
            raise with_line(text, dotted, section, wrong)
        if key in (*AXES, STRENGTH, TAG) or key.startswith("data."):
            continue
        for single in value if isinstance(value, list) else [value]:
            if isinstance(single, str) and NUMBER.fullmatch(single):
                wrong = InputError(f"{title}: {key} must not be a text, got {single!r}: write it without quotes.")
                raise with_line(text, key, section, wrong)


def _check_count(spec: Spec, text: str) -> None:
    """Refuse a study with too many runs, by their number, without listing them."""
    runs = 0
    for number, grid in enumerate(spec.grid, start=1):
        merged = {**spec.fixed, **grid}
        lengths = [len(next(iter(zipped.values()))) for zipped in _zips(merged, f"grid {number}")]
        lengths += [len(value) for key, value in merged.items() if key != "zip" and isinstance(value, list)]
        runs += math.prod(lengths) * merged.get("seeds", 1)
        if runs > MOST_RUNS:
            count = f"{runs:,}" if runs < 10**15 else f"about 10^{math.floor(math.log10(runs))}"
            wrong = InputError(f"grid {number}: the study has {count} runs, but at most {MOST_RUNS:,} are possible.")
            raise with_line(text, "grid", number, wrong)


def _product(grid: Mapping[str, Any], title: str) -> Iterator[tuple[Hashable, dict[str, Any]]]:
    axes: list[list[dict[str, Any]]] = []
    for zipped in _zips(grid, title):
        axes.append([dict(zip(zipped, values, strict=True)) for values in zip(*zipped.values(), strict=True)])
    for key, value in grid.items():
        if key == "zip":
            continue
        if key == "seeds":
            key, value = "seed", list(range(value))
        axes.append([{key: single} for single in (value if isinstance(value, list) else [value])])
    others = [place for place, axis in enumerate(axes) if axis[0].keys() != {"seed"}]
    for combination in itertools.product(*axes):
        point = {key: value for part in combination for key, value in part.items()}
        if "," in str(point.get("data")):
            point["data"], options = parse_data(str(point["data"]))
            for key, value in options.items():
                if f"data.{key}" in point:
                    raise InputError(f"{title}: data.{key} is given twice, also behind the data set: give it once.")
                point[f"data.{key}"] = value
        if STRENGTH in point:
            point[STRENGTH] = point[point[STRENGTH]]
        yield tuple(id(combination[place]) for place in others), point


def _zips(grid: Mapping[str, Any], title: str) -> list[dict[str, Sequence[Any]]]:
    """Return the groups of values that go together, each with lists of one length."""
    zips = grid.get("zip", [])
    zips = [zips] if isinstance(zips, dict) else zips
    if not isinstance(zips, list) or not all(isinstance(zipped, dict) for zipped in zips):
        raise InputError(f"{title}: zip must map settings to lists of values that go together, got {zips!r}.")
    for zipped in zips:
        lengths = {len(values) if isinstance(values, list) else None for values in zipped.values()}
        if len(lengths) != 1 or None in lengths or 0 in lengths:
            raise InputError(f"{title}: zip needs lists of one length, got {zipped!r}.")
    return list(zips)


def _at(text: str, key: str, error: InputError) -> InputError:
    return with_line(text, key, 0, error) if key else error
