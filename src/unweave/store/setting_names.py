"""The settings of runs, and those in which they differ, by the names that ``--set`` takes.

Everything that shows a setting uses these names: ``lr``, ``net``, ``net.width``, ``kl.weight``, ``data.size``. The
stored configuration nests them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from unweave.names import label_of

NOT_SETTINGS = (
    "recipe",
    "seed",
    "steps",
    "linear",
    "data",
    "sources",
    "terms",
    "optimiser",
)  # shown or named otherwise
NAMED_BY = {
    "net": "name",
    "latent": "name",
    "grouping": "kind",
}  # parts that are chosen by this field, as in net=conv64
UNUSED = {"constant": ("start", "after", "over"), "delayed": ("over",)}  # settings that a schedule does not use
LINEAR_USES = ("recipe", "linear", "seed", "samples", "latent.size")  # besides the data
DIGITS = 8  # of a hash


def settings_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a configuration by name, as in ``kl.weight``; raise a ValueError if it is damaged."""
    settings: dict[str, Any] = {}
    for key, value in fields.items():
        if key in NOT_SETTINGS:
            continue
        if key in NAMED_BY and isinstance(value, Mapping):
            settings |= {key if name == NAMED_BY[key] else f"{key}.{name}": entry for name, entry in value.items()}
        else:
            settings[key] = value
    settings |= dict(_optimiser(_mapping(fields, "optimiser")))
    terms = fields.get("terms")
    if not isinstance(terms, list):
        raise ValueError("its field terms is not a list")
    for entry in terms:
        settings |= _term(entry)
    return settings | {f"data.{key}": value for key, value in _mapping(fields["data"], "options").items()}


def used_settings_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a configuration that have an effect, by name; raise a ValueError if it is damaged."""
    return {key: value for key, value in settings_of(fields).items() if is_used(fields, key)}


def configuration_of(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Return the used settings of a configuration, and what else it says: recipe, seed, steps, and the data by name."""
    data = {f"data.{key}": value for key, value in fields["data"].items() if key not in ("options", "source")}
    known = {key: fields[key] for key in ("recipe", "seed", "steps", "linear") if key in fields}
    return {**known, **data, **used_settings_of(fields)}


def is_used(fields: Mapping[str, Any], setting: str) -> bool:
    """Return whether a setting has an effect on what is learned.

    PCA and ICA are fitted in closed form to a sample, so that they use neither an optimiser nor a net; other recipes
    do not use the size of that sample. How many factors change within a pair is used by recipes with pairs only.
    """
    if fields.get("linear"):
        return setting in LINEAR_USES or setting.startswith(("data.", "sources"))
    return setting != "samples" and (setting != "changed" or bool(fields.get("grouping")))


def differing(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return for each configuration the settings that are not the same in all runs of the same recipe.

    A setting of a part is compared with the runs that have this part. Runs without a term that others have show its
    weight as 0. Differences in the user's own code and in the data behind the same name are shown too.
    """
    flat = [used_settings_of(run) for run in runs]
    shown: list[dict[str, Any]] = []
    for run, own in zip(runs, flat, strict=True):
        peers = [(other, theirs) for other, theirs in zip(runs, flat, strict=True) if other["recipe"] == run["recipe"]]
        weights = dict.fromkeys((key for _, theirs in peers for key in theirs if key.endswith(".weight")), 0)
        differences = {
            key: value
            for key, value in {**own, **{key: own.get(key, 0) for key in weights}}.items()
            if any(
                theirs.get(key, 0 if key in weights else _absent(key, value, own, theirs)) != value
                for _, theirs in peers
            )
        }
        shown.append(differences | _unnamed(run, [other for other, _ in peers]))
    return shown


def _absent(key: str, value: Any, own: Mapping[str, Any], theirs: Mapping[str, Any]) -> Any:
    """Return what a run without a setting is compared by: None if it has the part, and so the setting's default.

    A setting that came after the run, as ``net.padding``, is written only if it is not at its default.
    """
    part, _, name = key.rpartition(".")
    if part == "data":
        has_part = {other for other in theirs if other.startswith("data.")} <= own.keys()
    elif part in NAMED_BY:
        has_part = theirs.get(part) == own.get(part)
    else:
        has_part = part in ("", "optimiser") or (f"{part}.weight" in theirs and name not in UNUSED["constant"])
    return None if has_part else value


def _unnamed(run: Mapping[str, Any], peers: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    """Return the differences that no setting names: in source files, and in the content of the data."""
    found: dict[str, str] = {}
    for part, code in _mapping(run, "sources").items():
        if any(_mapping(peer, "sources").get(part, code) != code for peer in peers):
            found[f"source of {part}"] = str(code)[:DIGITS]
    data = run["data"]
    alike = [peer["data"] for peer in peers if _shown_data(peer["data"]) == _shown_data(data)]
    if any(other.get("fingerprint") != data.get("fingerprint") for other in alike):
        path = _path(data)
        if any(_path(other) != path for other in alike):
            found["data path"] = path
        else:
            found["data fingerprint"] = str(data.get("fingerprint"))[-DIGITS:]
    return found


def _shown_data(data: Mapping[str, Any]) -> tuple[str, Any]:
    return label_of(data["name"], data.get("source")), data.get("options")


def _path(data: Mapping[str, Any]) -> str:
    return str((data.get("source") or {}).get("path", ""))


def _optimiser(optimiser: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    for key, value in optimiser.items():
        if key == "schedule":
            yield from ((f"lr.{name}", entry) for name, entry in _schedule(value).items())
        else:
            yield "lr" if key == "lr" else f"optimiser.{key}", value


def _term(entry: Any) -> dict[str, Any]:
    """Return the settings of a weighted term; its own settings take precedence over those of its schedule."""
    try:
        inner = {**_schedule(entry["schedule"]), **entry["term"], "weight": entry["weight"]}
        name = inner.pop("name")
    except (KeyError, TypeError, AttributeError) as error:
        raise ValueError("its field terms has an entry that is not a weighted term") from error
    return {f"{name}.{key}": value for key, value in inner.items()}


def _schedule(schedule: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a schedule that have an effect; without pydantic, which would make lists slow."""
    unused = UNUSED.get(schedule["kind"], ())
    return {"schedule" if key == "kind" else key: value for key, value in schedule.items() if key not in unused}


def _mapping(fields: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    value = fields.get(key, {})
    if not isinstance(value, Mapping):
        raise ValueError(f"its field {key} is not a JSON object")
    return value
