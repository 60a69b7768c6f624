"""Settings that fit the images or the patience of the user: a β by the number of pixels, and ``fast`` presets."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from unweave.errors import InputError
from unweave.recipes.composition import Source, parameters_of
from unweave.recipes.published import set_by
from unweave.terms.schedules import Schedule

AUTO = "auto"
PIXELS = 64 * 64  # of the images that the published values of β were chosen on, with one channel
DECAY = (
    "decay"  # in a preset: weight decay × the sum of all learning rates, which fixes how much weights shrink in a run
)
POINTS = 1_000  # of a schedule, whose average stands for the learning rate


@dataclass(frozen=True)
class PerPixel:
    """A weight in a preset, given for 64 × 64 pixels of one channel: see :func:`fitting_beta`."""

    value: float


# Learning rate 1e-3 until half of the run, then down to a tenth of it along a cosine.
_RATE: dict[str, Any] = {"lr": 1e-4, "lr.schedule": "cosine", "lr.start": 1e-3, "lr.after": 0.5, "lr.over": 0.5}
_WARM: dict[str, Any] = {"kl.schedule": "linear", "kl.over": 0.1}
_VAE: dict[str, Any] = {"steps": 12_000, "batch": 64, "net": "conv64", "net.activation": "gelu", **_RATE, **_WARM}
# Shorter runs: twice the learning rate, and nets of half width.
_SHORT: dict[str, Any] = {"steps": 6_000, "batch": 64, "net": "conv64", "net.width": 0.5, "net.activation": "gelu"}
_SHORT |= {**_RATE, "lr": 2e-4, "lr.start": 2e-3}
# A KL so strong that nothing is learned at first, and that weakens until half of the run, lets in one factor after
# another. Runs of the seeds 900 and 901 on dSprites that ended with β = 8 had a MIG of 0.13 to 0.20 after 6,000 steps;
# with a constant β of 8, 16 or 32 it was 0.03 to 0.10.
_FADE: dict[str, Any] = {"kl.schedule": "linear", "kl.start": PerPixel(256.0), "kl.over": 0.5}
# Quantised latents: 2e-3 for 30 % of the run, then down to 1e-4, as chosen by the runs of seed 900 for tripod/lite.
# On Rooms3D one run of seed 900 had a DCI of 0.57 after its 10,000 steps, and of 0.68 after 10,500 of 15,000.
_FALL: dict[str, Any] = {"lr": 1e-4, "lr.schedule": "cosine", "lr.start": 2e-3, "lr.after": 0.3, "lr.over": 0.7}
_CODES: dict[str, Any] = {"steps": 15_000, "batch": 32, "net": "conv64", "net.activation": "gelu", **_FALL}
_CODES |= {"optimiser.name": "adamw", DECAY: 4.0}
_JACOBIAN: dict[str, Any] = {"steps": 20_000, "batch": 64, "net": "mlp", "start": "jl1", "beta": AUTO, **_RATE}
FAST: dict[str, dict[str, Any]] = {  # the one table of presets; every key is a setting that --set takes
    "vae": _VAE,
    "beta_vae": {**_SHORT, **_FADE, "beta": PerPixel(32.0)},
    "beta_tcvae": {**_SHORT, **_FADE, "beta": PerPixel(32.0)},
    "factor_vae": {**_SHORT, **_FADE, "kl.weight": PerPixel(16.0), "gamma": 10.0}
    | {"total_correlation_discriminator.width": 256, "total_correlation_discriminator.lr": 2e-3},
    "annealed_vae": {**_SHORT, "capacity": 8.0, "gamma": PerPixel(100.0)},
    "dip_vae_i": _VAE,
    "dip_vae_ii": _VAE,
    "jl1_vae": {**_JACOBIAN, "jacobian_l1.columns": 1},
    "jl2_vae": {**_JACOBIAN, "jacobian_l2.columns": 1},
    "ada_gvae": {**_SHORT, **_FADE, "beta": PerPixel(16.0)},  # with 32, a MIG of 0.06 for two of three seeds
    "ada_ml_vae": {**_SHORT, **_FADE, "beta": PerPixel(16.0)},
    "qlae": _CODES,
    "tripod": {**_CODES, "normalised_hessian.share": 0.0625, "normalised_hessian.directions": 4, "nhp": 1e-3}
    | {"normalised_hessian.schedule": "linear", "normalised_hessian.over": 0.1},
    "tripod_without_nhp": _CODES,
}


def fitting_beta(shape: Sequence[int], published: float = 4.0) -> float:
    """Return the β that weighs the KL against this many pixels as the published one does on 64 × 64 of one channel.

    The reconstruction is a sum over pixels and channels, the KL is not: with the same β on fewer pixels, the KL wins
    and the posterior collapses. Larger images keep the published value.

    >>> fitting_beta((1, 32, 32)), fitting_beta((3, 32, 32)), fitting_beta((3, 64, 64))
    (1.0, 3.0, 4.0)
    """
    channels, height, width = shape
    return float(f"{published * min(1.0, channels * height * width / PIXELS):.3g}")


def with_presets(recipe: Source, given: Mapping[str, Any], shape: Sequence[int]) -> dict[str, Any]:
    """Return settings where ``fast`` is replaced by the preset of the recipe, and β = "auto" by a number.

    What is given takes precedence over the preset.

    Args:
        recipe: The recipe, of which presets exist for the names in ``FAST``.
        given: Settings, as :func:`unweave.train` takes them.
        shape: The shape of the images (C, H, W).

    Returns:
        The settings without ``fast``.
    """
    made = dict(given)
    fast = made.pop("fast", False)
    if not isinstance(fast, bool):
        raise InputError(f"fast must be true or false, got {fast!r}.", setting="fast")
    if fast:
        name = recipe.replace("-", "_") if isinstance(recipe, str) else ""
        if name not in FAST:
            raise InputError(
                f"there is no fast preset of {recipe}: there are those of {', '.join(FAST)}.", setting="fast"
            )
        left = _left(name, FAST[name], made)
        per_pixel = [key for key, value in left.items() if isinstance(value, PerPixel)]
        if per_pixel and made.get("reduction") == "mean":
            raise InputError(
                f"the fast preset of {name} is for sums over pixels: with reduction=mean, set {', '.join(per_pixel)}.",
                setting="fast",
            )
        fitted = {k: fitting_beta(shape, v.value) if isinstance(v, PerPixel) else v for k, v in left.items()}
        made = {**fitted, **made}
        total = made.pop(DECAY, None)
        if total is not None:
            made["optimiser.weight_decay"] = float(f"{total / (_mean_rate(made) * made['steps']):.4g}")
    if made.get("beta") == AUTO:
        published = parameters_of(recipe).get("beta")
        if not isinstance(published, float):
            raise InputError(f"beta = {AUTO!r} is a setting of recipes with a parameter beta.", setting="beta")
        if made.get("reduction") == "mean":
            raise InputError(f"beta = {AUTO!r} is for sums over pixels: with reduction=mean, set beta.", setting="beta")
        least = 1.0 if set_by(str(recipe), "beta") == "total_correlation.weight" else 0.0
        made["beta"] = max(least, fitting_beta(shape, published))
    return made


def _mean_rate(settings: Mapping[str, Any]) -> float:
    """Return the learning rate of settings, averaged over the run."""
    rate = settings["optimiser.lr"] if "optimiser.lr" in settings else settings["lr"]
    named = {"lr.schedule": "kind", "lr.start": "start", "lr.after": "after", "lr.over": "over"}
    schedule = Schedule(**{field: settings[key] for key, field in named.items() if key in settings})
    return sum(schedule.at(step, POINTS, rate) for step in range(POINTS)) / POINTS


def _left(recipe: str, preset: Mapping[str, Any], given: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a preset that the given settings do not replace, under whichever of their names."""
    weighted = {f"{name}.weight" for name in given.get("terms") or ()}
    taken = {*given, *weighted, *({"lr"} if "optimiser.lr" in given else ())}
    parts = {key.partition(".")[0] for key in taken}
    scheduled = {
        key.partition(".")[0] for key in taken if key.partition(".")[2] in ("schedule", "start", "after", "over")
    }

    def is_replaced(key: str) -> bool:
        part, dot, name = key.partition(".")
        if key in taken or set_by(recipe, key) in taken:
            return True
        if part == "net":
            return "net" in taken
        if part == "lr":
            return "lr" in parts or "optimiser.lr" in taken
        if key == DECAY:
            return bool({"weight_decay", "optimiser.weight_decay"} & taken)
        return bool(dot) and name in ("schedule", "start", "after", "over") and part in scheduled

    return {key: value for key, value in preset.items() if not is_replaced(key)}
