from __future__ import annotations

import copy
from typing import Any

import pytest

from tests.training.small import bars
from unweave.data import FactorData, load
from unweave.recipes import known_settings
from unweave.store.setting_names import differing, settings_of, used_settings_of
from unweave.terms.schedules import Schedule
from unweave.training import configure


def fields(recipe: str = "beta_vae", data: FactorData | None = None, **settings: Any) -> dict[str, Any]:
    configuration, _ = configure(recipe, data or bars(), {"net": "conv16", **settings})
    return configuration.model_dump(mode="json") | {"recipe": recipe}


def test_settings_have_the_names_that_can_be_set() -> None:
    for recipe in ("beta_vae", "ada_gvae", "qlae", "factor_vae"):
        made = fields(recipe, load("xysquares", size=16), **({"net": "conv64"} if recipe == "qlae" else {}))
        own = {"net", "latent", "grouping", "precision", "devices", "snapshots", "samples", "changed"}
        options = {f"data.{key}" for key in made["data"]["options"]}
        assert settings_of(made).keys() - own - options <= known_settings(made).keys()


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({"kl.schedule": "linear"}, [{"kl.schedule": "constant"}, {"kl.schedule": "linear"}]),
        ({"lr.schedule": "cosine"}, [{"lr.schedule": "constant"}, {"lr.schedule": "cosine"}]),
        ({"lr": 1e-3}, [{"lr": 1e-4}, {"lr": 1e-3}]),
        ({"net.padding": 0}, [{}, {"net.padding": 0}]),
        ({"net": "mlp"}, [{"net": "conv16"}, {"net": "mlp"}]),
        ({"terms": {"jacobian_l1": 0.1}}, [{"jacobian_l1.weight": 0}, {"jacobian_l1.weight": 0.1}]),
        ({"seed": 3, "steps": 77}, [{}, {}]),
    ],
)
def test_runs_differ_in_what_was_set(settings: dict[str, Any], expected: list[dict[str, Any]]) -> None:
    found = differing([fields(), fields(**settings)])
    assert [{key: value for key, value in run.items() if key != "net.activation"} for run in found] == expected


def test_only_settings_with_an_effect_are_used() -> None:
    assert used_settings_of(fields("pca", net=None)).keys() == {"latent.size", "samples"}
    assert "samples" not in used_settings_of(fields())
    assert "changed" not in used_settings_of(fields())
    assert "changed" in used_settings_of(fields("ada_gvae"))


def test_settings_of_a_term_are_compared_between_the_runs_that_have_it() -> None:
    linear: dict[str, Any] = {"terms": {"jacobian_l1": 0.1}, "jacobian_l1.schedule": "linear"}
    runs = [fields(), *(fields(**linear, **dict[str, Any]({"jacobian_l1.over": over})) for over in (0.5, 0.25))]
    assert differing(runs)[0] == {"jacobian_l1.weight": 0}
    assert differing(runs)[1:] == [{"jacobian_l1.weight": 0.1, "jacobian_l1.over": over} for over in (0.5, 0.25)]


@pytest.mark.parametrize("kind", ["constant", "linear", "cosine", "delayed"])
def test_settings_that_a_schedule_does_not_use_are_left_out(kind: str) -> None:
    used = Schedule(kind=kind).used  # type: ignore[arg-type]
    schedule: dict[str, Any] = {"kl.schedule": kind}
    found = settings_of(fields(**schedule))
    assert {key for key in found if key.startswith("kl.")} - {"kl.weight", "kl.reduction", "kl.schedule"} == {
        f"kl.{name}" for name in used
    }


def test_options_of_the_data_are_shown_without_its_shape() -> None:
    runs = [fields(data=load("xysquares", size=16, squares=squares)) for squares in (1, 2)]
    assert differing(runs) == [{"data.squares": 1}, {"data.squares": 2}]
    assert differing([fields(), fields("vae")]) == [{}, {}]  # recipes are not compared with each other


def test_other_code_and_other_data_of_the_same_name_are_shown() -> None:
    first = fields() | {"sources": {"my_term:Sparsity": "0123456789abcdef"}}
    second = fields() | {"sources": {"my_term:Sparsity": "fedcba9876543210"}}
    assert differing([first, second]) == [
        {"source of my_term:Sparsity": "01234567"},
        {"source of my_term:Sparsity": "fedcba98"},
    ]
    other = copy.deepcopy(first)
    other["data"]["fingerprint"] = "f" * 16
    shown = differing([first, other])
    assert [list(run) for run in shown] == [["data fingerprint"]] * 2
    assert shown[1] == {"data fingerprint": "f" * 8}
    for run, path in ((first, "a/images.npy"), (other, "b/images.npy")):
        run["data"]["source"] = {"path": path, "options": {}}
    assert differing([first, other]) == [{"data path": "a/images.npy"}, {"data path": "b/images.npy"}]
