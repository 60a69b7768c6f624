"""Where the specifications and the stored tables of the papers are."""

from __future__ import annotations

from pathlib import Path

from unweave.errors import Unavailable

PACKAGED = Path(__file__).parent / "specifications"  # in an installed package
CHECKOUT = Path(__file__).parents[3] / "papers"  # in a checkout
TABLES = Path(__file__).parents[1] / "baselines"


def spec_path(name: str) -> Path:
    """Return the file of a specification."""
    for folder in (PACKAGED, CHECKOUT):
        if (path := folder / f"{name}.toml").is_file():
            return path
    raise Unavailable(f"the specification {name}.toml is missing from this installation of Unweave.")


def table_path(name: str) -> Path:
    """Return the file of the stored table of a finding at the lite scale, whether or not it exists."""
    return TABLES / f"{name}.csv"
