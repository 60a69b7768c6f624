"""The language of settings: from a recipe's name and settings such as ``kl.weight`` to a checked recipe."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from unweave.data.groups import GROUPS
from unweave.errors import InputError, unknown
from unweave.latents import LATENTS
from unweave.nets import NetSettings, net_settings_of
from unweave.recipes.published import RECIPES, set_by
from unweave.recipes.recipe import Optimiser, Recipe, Weighted
from unweave.settings import key_in, keyword_settings, name_in, named
from unweave.terms import TERMS, Augmentation

FIELDS = (
    "likelihood",
    "standardised",
    "start",
    "changed",
    "batch",
    "steps",
)  # fields of a recipe, set by their own name
SCHEDULE = ("schedule", "start", "after", "over", "rise")
SMOOTH = ("gelu", "silu", "tanh")  # activations with a second derivative
PAIRED = {"gvae": "ada_gvae", "mlvae": "ada_ml_vae", "exchange": None, "average": None}  # named recipes of groupings

Path = tuple[Any, ...]  # of a setting in the plain form of a recipe
Source = str | Recipe | Callable[..., Recipe]


def compose(source: Source, settings: Mapping[str, Any], *, factors: int | None = None) -> Recipe:
    """Return a recipe with settings: its parameters, its fields, and those of its parts, as in ``kl.weight``.

    ``source`` is the name of a recipe, ``package.module:name`` for your own, a function that returns a Recipe, or a
    Recipe. ``latent`` and ``net`` replace a part by name; ``terms`` maps names of terms to weights, where 0 removes a
    term; ``blur`` adds the blurred reconstruction of a radius with the weight of Michlo et al. 2023, eq. 11;
    ``reduction`` sets that of all terms that have one. ``factors`` is the number of factors of the data, for recipes
    with two latents per factor. Parts that cannot be combined, unknown settings and settings without effect are
    rejected with an InputError.

    Examples:
        >>> from unweave.recipes import compose
        >>> recipe = compose("ae", {"latent": "fsq", "terms": {"jacobian_l1": 0.1}})
        >>> type(recipe.latent).__name__, [part.name for part in recipe.terms]
        ('FSQ', ['reconstruction', 'jacobian_l1'])
    """
    parameters = parameters_of(source)
    base = _base(source, {key: settings[key] for key in parameters if key in settings}, parameters, factors)
    made = base.model_dump(mode="json")
    rest = {key: value for key, value in settings.items() if key not in parameters}
    free = _activation_is_free(source, rest)
    _replace_parts(made, rest)
    known = known_settings(made)
    _check_twice(base.recipe if isinstance(source, str) else "", settings, known)
    for key, value in rest.items():
        if key not in known:
            raise unknown(f"setting of {base.recipe}", key, [*parameters, *known, *PARTS], setting=key)
        _put(made, known[key], value)
    if free:
        _choose_smooth_activation(made)
    made["terms"] = [entry for entry in made["terms"] if entry["weight"] != 0]
    composed = _made(made, known, rest)
    _check_effects(composed, rest)
    composed.check()
    return composed.model_copy(update={"recipe": _label(base, composed)})


def _made(made: Mapping[str, Any], known: Mapping[str, Path], given: Iterable[str]) -> Recipe:
    """Return the recipe of a plain form; an error names the setting as it was given, not its path in the form."""
    try:
        return Recipe(**made)
    except InputError as error:
        keys = {".".join(map(str, known[key])): key for key in (*known, *given) if key in known}
        raise error.reworded(str(error), setting=keys.get(error.setting, error.setting)) from None


def parameters_of(source: Source) -> dict[str, Any]:
    """Return the parameters of a recipe and their defaults."""
    function = _function(source)
    if isinstance(function, Recipe):
        return {}
    fields = keyword_settings(function, _title(source)).model_fields
    return {name: field.default for name, field in fields.items()}


def known_settings(made: Mapping[str, Any]) -> dict[str, Path]:
    """Return every setting of a recipe in plain form that can be set by name, with its path."""
    known: dict[str, Path] = {field: (field,) for field in FIELDS}
    known["lr"] = ("optimiser", "lr")
    known |= {f"lr.{name}": _schedule_path(("optimiser",), name) for name in SCHEDULE}
    for part, fields in (
        ("latent", named("latent", made["latent"]["name"], LATENTS).model_fields),
        ("net", net_settings_of(made["net"]["name"])),
        ("optimiser", [name for name in Optimiser.model_fields if name != "schedule"]),
        ("grouping", ["divergence"] if made["grouping"] and made["grouping"]["kind"] in ("gvae", "mlvae") else []),
        ("groups", named("groups", made["groups"]["name"], GROUPS).model_fields if made.get("groups") else []),
        ("augment", Augmentation.model_fields if made.get("augment") is not None else []),
    ):
        known |= {f"{part}.{field}": (part, field) for field in fields}
    for place, entry in enumerate(made["terms"]):
        name, fields = entry["term"]["name"], named("term", entry["term"]["name"], TERMS).model_fields
        known[f"{name}.weight"] = ("terms", place, "weight")
        known |= {f"{name}.{key}": _schedule_path(("terms", place), key) for key in SCHEDULE}
        known |= {
            f"{name}.{field}": ("terms", place, "term", field) for field in fields
        }  # its own `over` takes precedence
    return known


PARTS = (
    "latent",
    "net",
    "terms",
    "grouping",
    "groups",
    "augment",
    "blur",
    "reduction",
)  # settings that replace or add whole parts


def _schedule_path(owner: Path, name: str) -> Path:
    return (*owner, "schedule", "kind" if name == "schedule" else name)


def _function(source: Source) -> Recipe | Callable[..., Recipe]:
    if isinstance(source, str):
        source = named("recipe", source, RECIPES)
    if not (isinstance(source, Recipe) or callable(source)):
        raise InputError(f"a recipe must be a name, a function that returns a Recipe, or a Recipe, got {source!r}.")
    return source


def _title(source: Source) -> str:
    return source if isinstance(source, str) else str(getattr(source, "__name__", "the recipe"))


def _base(source: Source, given: dict[str, Any], parameters: Mapping[str, Any], factors: int | None) -> Recipe:
    """Call the recipe's function with its parameters; by default with two latents per factor if it asks for them."""
    function = _function(source)
    if isinstance(function, Recipe):
        return function
    if given.get("latents") is None and factors and parameters.get("latents", 0) is None:
        given["latents"] = 2 * factors
    title = _title(source)
    checked = keyword_settings(function, title)(**given)
    recipe = function(**{name: getattr(checked, name) for name in parameters})
    if not isinstance(recipe, Recipe):
        raise InputError(f"the recipe {title} must return a Recipe, got {type(recipe).__name__}.")
    return recipe


