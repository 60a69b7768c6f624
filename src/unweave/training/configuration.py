"""A run is its configuration: typed, checked, and hashed to the run's name."""

from __future__ import annotations

import contextlib
import hashlib
import json
import math
import os
import warnings
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from functools import lru_cache
from pathlib import Path
from typing import Any, ClassVar, Literal, NamedTuple

import torch
from pydantic import Field, PrivateAttr

from unweave.data import DataIdentity, FactorData, space_of
from unweave.data.groups import GROUPS
from unweave.errors import NOT_FOUND, UNKNOWN, InputError, Unavailable, extra, unknown
from unweave.factors import Changed
from unweave.key_values import SYNONYMS
from unweave.latents import LATENTS
from unweave.own_code import IN_A_FILE, check_own_code, defined_here, guarded, only_own_code, own_code_of, source_hash
from unweave.recipes import RECIPES, Recipe, compose, known_settings, parameters_of
from unweave.recipes.composition import PARTS, Source
from unweave.recipes.presets import fitting_beta, with_presets
from unweave.recipes.published import set_by
from unweave.settings import Settings, name_in
from unweave.store.files import refused, write_text, writer_of
from unweave.store.folder import CONFIGURATION, STATE, read_fields
from unweave.training.precision import AUTO, Precision, fastest_precision

MOST_SEEDS = 2**32
HAVE = ("has", "have")
MAIN = ("steps", "batch", "lr", "seed", "net")  # settings of every recipe that are named first


class Configuration(Recipe):
    """Everything that determines what a run learns.

    Examples:
        >>> import unweave
        >>> configuration = unweave.open("zoo:qlae-shapes3d-drawn").configuration
        >>> configuration.recipe, configuration.data.name, configuration.seed
        ('qlae', 'shapes3d_drawn', 900)
    """

    title: ClassVar[str] = "the configuration"
    data: DataIdentity
    seed: int = Field(default=0, ge=0, lt=MOST_SEEDS)
    precision: Precision = "32-true"
    devices: int = Field(default=1, ge=1)  # each batch is divided among them
    snapshots: int = Field(default=0, ge=0, le=10_000)  # weights kept at even intervals, for filtering by PSNR
    samples: int = Field(default=10_000, ge=2)  # images that a linear recipe is fitted to
    sources: dict[str, str] = Field(default_factory=dict)  # hashes of the files of the user's own parts
    _recipe_text: str | None = PrivateAttr(default=None)  # the recipe as JSON, if it is already known
    _around_seed: tuple[bytes, bytes] | None = PrivateAttr(default=None)  # what identifies the run, but for its seed

    def check(self) -> None:
        """Raise an InputError for settings that cannot be combined, with the reason."""
        super().check()
        self.check_run()

    def check_run(self) -> None:
        """Check the settings that do not belong to the recipe."""
        if self.batch % self.devices:
            raise InputError(f"a batch size of {self.batch} is not divisible by {self.devices} devices.")
        pixels = math.prod(self.data.shape)
        if self.linear and self.latent.size > min(self.samples, pixels):
            raise InputError(
                f"{self.recipe}: {self.samples} images of {pixels} pixels have fewer than "
                f"{self.latent.size} components."
            )
        if self.linear and (self.snapshots or self.devices > 1):
            raise InputError(f"{self.recipe} is fitted in closed form: it has no snapshots and uses one device.")
        if self.snapshots > self.steps:
            raise InputError(f"{self.snapshots} snapshots do not fit into {self.steps} steps.")

    def canonical(self) -> str:
        """Return what identifies the run as JSON: everything but labels and the location of the data."""
        own = {name: getattr(self, name) for name in OWN_FIELDS}
        recipe = learned_text(self) if self._recipe_text is None else self._recipe_text
        return f'{{"data":{_data_text(self.data)},"recipe":{recipe},"run":{_compact(own)}}}'

    def with_seed(self, seed: int) -> Configuration:
        """Return the same configuration with another seed, which must be valid; much faster than a new one."""
        return self.model_copy(update={"seed": seed})

    def name_with_seed(self, seed: int) -> str:
        """Return the name of the run with another seed, without making its configuration."""
        if self._around_seed is None:
            before, _, after = self.canonical().rpartition(f'"seed":{self.seed}')
            self._around_seed = (before.encode(), after.encode())
        first, last = self._around_seed
        return hashlib.sha256(b'%b"seed":%d%b' % (first, seed, last)).hexdigest()[:16]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Configuration) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash(self.name)

    @property
    def name(self) -> str:
        """The name of the run: 16 digits of the hash of what identifies it."""
        return hashlib.sha256(self.canonical().encode()).hexdigest()[:16]


