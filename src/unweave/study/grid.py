"""The plan of a study: its runs as configurations, each once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterator, Mapping
from functools import cached_property
from typing import Any

from unweave.data import DataIdentity, identity_of
from unweave.data.sets import SETS
from unweave.errors import InputError, Unavailable, unknown
from unweave.key_values import split_data
from unweave.metrics import METRICS
from unweave.metrics.scoring.request import check_settings, find_metrics
from unweave.nets.pair import SIZES, cells
from unweave.own_code import IN_A_FILE, defined_here
from unweave.recipes.composition import parameters_of
from unweave.study.spec import (
    AXES,
    SNAPSHOT,
    STRENGTH,
    TAG,
    Selection,
    SnapshotRule,
    Spec,
    line_of,
    place_in_snapshot,
    with_line,
)
from unweave.study.table import metric_of
from unweave.training import Configuration, Execution, configure
from unweave.training.configuration import MOST_SEEDS

NO_STRENGTH = ("latents", "levels")  # parameters of recipes that do not regularise


class Planned:
    """One run of a study: the settings that were given, and the configuration that they make.

    Args:
        settings: The settings that were given.
        configuration: The configuration that they make, or that of a run that differs in the seed only.
        seed: The seed of the run; None if it is that of ``configuration``.
        stage: The stage of the study, 1, or 2 for runs of chosen settings.

    Examples:
        >>> import unweave
        >>> planned = unweave.Study("tripod/lite", store="runs").planned[0]
        >>> planned.recipe, planned.data.name, planned.configuration.seed
        ('beta_tcvae', 'shapes3d_drawn', 0)
    """

    def __init__(
        self, settings: dict[str, Any], configuration: Configuration, *, seed: int | None = None, stage: int = 1
    ) -> None:
        self.settings, self.stage = settings, stage
        self._similar, self._seed = configuration, seed

    @cached_property
    def configuration(self) -> Configuration:
        """Everything that determines what the run learns."""
        return self._similar if self._seed is None else self._similar.with_seed(self._seed)

    @cached_property
    def name(self) -> str:
        """The name of the run."""
        return self._similar.name if self._seed is None else self._similar.name_with_seed(self._seed)

    @property
    def recipe(self) -> str:
        """The name that the recipe gives to itself."""
        return self._similar.recipe

    @property
    def data(self) -> DataIdentity:
        """The data of the run."""
        return self._similar.data


def plan(spec: Spec, text: str = "") -> list[Planned]:
    """Return the runs of a study, in the order of its grids.

    Two points of a grid can be the same run, as β-VAE and β-TCVAE with β = 1 are: both are listed, and the run is
    trained once. The same settings in two grids are refused, unless the grids have different tags. Nothing is opened or
    trained. Errors name the line of ``text``, the TOML that the specification was read from.

    Examples:
        >>> from unweave.study import Spec, plan
        >>> spec = Spec(name="seeds", grid=[{"recipe": "ae", "data": "xysquares", "seed": [0, 1, 2]}])
        >>> [planned.settings["seed"] for planned in plan(spec)]
        [0, 1, 2]
    """
    _check_metrics(spec, text)
    runs: list[Planned] = []
    seen: dict[tuple[str, object], int] = {}  # the grid of each point
    identities: dict[str, DataIdentity] = {}
    for number in range(1, len(spec.grid) + 1):
        first = len(runs)
        similar: dict[Hashable, tuple[str, Configuration]] = {}  # one configuration for all seeds of a point
        for key, settings in spec.grouped_points_of(number):
            seed = settings.get("seed")
            is_seed = type(seed) is int and 0 <= seed < MOST_SEEDS
            try:
                if key in similar and is_seed:
                    others, configuration = similar[key]
                    planned = Planned(settings, configuration, seed=seed)
                else:
                    configuration = configured(settings, identities)
                    others = repr(sorted((name, _one(value)) for name, value in settings.items() if name != "seed"))
                    planned, similar[key] = Planned(settings, configuration), (others, configuration)
            except (InputError, Unavailable) as error:
                known = error if isinstance(error, InputError) else InputError(str(error))
                wrong = known.reworded(f"grid {number}: {error}")
                raise with_line(text, _blamed(settings, error), number, wrong) from None
            point = (others, seed if is_seed else repr(seed))
            if point in seen:
                repeated = InputError(f"grid {number} repeats a run of grid {seen[point]}: {settings}.")
                raise with_line(text, "grid", number, repeated)
            seen[point] = number
            runs.append(planned)
        _name_strength(runs[first:])
    if spec.score.snapshot is not None:
        _check_snapshot(spec, spec.score.snapshot, runs, text)
    if spec.select is not None:
        _check_selection(spec, spec.select, {key for run in runs for key in run.settings}, text)
    return runs


def _name_strength(runs: list[Planned]) -> None:
    """Add the strength to the runs of a grid that names none, if a single weight or parameter of the recipe varies."""
    if STRENGTH in runs[0].settings:
        return
    varied = [key for key in varying(runs) if all(type(run.settings.get(key)) in (int, float) for run in runs)]
    recipe = runs[0].settings["recipe"]
    regularising = [
        key
        for key in varied
        if key.endswith(".weight") or (key != "seed" and key in parameters_of(recipe) and key not in NO_STRENGTH)
    ]
    if len(regularising) == 1:
        for run in runs:
            run.settings[STRENGTH] = run.settings[regularising[0]]


def _one(value: object) -> object:
    """Return whole numbers as floats: 4 and 4.0 are one value."""
    return float(value) if isinstance(value, int) and not isinstance(value, bool) else value


def _check_metrics(spec: Spec, text: str) -> None:
    """Refuse unknown metrics, and settings of metrics that are unknown, wrong, or of a metric that is not measured."""
    if spec.metrics:
        try:
            for found in find_metrics(spec.metrics):
                if found.needs == "other":
                    hint = " unweave study table --udr adds it to the table." if found.name == "udr" else ""
                    raise InputError(
                        f"{found.name} is not a score of a single run, so workers cannot measure it.{hint}"
                    )
        except InputError as error:
            raise with_line(text, "metrics", 0, error) from None
    try:
        for score in spec.disentanglement:
            _check_score(spec, score, "disentanglement")
    except InputError as error:
        raise with_line(text, "disentanglement", 0, error) from None
    try:
        check_settings(spec.score.settings, spec.metrics or "all")
        for name in spec.score.settings:
            if name not in spec.metrics:
                reason = f"settings of {name}, which is not among metrics: add it there, or remove them."
                raise InputError(reason, setting=name)
    except InputError as error:
        metric = error.setting.partition(".")[0] or "settings"
        keys = (metric, f"score.settings.{metric}", "settings", "score.settings")
        raise with_line(text, next((key for key in keys if line_of(text, key)), "score"), 0, error) from None


def _check_score(spec: Spec, named: str, where: str) -> None:
    """Refuse a score that a study does not measure."""
    metric = metric_of(named, spec.metrics)
    if metric not in spec.metrics:
        measured = ", ".join(spec.metrics) or "none"
        raise InputError(f"{where}: {named!r} needs the metric {metric}, but metrics are {measured}.")
    scores = METRICS[metric].scores if metric in METRICS else ()
    columns = [metric] if len(scores) == 1 else [f"{metric}.{score}" for score in scores]
    if columns and named not in columns:
        raise unknown(f"score in {where}", named, columns)


def _check_snapshot(spec: Spec, rule: SnapshotRule, runs: list[Planned], text: str) -> None:
    """Refuse a rule for snapshots whose scores are not measured, that lacks a data set, or for runs without any."""

    def wrong(key: str, error: InputError) -> InputError:
        return with_line(text, *place_in_snapshot(text, key), error)

    try:
        for score in rule.scores:
            _check_score(spec, score, f"{rule.title} by")
    except InputError as error:
        raise wrong("by", error) from None
    if rule.psnr and "psnr" not in spec.metrics:
        raise wrong("psnr", InputError(f"{rule.title} psnr needs the metric psnr, but it is not among metrics."))
    data = dict.fromkeys(str(run.settings["data"]) for run in runs)
    for name in rule.psnr:
        if name not in data and name not in SETS:  # of a data set that --set leaves out, the threshold may stay
            raise wrong("psnr", unknown(f"data set in {rule.title} psnr", name, data))
    if lacking := [name for name in data if rule.psnr and name not in rule.psnr]:
        raise wrong("psnr", InputError(f"{rule.title} psnr has no threshold for {', '.join(lacking)}."))
    for run in runs:
        if not run.settings.get("snapshots"):
            raise wrong(
                SNAPSHOT,
                InputError(f"{rule.title} needs runs with snapshots, as in snapshots = 20, got {run.settings}."),
            )


def _check_selection(spec: Spec, rule: Selection, known: set[str], text: str) -> None:
    """Refuse a rule whose score is not measured, that groups by a setting that no run has, or without fresh seeds."""
    try:
        _check_score(spec, rule.by, f"{rule.title} by")
    except InputError as error:
        raise with_line(text, "by", "select", error) from None
    for key in rule.per:
        if key not in known:
            raise with_line(text, "per", "select", unknown("setting in [select] per", key, known))
    for recipe, ablation in rule.ablations.items():
        points = [point for point in spec.points() if point["recipe"] == ablation.of]
        if not points:
            wrong = InputError(f"[select.ablations] {recipe}: no grid has the recipe {ablation.of!r}.")
            raise with_line(text, recipe, "select.ablations", wrong)
        try:
            configured(rule.ablated(points[:1])[0])
        except InputError as error:
            raise with_line(text, recipe, "select.ablations", error.reworded(f"[select.ablations] {error}")) from None
    first = {point.get("seed", 0) for point in spec.points()}
    seeds = list(rule.seeds)
    if not seeds or len(set(seeds)) < len(seeds) or not all(0 <= seed < MOST_SEEDS for seed in seeds):
        raise with_line(text, "seeds", "select", InputError(f"[select] seeds must be different seeds, got {seeds}."))
    if again := sorted(first.intersection(seeds)):
        wrong = InputError(f"[select] seeds must be fresh, but the first stage has {', '.join(map(str, again))}.")
        raise with_line(text, "seeds", "select", wrong)


def _blamed(settings: Mapping[str, Any], error: InputError | Unavailable) -> str:
    """Return the setting of a grid that an error is about: the one that it names, or one with the value it refused."""
    if not isinstance(error, InputError):
        return "data"
    if error.setting in settings:
        return error.setting
    refused = [key for key, value in settings.items() if error.value is not None and _one(value) == _one(error.value)]
    return refused[0] if refused else "grid"


def configured(settings: Mapping[str, Any], identities: dict[str, DataIdentity] | None = None) -> Configuration:
    """Return the configuration of one point of a grid; ``identities`` keeps those of data sets between calls."""
    known = {} if identities is None else identities
    options, others = split_data(settings)
    data = f"{settings['data']} {options}"
    if data not in known:
        try:
            known[data] = identity_of(str(settings["data"]), **options)
        except InputError as error:
            option = f"data.{error.setting}" if f"data.{error.setting}" in settings else "data"
            raise error.reworded(str(error), setting=option) from None
    given = {key: value for key, value in others.items() if key not in (*AXES, STRENGTH, TAG)}
    for key in given.keys() & Execution.model_fields.keys():
        raise InputError(
            f"{key!r} says how runs are carried out, not what they learn: give it to Study.run in Python instead.",
            setting=key,
        )
    if here := defined_here(str(value) for value in _parts(settings)):
        raise InputError(
            f"{here[0]!r} is defined in a notebook or script, where the workers of a study cannot find it. {IN_A_FILE}",
            value=here[0],
        )
    configuration = configure(settings["recipe"], known[data], given)[0]
    if configuration.net.name in SIZES and not configuration.linear:
        cells(configuration.net.name, configuration.data.shape)  # which refuses images of another size
    return configuration


def _parts(settings: Mapping[str, Any]) -> Iterator[object]:
    """Yield the values of settings that may name code, also inside tables such as ``terms``."""
    for value in settings.values():
        yield from (*value, *value.values()) if isinstance(value, Mapping) else (value,)


def varying(runs: list[Planned]) -> list[str]:
    """Return the settings in which runs differ, in the order in which they first occur; a strength is one of them."""
    keys = dict.fromkeys(key for run in runs for key in run.settings if key not in (STRENGTH, TAG))
    return [key for key in keys if any(run.settings.get(key) != runs[0].settings.get(key) for run in runs)]


def by_data(runs: list[Planned]) -> Iterator[tuple[str, int]]:
    """Yield each data set with its number of runs."""
    yield from Counter(run.data.label for run in runs).items()
