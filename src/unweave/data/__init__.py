"""Data sets: images as a function of factors, drawn here, read from published files, or the user's own."""

from typing import TYPE_CHECKING

from unweave.lazy import lazy

if TYPE_CHECKING:
    from unweave.data.files import data_folder
    from unweave.data.interface.factor_data import Card, FactorData, Sample
    from unweave.data.interface.identity import DataIdentity
    from unweave.data.interface.lookup import (
        fetch_set,
        identity_of,
        load,
        num_factors,
        open_data,
        options_of,
        set_named,
    )
    from unweave.data.own import OwnImages
    from unweave.data.sets import SETS

__all__ = [
    "SETS",
    "Card",
    "DataIdentity",
    "FactorData",
    "OwnImages",
    "Sample",
    "data_folder",
    "fetch_set",
    "identity_of",
    "load",
    "num_factors",
    "open_data",
    "options_of",
    "set_named",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            "SETS": "unweave.data.sets:SETS",
            "data_folder": "unweave.data.files:data_folder",
            "DataIdentity": "unweave.data.interface.identity:DataIdentity",
            "OwnImages": "unweave.data.own:OwnImages",
            **{name: f"unweave.data.interface.factor_data:{name}" for name in ("Card", "FactorData", "Sample")},
            **{
                name: f"unweave.data.interface.lookup:{name}"
                for name in (
                    *("fetch_set", "identity_of", "load", "num_factors", "open_data"),
                    *("options_of", "set_named"),
                )
            },
        },
    )
