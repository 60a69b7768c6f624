from __future__ import annotations

import json

import pytest

from unweave.cli.listings import PATH, listing, make_listings
from unweave.data import SETS
from unweave.latents import LATENTS
from unweave.metrics import METRICS
from unweave.nets import NETS
from unweave.questions import all_figures
from unweave.recipes import RECIPES
from unweave.terms import TERMS


def test_the_stored_lists_are_those_of_the_code() -> None:
    """If this fails, run ``python -m unweave.cli.listings``."""
    stored = json.loads(PATH.read_text(encoding="utf-8"))
    made = json.loads(json.dumps(make_listings()))
    for kind in made:
        assert stored[kind] == made[kind], kind
    assert stored.keys() == made.keys()


@pytest.mark.parametrize(
    ("kind", "known"),
    [
        ("recipes", RECIPES),
        ("terms", TERMS),
        ("latents", LATENTS),
        ("nets", NETS),
        ("metrics", METRICS),
        ("data", SETS),
        ("figures", all_figures()),
    ],
)
def test_everything_is_listed(kind: str, known: dict[str, object]) -> None:
    assert [row["name"] for row in listing(kind)] == list(known)


def test_settings_have_their_defaults_and_types() -> None:
    terms = {row["name"]: row["settings"] for row in listing("terms")}
    assert terms["kernel_multiinformation"]["bandwidth"] == {"default": "scaled", "type": "one of ['scaled', 'fixed']"}
    assert terms["jacobian_l1"]["columns"]["default"] is None
    assert terms["normalised_hessian"]["share"] == {"default": 1.0, "type": "float"}
    nets = {row["name"]: row["settings"] for row in listing("nets")}
    assert nets["conv64"]["width"]["default"] == 1.0
