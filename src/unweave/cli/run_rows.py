"""What is shown of a run, read from its files without torch. Damage is described instead of raised."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from unweave.data.interface.labels import label_of
from unweave.errors import InputError, Unavailable
from unweave.store.files import is_whole, read_json, reason_of
from unweave.store.folder import CONFIGURATION, SCORES, read_fields, read_label
from unweave.store.setting_names import differing
from unweave.store.state import read_state, status_of

DAMAGED = "damaged"


def row_of(folder: Path) -> dict[str, Any]:
    """Describe a run in one row; the row of a damaged run says what is damaged.

    ``fields`` is the configuration in plain JSON, as far as it could be read.
    """
    fields: dict[str, Any] = {}
    row: dict[str, Any] = {"run": folder.name, "label": read_label(folder), "problem": ""}
    try:
        fields = read_fields(folder)
        _check_fields(fields)
        state = read_state(folder)
        row |= {
            "recipe": fields["recipe"],
            "data": label_of(fields["data"]["name"], fields["data"].get("source")),
            "seed": fields["seed"],
            "step": state.step if state else 0,
            "steps": fields["steps"],
            "state": status_of(folder, state),
            "seconds": round(state.seconds, 1) if state else 0.0,
            "steps_per_second": state.step / state.seconds if state and state.seconds else None,
            "psnr": state.psnr if state else None,
            "threads": state.threads if state else None,
            "version": state.version if state else "",
            "error": state.error if state else "",
            "traceback": state.traceback if state else "",
        }
    except (Unavailable, InputError) as error:
        row |= _damaged(fields, str(error))
    except ValueError as error:
        row |= _damaged(fields, f"{folder / CONFIGURATION} is damaged ({error}).")
    except Exception:  # one damaged file must not hide the other runs, whatever is in it
        row |= _damaged(fields, f"{folder / CONFIGURATION} is damaged, or was written by another version of Unweave.")
    return {**row, "fields": fields}


def _check_fields(fields: Mapping[str, Any]) -> None:
    """Raise a ValueError if the fields that every list shows are missing or of a wrong type."""
    for key in ("recipe", "data", "seed", "steps"):
        if key not in fields:
            raise ValueError(f"its field {key} is missing")
    if not isinstance(fields["recipe"], str):
        raise ValueError("its field recipe is not text")
    for key in ("seed", "steps"):
        if not is_whole(fields[key]):
            raise ValueError(f"its field {key} is not a whole number")
    if not isinstance(fields["data"], Mapping) or not isinstance(fields["data"].get("name"), str):
        raise ValueError("its field data is not an object with a name")
    differing([fields])


def _damaged(fields: Mapping[str, Any], problem: str) -> dict[str, Any]:
    keys = ("step", "steps", "seed", "seconds", "steps_per_second", "psnr", "threads", "data")
    recipe = fields.get("recipe") if isinstance(fields.get("recipe"), str) else None
    known = {"recipe": recipe, "state": DAMAGED, "problem": problem, "version": "", "error": "", "traceback": ""}
    return dict.fromkeys(keys) | known


def scores_of(folder: Path) -> tuple[list[dict[str, Any]], str]:
    """Return one row per score that is stored with a run, and what is damaged about them, "" if nothing is."""
    path = folder / SCORES
    rows: list[dict[str, Any]] = []
    try:
        entries = read_json(path)
    except FileNotFoundError:
        return [], ""
    except (OSError, ValueError) as error:
        return [], f"{path} is damaged ({reason_of(error)})."
    from unweave.metrics import METRICS

    try:
        for entry in entries:
            metric, protocol, result = entry["metric"], entry["protocol"], entry["result"]
            scores = METRICS[metric].scores if metric in METRICS else ("score",)
            for score in scores:
                name = metric if len(scores) == 1 else f"{metric}.{score}"
                shown = {key: protocol.get(key) for key in ("samples", "test_samples", "seed", "step", "settings")}
                rows.append({"score": name, "value": float(result[score]), **shown})
    except (KeyError, ValueError, TypeError, AttributeError, OverflowError):
        return rows, f"{path} is damaged (an entry has no metric, protocol or score)."
    return rows, ""