def _replace_parts(made: dict[str, Any], rest: dict[str, Any]) -> None:
    """Apply the settings that replace or add whole parts, and remove them from ``rest``."""
    if (latent := rest.pop("latent", None)) is not None:
        given = {"name": latent, "size": made["latent"]["size"]} if isinstance(latent, str) else latent
        made["latent"] = Recipe(**{**made, "latent": given}).model_dump(mode="json")["latent"]
    if (net := rest.pop("net", None)) is not None:
        made["net"] = NetSettings.of(net).model_dump(mode="json")
    terms = rest.pop("terms", None) or {}
    if not isinstance(terms, Mapping):
        raise InputError(
            f"terms must map names to weights, as in {{'jacobian_l1': 0.1}}, got {terms!r}.", setting="terms"
        )
    for name, weight in sorted(terms.items()):  # sorted, so that their order does not change the recipe
        _weigh(made, str(name), weight)
    if (kind := rest.pop("grouping", None)) is not None:
        _group(made, str(kind))
    if (groups := rest.pop("groups", None)) is not None:
        made["groups"] = Recipe(**{**made, "groups": groups}).model_dump(mode="json")["groups"]
    if (augment := rest.pop("augment", None)) is not None or any(key.startswith("augment.") for key in rest):
        if not isinstance(augment, Mapping | None):
            raise InputError(
                f"augment must map settings to values, as in {{'blur': 2}}, got {augment!r}.", setting="augment"
            )
        made["augment"] = Augmentation(**(augment or made.get("augment") or {})).model_dump(mode="json")
    if (radius := rest.pop("blur", None)) is not None:
        _blur(made, radius)
    if (reduction := rest.pop("reduction", None)) is not None:
        for entry in made["terms"]:
            if "reduction" in entry["term"]:
                entry["term"]["reduction"] = reduction


def _weigh(made: dict[str, Any], name: str, weight: Any) -> None:
    """Set the weight of a term; a new term is added, and 0 removes one."""
    if isinstance(weight, bool) or not isinstance(weight, int | float):
        raise InputError(f"the weight of the term {name} must be a number, got {weight!r}.", setting="terms")
    name = key_in(TERMS, name)
    entry = next((entry for entry in made["terms"] if entry["term"]["name"] == name), None)
    if entry is not None:
        entry["weight"] = weight
        return
    try:
        added = Weighted(term=name, weight=weight)  # type: ignore[arg-type]
    except InputError as error:
        raise error.reworded(str(error), setting="terms") from None
    made["terms"].append(added.model_dump(mode="json"))


