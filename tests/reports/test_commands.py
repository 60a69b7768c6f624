from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import pytest

import unweave
from tests.training.small import bars
from unweave.cli.options import parse
from unweave.recipes import RECIPES
from unweave.reports.commands import train_command
from unweave.training import configure


def typed(command: str) -> tuple[str, str, dict[str, Any], dict[str, Any]]:
    """The recipe, the data, the settings and the options of the data in a command, as ``unweave train`` reads them."""
    program, train, recipe, data, *words = shlex.split(command)
    assert (program, train) == ("unweave", "train")
    given: dict[str, list[str]] = {"--set": [], "--term": []}
    settings: dict[str, Any] = {}
    for option, value in zip(words[::2], words[1::2], strict=True):
        if option in given:
            given[option].append(value)
        else:
            settings |= parse([f"{option.removeprefix('--')}={value}"])
    settings |= parse(given["--set"])
    if given["--term"]:
        settings["terms"] = parse(given["--term"], "--term")
    options = {key.removeprefix("data."): settings.pop(key) for key in list(settings) if key.startswith("data.")}
    return recipe, data, settings, options


def check(recipe: str, data: str, options: dict[str, Any], **settings: Any) -> str:
    configuration, _ = configure(recipe, unweave.load(data, **options), settings)
    command = train_command(configuration)
    assert command is not None
    name, where, given, wanted = typed(command)
    again, _ = configure(name, unweave.load(where, **wanted), given)
    assert again.name == configuration.name
    return command


@pytest.mark.parametrize("recipe", sorted(RECIPES))
def test_the_command_of_every_recipe_gives_the_same_run(recipe: str) -> None:
    command = check(recipe, "xysquares", {"size": 32}, seed=3)
    assert command == f"unweave train {recipe} xysquares --seed 3 --set data.size=32"


@pytest.mark.parametrize(
    ("recipe", "settings", "expected"),
    [
        ("beta_vae", {"beta": 2.5}, "--set beta=2.5"),
        ("beta_vae", {"latents": 4, "steps": 10}, "--steps 10 --set latents=4"),
        ("beta_tcvae", {"beta": 6.0}, "--set beta=6.0"),
        ("beta_vae", {"net": "mlp", "lr": 1e-3}, "--lr 0.001 --net mlp"),
        ("beta_vae", {"net": {"name": "conv64", "width": 0.5}}, "--set net.width=0.5"),
        ("ae", {"latent": "fsq", "terms": {"kernel_multiinformation": 1e-4}}, "--latent fsq"),
        ("ae", {"terms": {"jacobian_l1": 0.1}, "jacobian_l1.schedule": "linear"}, "--term jacobian_l1=0.1"),
        ("beta_vae", {"kl.schedule": "linear", "kl.over": 0.5}, "--set kl.schedule=linear --set kl.over=0.5"),
        ("factor_vae", {"terms": {"kl": 0}}, "--term kl=0"),
        ("tripod", {"optimiser.weight_decay": 0.3}, "--set optimiser.weight_decay=0.3"),
        ("ada_gvae", {"changed": 1, "precision": "bf16-mixed"}, "--precision bf16-mixed"),
    ],
)
def test_settings_that_differ_are_part_of_the_command(recipe: str, settings: dict[str, Any], expected: str) -> None:
    assert expected in check(recipe, "xysquares", {"size": 32}, **settings)


def test_there_is_no_command_for_arrays_in_memory_and_recipes_of_the_users_own(tmp_path: Path) -> None:
    assert train_command(configure("ae", bars(), {"net": "conv16"})[0]) is None
    mine = RECIPES["ae"]().model_copy(update={"recipe": "mine"})
    assert train_command(configure(mine, unweave.load("xysquares", size=32), {})[0]) is None
