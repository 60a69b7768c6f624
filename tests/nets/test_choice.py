from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Literal

import pytest
import torch
from torch import nn

from unweave.errors import InputError
from unweave.nets import NETS, NetSettings, build_net, net_settings_of
from unweave.settings import Settings

if TYPE_CHECKING:
    from nowhere import Nothing  # type: ignore[import-not-found]

HERE = __name__


def own(  # type: ignore[no-untyped-def]
    shape: tuple[int, int, int],
    outputs: int,
    latents: int,
    *,
    units: int = 5,
    kernels: tuple[int, ...] = (3, 5),
    mode: Literal["a", "b"] = "a",
    anything=None,
) -> Nothing:
    channels, height, width = shape
    assert isinstance(kernels, tuple)
    hidden = [nn.Flatten(), nn.Linear(channels * height * width, units), nn.Linear(units, outputs)]
    decoder = nn.Sequential(nn.Linear(latents, channels * height * width), nn.Unflatten(1, shape))
    return nn.Sequential(*hidden), decoder


def without_default(shape: Any, outputs: int, latents: int, *, depth: int) -> None: ...
def unresolved(shape: Any, outputs: int, latents: int, *, depth: Nothing = 1) -> None: ...
def unwritable(shape: Any, outputs: int, latents: int, *, depth: Any = object()) -> None: ...  # noqa: B008
def unreadable(shape: Any, outputs: int, latents: int, *, depth: nn.Module = nn.Identity()) -> None: ...  # noqa: B008


@pytest.mark.parametrize(
    ("given", "written"),
    [
        ("conv64", {"name": "conv64", "activation": "relu", "width": 1.0}),
        (NETS["tripod"], {"name": "tripod", "activation": "gelu", "width": 1.0, "normalised": False}),
        ({"name": "qlae", "width": 2}, {"name": "qlae", "activation": "leaky_relu", "width": 2.0}),
        ({"name": "mlp", "activation": "tanh", "width": "0.5"}, {"name": "mlp", "activation": "tanh", "width": 0.5}),
        ("linear", {"name": "linear"}),
        (own, {"name": f"{HERE}:own", "units": 5, "kernels": [3, 5], "mode": "a", "anything": None}),
        (
            {"name": f"{HERE}:own", "units": 7, "kernels": [1]},
            {"name": f"{HERE}:own", "units": 7, "kernels": [1], "mode": "a", "anything": None},
        ),
    ],
)
def test_a_net_is_written_with_all_of_its_settings(given: Any, written: dict[str, Any]) -> None:
    chosen = NetSettings.of(given)
    assert chosen.model_dump(mode="json") == written
    assert NetSettings.of(json.loads(chosen.model_dump_json())) == chosen
    assert NetSettings(**written) == chosen
    assert NetSettings.of(chosen) is chosen


def test_it_is_a_field_of_other_settings() -> None:
    class Holder(Settings):
        net: NetSettings = NetSettings(name="conv64")

    assert Holder(net="mlp").net.settings == {"activation": "relu", "width": 1.0}  # type: ignore[arg-type]
    holder = Holder(net={"name": "mlp", "width": 0.5})  # type: ignore[arg-type]
    assert Holder(**holder.model_dump(mode="json")) == holder
    assert holder.model_dump(mode="json") == {"net": {"name": "mlp", "activation": "relu", "width": 0.5}}
    with pytest.raises(InputError, match="unknown setting of net mlp 'widht': did you mean 'width'"):
        Holder(net={"name": "mlp", "widht": 0.5})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (
            {"name": "conv64", "actvation": "relu"},
            "unknown setting of net conv64 'actvation': did you mean 'activation'",
        ),
        ({"name": "linear", "width": 2}, "unknown setting of net linear 'width': there are none."),
        ({"name": "conv64", "width": 0}, "net conv64: width must be greater than 0, got 0."),
        ({"name": "conv64", "width": "wide"}, "net conv64: width must be a valid number"),
        ({"name": "conv64", "activation": "leaky_relu"}, "activation must be 'relu', 'gelu', 'silu' or 'tanh'"),
        ({"name": "conv46"}, "unknown net 'conv46': did you mean 'conv64' or 'conv16'"),
        ({"width": 2}, "a net needs a name, one of conv64, "),
        (5, "a net must be a name, a mapping with a name, or a function, got 5."),
        ({"name": f"{HERE}:own", "unit": 5}, f"unknown setting of net {HERE}:own 'unit': did you mean 'units'"),
        ({"name": f"{HERE}:own", "units": "x"}, f"net {HERE}:own: units must be a valid integer"),
        (without_default, "its setting 'depth' must have a default value"),
        (unresolved, "the annotation of a setting cannot be resolved (name 'Nothing' is not defined)"),
        (unwritable, "the default of a setting cannot be written as JSON"),
        (unreadable, "the default of a setting cannot be written as JSON (Unable to serialize unknown type"),
    ],
)
def test_wrong_settings_have_a_clear_error(given: Any, words: str) -> None:
    with pytest.raises(InputError) as caught:
        NetSettings.of(given)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)


def test_settings_reach_the_function() -> None:
    encoder, _ = build_net({"name": f"{HERE}:own", "units": 9}, (1, 4, 4), 6, 3)
    assert encoder[1].out_features == 9  # type: ignore[index]
    wide = build_net(NetSettings(name="mlp", width=0.5, activation="tanh"), (1, 4, 4), 6, 3).encoder
    assert [m.out_features for m in wide.modules() if isinstance(m, nn.Linear)] == [128, 128, 6]
    assert sum(isinstance(m, nn.Tanh) for m in wide.modules()) == 2
    assert wide(torch.rand(2, 1, 4, 4)).shape == (2, 6)


def test_settings_are_listed_with_their_defaults() -> None:
    assert net_settings_of("qlae") == {"activation": "leaky_relu", "width": 1.0}
    assert net_settings_of("linear") == {}
    function: Any = own
    assert net_settings_of(function) == {"units": 5, "kernels": (3, 5), "mode": "a", "anything": None}