def _group(made: dict[str, Any], kind: str) -> None:
    """Add adaptive grouping of pairs, unless that makes another named recipe."""
    if kind not in PAIRED:
        raise unknown("grouping", kind, PAIRED)
    if PAIRED[kind] and (made["grouping"] or made["recipe"] in ("vae", "beta_vae")):
        raise InputError(f"{made['recipe']} with grouping={kind} is the recipe {PAIRED[kind]}: train that one.")
    made["grouping"] = {"kind": kind}


def _blur(made: dict[str, Any], radius: Any) -> None:
    plain = next((entry for entry in made["terms"] if entry["term"]["name"] == "reconstruction"), None)
    if plain is None or isinstance(radius, bool) or not isinstance(radius, int) or radius < 1:
        raise InputError(
            f"blur must be a radius in pixels, and the recipe must have the term reconstruction; got {radius!r}."
        )
    _weigh(made, "blurred_reconstruction", plain["weight"] * (2 * radius + 1) ** 2)
    made["terms"][-1]["term"] |= {"radius": radius, "reduction": plain["term"]["reduction"]}


def _check_twice(recipe: str, settings: Mapping[str, Any], known: Mapping[str, Path]) -> None:
    """Reject two settings that set the same thing, as ``lr`` and ``optimiser.lr`` or ``beta`` and ``kl.weight`` do.

    What the parameters of a recipe of the user's own set is not known: settings of its parts take precedence.
    """
    by_parameters = {set_by(recipe, key): key for key in settings if recipe in RECIPES}
    if "blur" in settings:
        by_parameters |= dict.fromkeys(("blurred_reconstruction.weight", "blurred_reconstruction.radius"), "blur")
    owners = {known[key]: parameter for key, parameter in by_parameters.items() if key in known}
    weights = [f"{key_in(TERMS, name)}.weight" for name in settings.get("terms") or ()]
    for key in (*weights, *(key for key in settings if key in known)):
        if known[key] in owners:
            raise InputError(f"{key} is given twice: {owners[known[key]]} sets it as well.", setting=key)
        owners[known[key]] = "--term" if key in weights else key


def _put(made: Any, path: Path, value: Any) -> None:
    *parents, last = path
    for step in parents:
        made = made[step]
    made[last] = value


def _activation_is_free(source: Source, rest: Mapping[str, Any]) -> bool:
    """Return whether the user left the net's activation to the recipe."""
    net = rest.get("net")
    if "net.activation" in rest or (isinstance(net, Mapping) and "activation" in net):
        return False
    return net is not None or not isinstance(source, Recipe)


def _choose_smooth_activation(made: dict[str, Any]) -> None:
    """Give the net a smooth activation if a term needs second derivatives."""
    needed = any(named("term", entry["term"]["name"], TERMS).smooth for entry in made["terms"] if entry["weight"])
    if needed and made["net"].get("activation", "gelu") not in SMOOTH:
        made["net"]["activation"] = "gelu"


def _check_effects(recipe: Recipe, given: Iterable[str]) -> None:
    """Reject settings of schedules that have no effect, and settings of terms without weight."""
    schedules = {weighted.name: weighted for weighted in recipe.terms}
    for key in given:
        part, _, name = key.rpartition(".")
        if key == "optimiser.clipped" and recipe.optimiser.clip is None:
            raise InputError("optimiser.clipped has no effect without clipping: set optimiser.clip.")
        if key == "dip.kind" and recipe.recipe.startswith("dip_vae"):
            raise InputError("dip.kind turns one named recipe into another: train dip_vae_i or dip_vae_ii.")
        if part in TERMS and part not in schedules and name != "weight":
            raise InputError(f"{key} has no effect: the weight of the term {part} is 0.")
        own = part in schedules and name in type(schedules[part].term).model_fields
        if name not in SCHEDULE[1:] or own or not (part == "lr" or part in schedules):
            continue
        schedule = recipe.optimiser.schedule if part == "lr" else schedules[part].schedule
        if name not in schedule.used:
            kinds = {"over": "linear, cosine or cyclic", "rise": "cyclic"}.get(
                name, "linear, cosine, delayed or cyclic"
            )
            raise InputError(f"{key} has no effect on a {schedule.kind} schedule: set {part}.schedule to {kinds}.")


def _label(base: Recipe, composed: Recipe) -> str:
    """Return the recipe's name, with the latents and terms that were added or removed."""
    before, after = ([weighted.name for weighted in recipe.terms] for recipe in (base, composed))
    kinds = [name_in(LATENTS, type(recipe.latent)) for recipe in (base, composed)]
    added = [f"+{kinds[1]}"] if kinds[0] != kinds[1] else []
    added += [f"+{name}" for name in after if name not in before]
    if composed.grouping and not base.grouping:
        added.append("+pairs")
    removed = [f"-{w.name}" for w in base.terms if w.name not in after and w.weight]
    return base.recipe + "".join(added + removed)