def learned_text(recipe: Recipe) -> str:
    """Return the parts of a recipe that determine what is learned, as JSON."""
    return _compact(recipe.model_dump(mode="json", include=LEARNED_FIELDS))


@lru_cache(maxsize=1024)
def _data_text(identity: DataIdentity) -> str:
    return _compact(identity.canonical())


def _compact(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


LEARNED_FIELDS = set(Recipe.model_fields) - {"recipe"}
OWN_FIELDS = tuple(name for name in Configuration.model_fields if name not in (*Recipe.model_fields, "data"))


class Execution(Settings):
    """The execution of a run: device, threads, checkpoints and log. What is learned is the same, except for rounding.

    ``threads`` of None leaves the number to torch.

    Examples:
        >>> from unweave.training import Execution
        >>> Execution(threads=1, checkpoint_seconds=300).device
        'auto'
    """

    title: ClassVar[str] = "the execution"
    device: Literal["auto", "cpu", "cuda", "mps"] = "auto"
    threads: int | None = Field(default=None, ge=1)
    checkpoint_steps: int | None = Field(default=None, ge=1)
    checkpoint_seconds: float = Field(default=60.0, ge=0)
    log_steps: int = Field(default=100, ge=1)
    tensorboard: bool = False


def configure(
    recipe: Source, data: FactorData | DataIdentity, settings: Mapping[str, Any]
) -> tuple[Configuration, Execution]:
    """Return the configuration and execution of a run, or raise an InputError that says what does not fit.

    A configuration in place of the recipe is configured again, with the settings as changes. With an identity in place
    of the data, nothing is opened, and only checks that need the images are skipped. ``precision="auto"`` becomes the
    faster one of this machine.

    Examples:
        >>> import unweave
        >>> from unweave.training import configure
        >>> configuration, execution = configure("beta_vae", unweave.load("xysquares"), {"beta": 4, "seed": 1})
        >>> configuration.seed, [part.weight for part in configuration.terms]
        (1, [1.0, 4.0])
    """
    if not isinstance(data, FactorData | DataIdentity):
        raise InputError(f"train: data must be a data set, as unweave.load returns, got {type(data).__name__}.")
    given = {key: value for key, value in settings.items() if value is not None or "." in key}
    execution = Execution(**{key: given.pop(key) for key in Execution.model_fields if key in given})
    own = {key: given.pop(key) for key in OWN_FIELDS if key in given and key != "sources"}
    if own.get("precision") == AUTO:
        if isinstance(data, DataIdentity):
            reason = "precision=auto depends on the machine, and a study does not: choose 32-true or bf16-mixed."
            raise InputError(reason, setting="precision")
        own["precision"] = fastest_precision(execution.device)
    given = with_presets(recipe, given, data.shape)
    if isinstance(recipe, Configuration):
        own = {key: getattr(recipe, key) for key in OWN_FIELDS if key != "sources"} | own
        recipe = Recipe(**{name: getattr(recipe, name) for name in Recipe.model_fields})
    try:
        made = _resolved(recipe, given, _factors(data))
    except InputError as error:
        others = [name for name in OWN_FIELDS if name != "sources"]
        others += [] if isinstance(data, DataIdentity) else list(Execution.model_fields)  # a plan is not executed
        raise _unknown_setting(recipe, given, error, data.options, others) from None
    identity = data if isinstance(data, DataIdentity) else data.identity
    parts = {name: getattr(made.recipe, name) for name in Recipe.model_fields}
    configuration = Configuration(**parts, data=identity, sources=made.sources, **own)
    configuration._recipe_text = made.text
    configuration.check_run()
    if configuration.members > 1:
        _check_batch_of_pairs(configuration, _factors(data))
        if isinstance(data, FactorData):
            _check_pairs(configuration, data)
    check_execution(execution)
    if here := defined_here(configuration.sources):
        warnings.warn(
            f"{', '.join(name.partition(':')[2] for name in here)} of a notebook or script: the run can be trained "
            f"and scored here, but no other process can continue or open it. {IN_A_FILE}",
            stacklevel=3,
        )
    return configuration, execution


def collapse_advice(configuration: Configuration) -> str:
    """Return what to change so that a posterior does not collapse: a weaker KL, with a value that fits the images."""
    weight = next((each.weight for each in configuration.terms if each.name == "kl"), None)
    if weight is None:
        return "Weaken the terms other than the reconstruction, or train for more steps."
    sums = all(getattr(each.term, "reduction", "sum") == "sum" for each in configuration.terms)
    fitting = fitting_beta(configuration.data.shape)
    better = fitting if sums and fitting < weight else float(f"{weight / 4:.2g}")
    setting = "beta" if set_by(configuration.base, "beta") == "kl.weight" else "kl.weight"
    channels, height, width = configuration.data.shape
    return (
        f"A KL weighted by {weight:g} is too strong for {channels} × {height} × {width} pixels: "
        f"try --set {setting}={better:g}, or let it grow, --set kl.schedule=linear."
    )


class ResolvedRecipe(NamedTuple):
    """A composed recipe, its JSON, and the hashes of the user's own parts."""

    recipe: Recipe
    text: str
    sources: dict[str, str]


def _resolved(recipe: Source, given: Mapping[str, Any], factors: int | None) -> ResolvedRecipe:
    """Compose a recipe; recipes by name without the user's own code are composed once for all seeds and data."""
    if isinstance(recipe, str):
        with contextlib.suppress(TypeError, ValueError):  # settings that are not JSON, such as a function
            text = json.dumps([recipe, given], sort_keys=True)
            if ":" not in text.replace('": ', ""):  # module:name, whose code may change
                return _resolved_by_name(text, factors)
    return _resolve(recipe, given, factors)


@lru_cache(maxsize=4096)
def _resolved_by_name(text: str, factors: int | None) -> ResolvedRecipe:
    recipe, given = json.loads(text)
    return _resolve(recipe, given, factors)


def _resolve(recipe: Source, given: Mapping[str, Any], factors: int | None) -> ResolvedRecipe:
    made = compose(recipe, given, factors=factors)
    return ResolvedRecipe(made, learned_text(made), _sources(made))


def check_execution(execution: Execution) -> None:
    """Raise an error if this machine cannot execute a run as requested."""
    if execution.threads is not None and execution.threads > (cores := os.cpu_count() or 1):
        raise InputError(
            f"threads must be at most the number of cores of this machine, {cores}, got {execution.threads}."
        )
    if execution.tensorboard:
        extra("tensorboard", "tensorboard")


def check_device(device: str) -> None:
    """Raise an InputError if this machine has no device of this kind."""
    present = {"cuda": torch.cuda.is_available(), "mps": torch.backends.mps.is_available()}
    if not present.get(device, True):
        raise InputError(f"this machine has no device {device!r}: choose 'cpu', or 'auto' for what it has.")


def write_configuration(folder: Path, configuration: Configuration) -> None:
    """Write the configuration of a run; a folder with a different configuration is refused."""
    path = folder / CONFIGURATION
    if path.exists():
        with only_code_of(configuration):
            name = read_configuration(folder).name
        if name != configuration.name:
            raise InputError(f"{folder} has a different configuration from the one that it is named after.")
        return
    write_text(path, json.dumps(configuration.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n")


def only_code_of(configuration: Configuration) -> AbstractContextManager[None]:
    """Import no code inside the block but what a configuration names: that of a folder which should be its own."""
    return only_own_code(own_code_of(configuration.model_dump(mode="json")))


def read_configuration(folder: Path, *, trust: bool = True) -> Configuration:
    """Return the configuration of the run in a folder, or in a file.

    This imports the code outside of Unweave that it names; without ``trust``, such a configuration is refused.

    Examples:
        >>> import unweave
        >>> from unweave.training import read_configuration
        >>> run = unweave.open("zoo:qlae-shapes3d-drawn")
        >>> read_configuration(run.folder) == run.configuration
        True
    """
    fields = read_fields(folder)
    if not trust:
        check_own_code(fields, f"the run {folder}")
    try:
        with guarded(trust):
            return Configuration(**fields)
    except InputError as error:
        if error.code == NOT_FOUND:
            raise Unavailable(f"the run {folder} uses code of your own that is not found here: {error}") from error
        raise _unreadable(folder, error) from error
    except (ValueError, TypeError, KeyError) as error:
        raise _unreadable(folder, error) from error


def _unreadable(folder: Path, error: Exception) -> Unavailable:
    if (writer := writer_of(folder / STATE)) is not None:
        return refused(folder / CONFIGURATION, writer, str(error).rstrip("."))
    return Unavailable(f"{folder / CONFIGURATION} is damaged, or was written by another version of Unweave: {error}")


def _factors(data: FactorData | DataIdentity) -> int | None:
    if isinstance(data, DataIdentity):
        return None if (space := space_of(data)) is None else len(space)
    return len(data.space) if data.has_factors else None


def _unknown_setting(
    recipe: Source, given: Mapping[str, Any], error: InputError, options: Collection[str], others: Collection[str]
) -> InputError:
    """Return the error for an unknown setting with the one that was meant, among those of recipe, run and data.

    Args:
        recipe: The recipe that the setting was given to.
        given: All settings that were given.
        error: The error, which is returned as it is if it is about something else.
        options: The options of the data set.
        others: More names of settings that could be meant.
    """
    key = error.setting
    if error.code != UNKNOWN or key not in given:
        return error
    title = recipe if isinstance(recipe, str) else "the recipe"
    parameters = parameters_of(recipe)
    base = compose(recipe, {name: value for name, value in given.items() if name in (*parameters, *PARTS)})
    known = [*parameters, *PARTS, *known_settings(base.model_dump(mode="json")), *others]
    meant = SYNONYMS.get(key, set_by(base.base, key))
    if key in options or meant.removeprefix("data.") in options:
        meant = f"data.{key}" if key in options else meant
    elif meant not in known:
        meant = next((name for name in (key.replace("-", "_"), key.lower()) if name in known), "")
    if meant:
        message = f"unknown setting of {title} {key!r}: did you mean {meant!r}?"
        return InputError(message, setting=key, meant=[meant], code=UNKNOWN)
    having = [name for name in RECIPES if key in parameters_of(name)]
    if having:
        having = [name for name in (f"{key}_{title}", f"{key}_vae") if name in having][:1] or having
        reason = f"{title} has no setting {key!r}: use {' or '.join(having)}, which {HAVE[len(having) > 1]} it."
        return InputError(reason, setting=key, known=known, code=UNKNOWN)
    guess = unknown(f"setting of {title}", key, known, setting=key)
    if guess.meant:
        return guess
    main = ", ".join([*parameters, *(name for name in MAIN if name not in parameters)])
    where = f"unweave recipes show {title}" if isinstance(recipe, str) else "docs/training.md"
    return guess.reworded(f"unknown setting of {title} {key!r}: {where} lists all; the main ones are {main}.")


def _sources(recipe: Recipe) -> dict[str, str]:
    """Return the hash of the source file of every part that is the user's own."""
    names = [recipe.net.name, name_in(LATENTS, type(recipe.latent)), *(weighted.name for weighted in recipe.terms)]
    groups = [] if recipe.groups is None else [name_in(GROUPS, type(recipe.groups))]
    inner = [value for weighted in recipe.terms for value in dict(weighted.term).values() if isinstance(value, str)]
    return {name: source_hash(name) for name in sorted({*names, *groups, *inner}) if ":" in name}


def _check_batch_of_pairs(configuration: Configuration, factors: int | None) -> None:
    """Check what can be known of pairs without opening the data."""
    if configuration.batch % configuration.members:
        groups = (
            "pairs: batch must be even" if configuration.members == 2 else "triplets: batch must be a multiple of 3"
        )
        raise InputError(f"{configuration.recipe} learns from {groups}, got {configuration.batch}.", setting="batch")
    changed = configuration.changed
    most = max(changed) if isinstance(changed, tuple) else changed
    if factors is not None and isinstance(most, int) and most > factors:
        reason = f"changed={changed} must be between 0 and {factors}, the number of factors that can change."
        raise InputError(reason, setting="changed")


def _check_pairs(configuration: Configuration, data: FactorData) -> None:
    if not (data.has_factors and data.can_intervene):
        raise InputError(
            f"{configuration.recipe} learns from groups of images and needs an image of every combination of factors, "
            f"which {data.name} does not have."
        )
    if configuration.groups is not None:
        configuration.groups.points(data.space, 1, torch.Generator().manual_seed(0))  # raises if impossible
        return
    pairs = data.space.pairs(
        1, changed_of(configuration, data), torch.Generator().manual_seed(0)
    )  # raises if impossible
    if not pairs.changed.any() and configuration.changed == 0:
        raise InputError("changed=0: there is nothing to learn from pairs that do not differ.")


def changed_of(configuration: Configuration, data: FactorData) -> Changed:
    """Return how many factors differ within a pair; by default 1 to all but one of those that vary.

    Locatello et al. 2020, sec. 5.
    """
    if configuration.changed is not None:
        return configuration.changed
    return 1, max(1, sum(size > 1 for size in data.space.sizes) - 1)
