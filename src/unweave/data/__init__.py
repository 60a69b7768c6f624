"""Data sets: images as a function of factors, drawn here, read from published files, or the user's own."""

from typing import TYPE_CHECKING

from unweave.lazy_imports import lazy

if TYPE_CHECKING:
    from unweave.data.factor_data import Card, DataIdentity, FactorData, Sample
    from unweave.data.files import data_folder
    from unweave.data.own import OwnImages
    from unweave.data.sets import (
        SETS,
        described,
        fetch_set,
        identity_of,
        load,
        open_data,
        options_of,
        prepared,
        set_named,
        space_of,
    )

__all__ = [
    "SETS",
    "Card",
    "DataIdentity",
    "FactorData",
    "OwnImages",
    "Sample",
    "data_folder",
    "described",
    "fetch_set",
    "identity_of",
    "load",
    "open_data",
    "options_of",
    "prepared",
    "set_named",
    "space_of",
]

if not TYPE_CHECKING:
    __getattr__ = lazy(
        __name__,
        {
            "data_folder": "unweave.data.files:data_folder",
            "OwnImages": "unweave.data.own:OwnImages",
            **{name: f"unweave.data.factor_data:{name}" for name in ("Card", "DataIdentity", "FactorData", "Sample")},
            **{
                name: f"unweave.data.sets:{name}"
                for name in (
                    *("SETS", "described", "fetch_set", "identity_of", "load", "open_data", "space_of"),
                    *("options_of", "prepared", "set_named"),
                )
            },
        },
    )
